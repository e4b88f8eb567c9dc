"""Choice of a cut-off: by profit, by approval rate, by event rate, or with a band that is referred to a person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from hiperplano.data.design import Array
from hiperplano.data.parameters import check_number
from hiperplano.data.validate import check_weight
from hiperplano.errors import InvalidData, InvalidTarget, NotAvailable
from hiperplano.messages import Message
from hiperplano.scorecard.table import Table


class Cutoff(NamedTuple):
    """Effect of a cut-off; applicants with this score or more are approved.

    Attributes
    ----------
    score : float
        The cut-off; infinite if nobody is approved.
    approval_rate : float
        Share of applicants that is approved.
    event_rate : float
        Share of events among approved applicants; NaN if there are none.
    events_avoided : float
        Share of all events that is rejected.
    profit : float
        Total profit; NaN without gain and loss.
    """

    score: float
    approval_rate: float
    event_rate: float
    events_avoided: float
    profit: float


class ReferralBand(NamedTuple):
    """Reject below `low`, approve from `high` on, and refer applicants in between to a person.

    Attributes
    ----------
    low, high : float
        Ends of the band; equal if nobody is referred.
    approval_rate, referral_rate, refusal_rate : float
        Shares of all applicants.
    event_rate : float
        Share of events among approved applicants.
    cost : float
        Total cost: gains rejected, losses approved, and referrals.
    """

    low: float
    high: float
    approval_rate: float
    referral_rate: float
    refusal_rate: float
    event_rate: float
    cost: float


@dataclass(frozen=True)
class Strategy:
    """Every cut-off of a score, on rows with known outcomes.

    Attributes
    ----------
    cutoffs : ndarray of shape (k,)
        Every score that occurs, in increasing order, and infinity.
    events, nonevents : ndarray of shape (k,)
        Weight of each class at or above each cut-off.
    gain, loss : float or None
        Gain of an approved non-event, and loss of an approved event.
    """

    cutoffs: Array
    events: Array
    nonevents: Array
    gain: float | None = None
    loss: float | None = None

    @classmethod
    def of(cls, event: Array, points: Array, weight: Array | None, gain: Any = None, loss: Any = None) -> Strategy:
        """Count both classes at or above every score.

        Parameters
        ----------
        event : ndarray of bool of shape (n,)
        points : ndarray of shape (n,)
            Scores; larger if the event is less likely.
        weight : ndarray of shape (n,) or None
        gain, loss : float, optional
        """
        points = np.asarray(points, dtype=np.float64)
        event = np.asarray(event)
        if points.ndim != 1 or event.shape != points.shape or not len(points):
            raise InvalidData(
                "strategy: {n} scores and {m} outcomes; each applicant needs both. Pass as many of one as of the "
                "other.",
                n=points.size,
                m=event.size,
            )
        share = check_weight(weight, len(points))
        share = np.ones(len(points)) if share is None else share
        steps, place = np.unique(points, return_inverse=True)
        counts = [np.bincount(place, weights=share * of, minlength=len(steps)) for of in (event, ~event)]
        if not counts[0].sum() > 0 or not counts[1].sum() > 0:
            raise InvalidTarget(
                "strategy: all outcomes are alike; a cut-off needs events and others. Check the target."
            )
        above = [np.append(np.cumsum(each[::-1])[::-1], 0.0) for each in counts]
        gain, loss = (
            None if value is None else check_number("strategy", name, value, 0.0, np.inf)
            for name, value in (("gain", gain), ("loss", loss))
        )
        return cls(np.append(steps, np.inf), above[0], above[1], gain, loss)

    @property
    def total(self) -> float:
        """Total weight of all rows."""
        return float(self.events[0] + self.nonevents[0])

    @property
    def approval_rate(self) -> Array:
        """Share of rows that each cut-off approves."""
        return np.asarray((self.events + self.nonevents) / self.total)

    @property
    def event_rate(self) -> Array:
        """Share of events among approved rows; NaN if there are none."""
        approved = self.events + self.nonevents
        return np.asarray(
            np.divide(self.events, approved, out=np.full(len(approved), np.nan), where=approved > 1e-12 * self.total)
        )

    @property
    def profit(self) -> Array:
        """gain·non-events − loss·events among approved rows; NaN without gain and loss."""
        if self.gain is None or self.loss is None:
            return np.full(len(self.cutoffs), np.nan)
        return np.asarray(self.gain * self.nonevents - self.loss * self.events)

    def by_profit(self) -> Cutoff:
        """The cut-off of the largest profit on these rows.

        Returns
        -------
        Cutoff
            The highest of equally good cut-offs.
        """
        self._needs_money()
        best = np.flatnonzero(self.profit == self.profit.max())[-1]
        return self._at(int(best))

    def by_approval_rate(self, rate: float) -> Cutoff:
        """The highest cut-off that approves at least a given share of rows.

        Parameters
        ----------
        rate : float
            From 0 to 1.

        Returns
        -------
        Cutoff
            Its approval rate may be larger than requested because of ties.
        """
        check_number("by_approval_rate", "rate", rate, 0.0, 1.0)
        return self._at(int(np.flatnonzero(self.approval_rate >= rate - 1e-12)[-1]))

    def by_event_rate(self, rate: float) -> Cutoff:
        """The cut-off that approves the most rows with at most a given share of events among them.

        Parameters
        ----------
        rate : float
            From 0 to 1.

        Returns
        -------
        Cutoff
            Infinite if no cut-off satisfies the condition.
        """
        check_number("by_event_rate", "rate", rate, 0.0, 1.0)
        kept = np.flatnonzero(np.nan_to_num(self.event_rate, nan=-1.0) <= rate + 1e-12)
        return self._at(int(kept[0]))

    def with_referral(self, review_cost: float) -> ReferralBand:
        """The two cut-offs of least cost, if a referral costs `review_cost` and the person then decides correctly.

        Approving an event costs `loss`, refusing a non-event costs `gain`.

        Parameters
        ----------
        review_cost : float
            Cost of one referral.

        Returns
        -------
        ReferralBand
            The band; empty if referrals cost more than they save.
        """
        gain, loss = self._needs_money()
        price = check_number("with_referral", "review_cost", review_cost, 0.0, np.inf)
        approved = self.events + self.nonevents
        # The two ends can be chosen independently: by the savings of approving above, and of rejecting below.
        above = loss * self.events - price * approved
        below = gain * (self.nonevents[0] - self.nonevents) - price * (self.total - approved)
        best_below = np.minimum.accumulate(below)  # best lower end up to each upper one
        high = int((above + best_below).argmin())
        low = int(np.flatnonzero(below[: high + 1] == best_below[high])[-1])
        shares = self.approval_rate
        return ReferralBand(
            float(self.cutoffs[low]),
            float(self.cutoffs[high]),
            float(shares[high]),
            float(shares[low] - shares[high]),
            float(1.0 - shares[low]),
            float(self.event_rate[high]),
            float(above[high] + below[low] + price * self.total),
        )

    def table(self, rows: int = 20) -> Table:
        """Cut-offs at about equal steps of the approval rate.

        Parameters
        ----------
        rows : int, default=20
            Largest number of rows.

        Returns
        -------
        Table
            `marginal_event_rate` is that of the applicants between a cut-off and the next in the table.
        """
        wanted = np.linspace(1.0, 1.0 / rows, rows)
        at = np.unique([int(np.flatnonzero(self.approval_rate >= share - 1e-12)[-1]) for share in wanted])
        ends = np.append(at[1:], len(self.cutoffs) - 1)
        events, nonevents = (each[at] - each[ends] for each in (self.events, self.nonevents))
        shares = ("approval_rate", "event_rate", "marginal_event_rate", "events_avoided")
        columns: dict[str, Any] = {
            "score": self.cutoffs[at],
            "approval_rate": self.approval_rate[at],
            "event_rate": self.event_rate[at],
            "marginal_event_rate": events / (events + nonevents),
            "events_avoided": 1.0 - self.events[at] / self.events[0],
        }
        if self.gain is not None and self.loss is not None:
            columns["profit"] = self.profit[at]
        return Table(Message("Cut-offs: applicants with this score or more are approved"), columns, shares=shares)

    def _at(self, place: int) -> Cutoff:
        return Cutoff(
            float(self.cutoffs[place]),
            float(self.approval_rate[place]),
            float(self.event_rate[place]),
            float(1.0 - self.events[place] / self.events[0]),
            float(self.profit[place]),
        )

    def _needs_money(self) -> tuple[float, float]:
        if self.gain is None or self.loss is None:
            raise NotAvailable(
                "Strategy: no gain and loss were given; profit needs what an approved non-event brings and what an "
                "approved event costs. Pass gain and loss."
            )
        return self.gain, self.loss
