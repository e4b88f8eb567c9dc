"""One drawn case: what is fitted to what, and what came of it."""

from __future__ import annotations

import time
import traceback
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.exceptions import DataConversionWarning, UndefinedMetricWarning

from hiperplano.errors import AccuracyWarning, ConvergenceWarning, HiperplanoError, SeparationWarning, SingularWarning
from tools.attack.models import MODELS, Attacked
from tools.attack.references import Sample
from tools.attack.rows import ACCEPT, CONTAINERS, DTYPES, EITHER, REFUSE, VALUES
from tools.attack.targets import LABELS, NUMBERS, ONE_ROW, SOME_ZERO, WEIGHTS, class_codes

RIGHT, REFUSED, UNFINISHED = "right", "refused", "unfinished, and it says so"
FAILURES = ("foreign exception", "foreign warning", "wrong", "not finite", "slow", "taken", "refused without need")
_SLOW = 10.0  # seconds
_ONLINE = ("Perceptron", "Passive", "Pegasos", "SGD")
_OURS = (AccuracyWarning, ConvergenceWarning, SeparationWarning, SingularWarning, DataConversionWarning)
_SCIKIT_LEARNS = (UndefinedMetricWarning,)  # of scores on folds of one row
_ODD = 3  # of so many fields of a case one is odd: otherwise most cases would be refused for several reasons

SHAPES = ((1, 1), (2, 2), (3, 1), (4, 6), (12, 1), (12, 3), (24, 2), (40, 4), (40, 8), (30, 45))


@dataclass(frozen=True)
class Outcome:
    """What came of a case: one of RIGHT, REFUSED and `FAILURES`, and words on it."""

    kind: str
    words: str = ""


@dataclass(frozen=True)
class Case:
    """Names of what was drawn, and a seed for the numbers."""

    model: str
    seed: int = 0
    shape: tuple[int, int] = (24, 2)
    classes: int = 2
    values: str = "normal"
    dtype: str = "float64"
    container: str = "array"
    target: str = "numbers"
    weight: str = "none"

    def options(self) -> dict[str, Any]:
        """What could be drawn for each field, given the model."""
        return options(self.model)

    def run(self) -> Outcome:
        """Fit, predict and judge."""
        attacked = MODELS[self.model]
        rng = np.random.default_rng(self.seed)
        n, d = self.shape
        with np.errstate(all="ignore"):
            X = VALUES[self.values](rng, n, d)
            numbers = DTYPES[self.dtype](X)
            exact = numbers.astype(np.float64)
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", PendingDeprecationWarning)  # of numpy.matrix
            codes = class_codes(rng, exact, min(self.classes, attacked.classes))
            shape = np.where(np.isfinite(exact), exact, 0.0)
            y = np.nan_to_num(shape / np.maximum(np.abs(shape).max(axis=0), 1e-300)) @ rng.normal(size=d)
            y = y + 0.3 * rng.normal(size=n)
            rows = CONTAINERS[self.container][0](numbers)
            kinds = LABELS if attacked.classifier else NUMBERS
            target = kinds[self.target][0](codes if attacked.classifier else y)
            weight = WEIGHTS[self.weight][0](rng, codes) if attacked.takes_weights else None
        outcome = self._judge(attacked, exact, rows, target, weight)
        # A first fit may have compiled loops, which happens once on a machine.
        return outcome if outcome.kind != "slow" else self._judge(attacked, exact, rows, target, weight)

    def _judge(self, attacked: Attacked, exact: Any, rows: Any, target: Any, weight: Any) -> Outcome:
        expected = self._expected(attacked, exact)
        model = attacked.make()
        started = time.process_time()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                for kind in _OURS + _SCIKIT_LEARNS:
                    warnings.simplefilter("ignore", kind)
                if self.weight in SOME_ZERO:  # rows without weight may be beyond what a score can hold
                    warnings.filterwarnings("ignore", "overflow encountered", RuntimeWarning)
                warnings.filterwarnings("ignore", "The least populated class", UserWarning)  # scikit-learn's, of folds
                model.fit(rows, target, **({} if weight is None else {"sample_weight": weight}))
                found = model.predict(rows)
        except HiperplanoError as problem:
            seconds = time.process_time() - started
            if seconds > _SLOW:
                return Outcome("slow", f"{seconds:.1f} s to refuse")
            return Outcome("refused without need" if expected == ACCEPT else REFUSED, str(problem))
        except Warning as problem:
            return Outcome("foreign warning", "".join(traceback.format_exception(problem)[-4:]))
        except Exception as problem:
            return Outcome("foreign exception", "".join(traceback.format_exception(problem)[-4:]))
        seconds = time.process_time() - started
        if seconds > _SLOW:
            return Outcome("slow", f"{seconds:.1f} s")
        if expected == REFUSE:
            return Outcome("taken", "this should have been refused")
        return self._judge_answer(attacked, model, found, exact, rows, target, weight)

    def _judge_answer(
        self, attacked: Attacked, model: Any, found: Any, exact: Any, rows: Any, target: Any, weight: Any
    ) -> Outcome:
        if self.weight in SOME_ZERO and not (np.abs(exact) <= 1e100).all():
            return Outcome(RIGHT)  # a row without weight whose score float64 does not hold
        parts = [found] if found.dtype.kind == "f" else []
        if self.weight not in SOME_ZERO:  # a class without weight has no plane, or one at infinity
            parts += [getattr(model, name) for name in ("coef_", "intercept_") if hasattr(model, name)]
        if hasattr(model, "predict_proba"):
            parts.append(model.predict_proba(rows))
        if not all(np.isfinite(part.data if issparse(part) else part).all() for part in parts):
            return Outcome("not finite", f"{model!r}")
        sample = None if attacked.judge is None else _sample(model, attacked, exact, rows, target, weight)
        if attacked.judge is None or sample is None:
            return Outcome(RIGHT)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            wrong = attacked.judge(model, sample)
        if wrong and not _converged(model):
            return Outcome(UNFINISHED, wrong)
        return Outcome("wrong", wrong) if wrong else Outcome(RIGHT)

    def _expected(self, attacked: Attacked, exact: Any) -> str:
        """Whether the case must be refused, must be taken, or may be either."""
        kinds = LABELS if attacked.classifier else NUMBERS
        of_target = kinds[self.target][1]
        if attacked.many_targets and self.target == "two columns" and of_target == REFUSE:
            of_target = EITHER if self.classes > 2 else ACCEPT  # several labels for each row are 0 and 1 only
        verdicts = {CONTAINERS[self.container][1], of_target}
        if attacked.takes_weights:
            verdicts.add(WEIGHTS[self.weight][1])
        size = np.abs(exact).max(axis=0)
        within = ((size == 0) | ((size >= 1e-100) & (size <= 1e100))).all()
        if self.weight in SOME_ZERO and (REFUSE not in verdicts or self.target in ONE_ROW):
            return EITHER  # rows of weight 0 may hold anything
        if REFUSE in verdicts or not np.isfinite(exact).all() or not (within or self.model.startswith(_ONLINE)):
            return REFUSE
        mild = self.values in ("normal", "offset", "whole", "binary", "mostly zero", "constant", "copy", "sum", "units")
        easy = self.shape[0] >= 24 and mild and np.ptp(exact, axis=0).any() and not attacked.may_refuse
        return ACCEPT if verdicts == {ACCEPT} and easy else EITHER


def _converged(model: Any) -> bool:
    return bool(getattr(getattr(model, "solution_", None), "converged", True))


def _sample(model: Any, attacked: Attacked, exact: Any, rows: Any, target: Any, weight: Any) -> Sample | None:
    """What a judge compares: rows that weigh, with their targets as numbers; None if a prediction has other rows."""
    n = len(exact)
    total = np.ones(n) if weight is None else np.broadcast_to(np.asarray(weight, dtype=float), n)
    if not (total > 0).all():
        return None
    if attacked.classifier and np.ndim(target) == 2 and np.shape(target)[1] > 1:
        return None  # several labels for each row
    y: Any = np.asarray(target.to_numpy() if hasattr(target, "to_numpy") else target)
    if attacked.classifier:
        labels = model.classes_.tolist()
        y = np.array([labels.index(label) for label in np.ravel(y).tolist()])
    else:
        y = y.astype(float)
    return Sample(exact, y, total, rows)


def options(model: str) -> dict[str, Any]:
    """What can be drawn for each field of a case of this model."""
    attacked = MODELS[model]
    return {
        "shape": SHAPES,
        "classes": tuple(range(2, attacked.classes + 1)),
        "values": tuple(VALUES),
        "dtype": tuple(DTYPES),
        "container": tuple(CONTAINERS),
        "target": tuple(LABELS if attacked.classifier else NUMBERS) if attacked.takes_target else ("numbers",),
        "weight": tuple(WEIGHTS),
    }


def draw(rng: Any) -> Case:
    """A case by chance: each field is ordinary in two thirds of the draws, otherwise any of its options."""
    names = tuple(MODELS)
    model = names[rng.integers(len(names))]
    chosen = {}
    for name, values in options(model).items():
        if name in ("shape", "classes") or not rng.integers(_ODD):
            chosen[name] = values[rng.integers(len(values))]
    return Case(model, seed=int(rng.integers(2**31)), **chosen)
