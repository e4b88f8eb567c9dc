"""What exists, once: a new estimator or solver joins here with one line, and inherits every law that fits it."""

from dataclasses import dataclass
from typing import Any

from hiperplano import (
    SVC,
    SVCCV,
    SVR,
    CostSensitiveClassifier,
    HardMarginSVC,
    KernelFeatures,
    KernelLogisticRegression,
    KernelPerceptron,
    KernelRidge,
    KernelRidgeCV,
    LeastSquaresClassifier,
    LinearDiscriminantAnalysis,
    LinearRegression,
    LinearSVC,
    LinearSVR,
    LogisticRegression,
    LogisticRegressionCV,
    NuSVC,
    NuSVR,
    OneClassSVM,
    OptimalBinning,
    PassiveAggressiveClassifier,
    PassiveAggressiveRegressor,
    Pegasos,
    Perceptron,
    QuadraticDiscriminantAnalysis,
    Ridge,
    RidgeClassifier,
    RidgeClassifierCV,
    RidgeCV,
    Scorecard,
    SGDClassifier,
    SGDRegressor,
    WoEEncoder,
)


@dataclass(frozen=True)
class Entry:
    """An estimator, and which laws it obeys beyond those of all estimators.

    Attributes
    ----------
    estimator : estimator
        Not fitted; laws fit clones of it.
    equivariant : bool
        Scaling or shifting columns changes coefficients in step: nothing is penalised.
    weights_repeat : bool
        An integer weight is that many rows. (Leaving one row out is not leaving one of its repetitions out.)
    rtol : float
        Agreement to expect between two ways to the same answer, in the norm of scaled coefficients.
    flag : str
        A parameter that must be True or False.
    by_content : bool
        Which rows are held out depends on every bit of them.
    many_targets : bool
        For regressors: a target may have several columns.
    checks : bool
        Scikit-learn's checks are made. They ask for good scores, which a tiny C does not give, for a class that weighs
        nearly all to be predicted, which takes an intercept, and for 7 digits, which dual ascent does not reach. What
        takes seconds for them is checked once, with an ordinary `tol`.
    """

    estimator: Any
    equivariant: bool = False
    weights_repeat: bool = True
    rtol: float = 1e-10
    flag: str = "fit_intercept"
    many_targets: bool = True
    checks: bool = True
    by_content: bool = False

    def __str__(self):
        return str(self.estimator)


REGRESSORS = [
    Entry(LinearRegression(), equivariant=True),
    Entry(LinearRegression(fit_intercept=False)),
    Entry(LinearRegression(solver="qr"), equivariant=True),
    Entry(LinearRegression(solver="cg", tol=1e-12), equivariant=True, rtol=1e-9),
    Entry(LinearRegression(positive=True), equivariant=True),
    Entry(Ridge()),
    Entry(Ridge(alpha=1e-3, solver="qr")),
    Entry(Ridge(alpha=10.0, solver="cg", tol=1e-12), rtol=1e-9),
    Entry(Ridge(alpha=5.0, positive=True)),
    Entry(RidgeCV(), weights_repeat=False),
    Entry(RidgeCV(cv=3), weights_repeat=False),
    Entry(LinearSVR(tol=1e-11), many_targets=False, rtol=1e-5),
    Entry(LinearSVR(epsilon=0.3, tol=1e-11, fit_intercept=False), many_targets=False, rtol=1e-5),
    Entry(LinearSVR(loss="squared_epsilon_insensitive", tol=1e-11), many_targets=False, rtol=1e-5),
    Entry(
        LinearSVR(C=1e-4, solver="dual", fit_intercept=False, tol=1e-9, max_iter=9999),
        many_targets=False,
        rtol=1e-4,
        checks=False,
    ),
]

CLASSIFIERS = [
    Entry(LeastSquaresClassifier(), equivariant=True),
    Entry(LeastSquaresClassifier(alpha=2.0, class_weight="balanced")),
    Entry(LogisticRegression(), rtol=1e-9),
    Entry(LogisticRegression(solver="lbfgs"), rtol=1e-7),
    Entry(LogisticRegressionCV(Cs=[0.1, 10.0], cv=3), weights_repeat=False, rtol=1e-6),
    Entry(RidgeClassifier()),
    Entry(RidgeClassifierCV(), weights_repeat=False),
    Entry(LinearSVC(tol=1e-11), rtol=1e-5),
    Entry(LinearSVC(loss="hinge", tol=1e-11), rtol=1e-5),
    Entry(LinearSVC(loss="hinge", tol=1e-11, fit_intercept=False), rtol=1e-5, checks=False),
    Entry(LinearSVC(loss="hinge", multi_class="crammer_singer", tol=1e-9), rtol=1e-4, checks=False),
    Entry(LinearSVC(C=1e-4, solver="dual", fit_intercept=False, tol=1e-9, max_iter=9999), rtol=1e-4, checks=False),
    Entry(
        LinearSVC(C=1e-4, loss="hinge", solver="dual", fit_intercept=False, tol=1e-9, max_iter=9999),
        rtol=1e-4,
        checks=False,
    ),
    Entry(LinearDiscriminantAnalysis(), equivariant=True, flag="unbiased"),
    Entry(LinearDiscriminantAnalysis(shrinkage="auto"), equivariant=True, flag="unbiased"),
    Entry(LinearDiscriminantAnalysis(shrinkage=0.1, unbiased=True), flag="unbiased"),
]

ESTIMATORS = REGRESSORS + CLASSIFIERS

ONLINE = [
    Entry(Perceptron(random_state=0), rtol=1e-9),
    Entry(Perceptron(average=True, tol=0.1, random_state=0), rtol=1e-9),
    Entry(Perceptron(pocket=True, random_state=0), rtol=1e-9),
    Entry(Perceptron(multi_class="multinomial", random_state=0), rtol=1e-9),
    Entry(Perceptron(update="batch", max_iter=30, tol=None), rtol=1e-9),
    Entry(Perceptron(init="least_squares", pocket=True, random_state=0), rtol=1e-9),
    Entry(Perceptron(early_stopping=True, random_state=0), rtol=1e-9, by_content=True),
    Entry(PassiveAggressiveClassifier(random_state=0), rtol=1e-7),
    Entry(PassiveAggressiveClassifier(loss="squared_hinge", average=True, random_state=0), rtol=1e-7),
    Entry(PassiveAggressiveRegressor(random_state=0), rtol=1e-7),
    Entry(Pegasos(alpha=0.1, random_state=0), rtol=1e-7),
    Entry(Pegasos(alpha=0.1, average=True, project=True, batch_size=4, tol=0.05, random_state=0), rtol=1e-7),
    Entry(SGDClassifier(alpha=1.0, random_state=0), rtol=1e-7),
    Entry(SGDClassifier("log_loss", learning_rate="constant", eta0=1e-3, random_state=0), rtol=1e-7),
    Entry(SGDRegressor(eta0=1e-5, tol=0.1, random_state=0), rtol=1e-7),
    Entry(SGDRegressor("huber", eta0=1e-5, average=True, random_state=0), rtol=1e-7),
]
"""Those that learn one example at a time: where they end depends on the way, so units of columns matter to them.

Steps must be short enough for the rows of the laws, η·‖x‖² ≤ 2 where the loss bends: then a step of gradient descent on
a convex loss brings two ways closer or keeps their distance, and the last bits stay the last bits. With longer ones
(eta0=1e-3 for the huber loss) rounding grows to the third digit within a few passes, on one machine and not on another.
And `tol` must be within reach: over 120 tables of the laws none of them takes more than a fifth of its max_iter.
"""
WITHOUT_COEFFICIENTS = [
    Entry(QuadraticDiscriminantAnalysis(), flag="unbiased"),
    Entry(QuadraticDiscriminantAnalysis(shrinkage="auto"), flag="unbiased"),
    Entry(CostSensitiveClassifier()),
    Entry(CostSensitiveClassifier(LinearDiscriminantAnalysis(shrinkage="auto"))),
    Entry(KernelRidge()),
    Entry(KernelRidge(kernel="rbf", fit_intercept=True, solver="conjugate")),
    Entry(KernelRidge(kernel="laplacian", solver="nystroem", n_components=20)),
    Entry(KernelRidgeCV(kernel="rbf", cv=3)),
    Entry(KernelLogisticRegression()),
    Entry(SVC()),
    Entry(SVC(kernel="linear", class_weight="balanced")),
    Entry(SVCCV(Cs=[0.5, 2.0], gammas=[0.1, 1.0], cv=2)),
    Entry(SVR()),
    Entry(NuSVC(kernel="laplacian", nu=0.3)),  # on a table of the checks "rbf" has no margin, and says so
    Entry(NuSVR()),
    Entry(KernelPerceptron()),
    Entry(KernelPerceptron(budget=60)),
    Entry(Pegasos(alpha=0.1, kernel="rbf", average=True, random_state=0)),
]
"""Checked by scikit-learn's checks and by laws of their own."""

BINNED = [Entry(Scorecard(C=1.0)), Entry(Scorecard(C=10.0, intercept_points="separate", round_points=False))]
"""Take columns of any kind and missing values; they have tests of their own."""
ONE_COLUMN = [Entry(OptimalBinning())]
"""Take a single column; they have tests of their own."""
DETECTORS = [Entry(OneClassSVM())]
"""They have no target."""

TRANSFORMERS = [
    Entry(KernelFeatures(n_components=20)),
    Entry(KernelFeatures(n_components=20, method="fourier")),
    Entry(WoEEncoder()),
]
"""Checked by scikit-learn's checks, and by laws of their own."""

SEPARABLE_ONLY = [Entry(HardMarginSVC())]
"""Refuse most data, with a proof; they have tests of their own."""

SOLVERS = ("gram", "qr", "cg")
"""Values of `solver` that solve one problem, and so must agree."""
