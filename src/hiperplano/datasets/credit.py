"""Credit tables."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import Bunch

from hiperplano.datasets.frames import pandas

_NAMES = ["age", "income", "debt_ratio", "years_in_job", "owns_home"]


def load_credit_line(*, n_rows: int = 400, as_frame: bool = False, return_X_y: bool = False, seed: int = 0) -> Any:
    """Generated credit lines of applicants.

    line = 500,000 + 0.8·income − 2,000,000·debt_ratio + 60,000·years_in_job + 250,000·owns_home + noise; age does
    not enter. Money is in pesos, so that columns differ by seven orders of magnitude.

    Parameters
    ----------
    n_rows : int, default=400
        Number of rows to generate.
    as_frame : bool, default=False
        Return pandas objects, with names, instead of arrays.
    return_X_y : bool, default=False
        Return `(data, target)` instead of a Bunch.
    seed : int, default=0
        Seed of the generator; the same seed gives the same table.

    Returns
    -------
    Bunch with `data`, `target`, `feature_names` and `DESCR`, or (data, target)
        The table; a pair if `return_X_y`.

    Examples
    --------
    >>> from hiperplano import load_credit_line
    >>> X, y = load_credit_line(return_X_y=True)
    >>> X.shape, y.shape
    ((400, 5), (400,))
    """
    rng = np.random.default_rng(seed)
    age = rng.integers(21, 70, n_rows).astype(float)
    income = np.round(rng.lognormal(14.7, 0.4, n_rows), -3)
    debt_ratio = np.round(rng.beta(3.0, 7.0, n_rows), 3)
    years = np.minimum(np.floor(rng.exponential(6.0, n_rows)), age - 18)
    home = (rng.random(n_rows) < 0.4).astype(float)
    noise = rng.normal(0.0, 300_000.0, n_rows)
    line = 500_000 + 0.8 * income - 2_000_000 * debt_ratio + 60_000 * years + 250_000 * home + noise
    data: Any = np.column_stack([age, income, debt_ratio, years, home])
    target: Any = np.round(line)
    if as_frame:
        pd = pandas()
        data, target = pd.DataFrame(data, columns=_NAMES), pd.Series(target, name="line")
    if return_X_y:
        return data, target
    return Bunch(data=data, target=target, feature_names=list(_NAMES), DESCR=load_credit_line.__doc__)
