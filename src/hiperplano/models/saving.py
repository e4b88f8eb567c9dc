"""Models in files that run no code when they are opened."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, BadZipFile

from hiperplano.data.files import write_bytes
from hiperplano.errors import InvalidFile
from hiperplano.messages import Message
from hiperplano.messages.printable import printable
from hiperplano.tables.archive import check_archive

TRUSTED = frozenset(
    {
        "hiperplano.kernels.algebra.Constant",
        "hiperplano.kernels.algebra.Product",
        "hiperplano.kernels.algebra.Scaled",
        "hiperplano.kernels.algebra.Sum",
        "hiperplano.kernels.distance.Laplacian",
        "hiperplano.kernels.distance.RBF",
        "hiperplano.kernels.feature_map.Precomputed",
        "hiperplano.kernels.inner_product.Exponential",
        "hiperplano.kernels.inner_product.Linear",
        "hiperplano.kernels.inner_product.Polynomial",
        "hiperplano.kernels.inner_product.Sigmoid",
        "hiperplano.kernels.resolve.InverseLength",
        "hiperplano.models.kernel.features.KernelFeatures",
        "hiperplano.models.kernel.logistic.KernelLogisticRegression",
        "hiperplano.models.kernel.nu_svc.NuSVC",
        "hiperplano.models.kernel.nu_svr.NuSVR",
        "hiperplano.models.kernel.one_class.OneClassSVM",
        "hiperplano.models.kernel.perceptron.KernelPerceptron",
        "hiperplano.models.kernel.ridge.KernelRidge",
        "hiperplano.models.kernel.svc.SVC",
        "hiperplano.models.kernel.svr.SVR",
        "hiperplano.selection.kernel_ridge.KernelRidgeCV",
        "hiperplano.selection.svc.SVCCV",
        "hiperplano.solvers.kernel.online.span_learner.SpanLearner",
        "hiperplano.solvers.kernel.solution.KernelSolution",
        "hiperplano.solvers.kernel.span.Span",
        "hiperplano.solvers.kernel.svm.solution.SupportVectorSolution",
        "hiperplano.stats.least_squares.Sample",
        "hiperplano.features.binning.bins.CategoryBins",
        "hiperplano.features.binning.bins.NumericBins",
        "hiperplano.features.binning.encoder.WoEEncoder",
        "hiperplano.features.binning.optimal.OptimalBinning",
        "hiperplano.features.binning.pieces.Pieces",
        "hiperplano.features.coding.Coding",
        "hiperplano.features.columns.Column",
        "hiperplano.features.encoders.CategoricalEncoder",
        "hiperplano.features.encoders.NumericEncoder",
        "hiperplano.features.terms.Term",
        "hiperplano.models.discriminant.LinearDiscriminantAnalysis",
        "hiperplano.models.hard_margin.HardMarginSVC",
        "hiperplano.models.least_squares_classifier.LeastSquaresClassifier",
        "hiperplano.models.least_squares_classifier.RidgeClassifier",
        "hiperplano.models.least_squares.LinearRegression",
        "hiperplano.models.least_squares.Ridge",
        "hiperplano.models.logistic.LogisticRegression",
        "hiperplano.models.online.passive_aggressive.PassiveAggressiveClassifier",
        "hiperplano.models.online.passive_aggressive.PassiveAggressiveRegressor",
        "hiperplano.models.online.pegasos.Pegasos",
        "hiperplano.models.online.perceptron.Perceptron",
        "hiperplano.models.quadratic.QuadraticDiscriminantAnalysis",
        "hiperplano.models.online.sgd.SGDClassifier",
        "hiperplano.models.online.sgd.SGDRegressor",
        "hiperplano.models.svm.LinearSVC",
        "hiperplano.models.svm.LinearSVR",
        "hiperplano.features.table_columns.TableColumns",
        "hiperplano.scorecard.monitoring.development.Development",
        "hiperplano.scorecard.scorecard.Scorecard",
        "hiperplano.scorecard.stepwise.SelectionStep",
        "hiperplano.selection.cost_sensitive.CostSensitiveClassifier",
        "hiperplano.selection.logistic.LogisticRegressionCV",
        "hiperplano.selection.ridge.RidgeCV",
        "hiperplano.selection.ridge.RidgeClassifierCV",
        "hiperplano.solvers.discriminant.linear.DiscriminantSolution",
        "hiperplano.solvers.discriminant.quadratic.QuadraticSolution",
        "hiperplano.solvers.discriminant.whitening.Whitening",
        "hiperplano.linalg.triangular.Columns",
        "hiperplano.linalg.triangular.Factor",
        "hiperplano.data.column_scale.ColumnScale",
        "hiperplano.solvers.likelihood.firth.FirthSolution",
        "hiperplano.solvers.likelihood.solution.LogisticSolution",
        "hiperplano.solvers.online.training.Control",
        "hiperplano.solvers.online.training.Record",
        "hiperplano.solvers.online.learner.Learner",
        "hiperplano.solvers.online.learner.Pocket",
        "hiperplano.solvers.least_squares.solution.LeastSquaresSolution",
        "hiperplano.solvers.separation.hard_margin.MarginSolution",
        "hiperplano.solvers.svm.solution.SvmSolution",
        "numpy.dtype",
        "scipy.sparse._csr.csr_array",
        "scipy.sparse._csr.csr_matrix",
        "sklearn.impute._iterative.IterativeImputer",
        "sklearn.impute._iterative._ImputerTriplet",
        "sklearn.model_selection._split.StratifiedKFold",
    }
)
"""Types that a file may contain in addition to those trusted by skops (scikit-learn's estimators, NumPy's arrays,
SciPy's matrices). Creating an instance of them runs no code chosen by the file.
"""


def save(model: Any, path: str | Path) -> None:
    """Write a fitted model to a file, completely or not at all.

    The format is that of skops: a zip archive of JSON and arrays. Unlike a pickle it runs no code when it is opened.
    The rows of the fit are not written. Only Firth's regression needs them after the fit, for the intervals of its
    `summary`: those computed before saving are in the file, others need `inference(model, X, y)`.

    Parameters
    ----------
    model : estimator
        A model of this library, or a pipeline of scikit-learn's transformers and such a model.
    path : str or Path
        An existing file is replaced; until the new one is complete, the old one stays.

    Raises
    ------
    hiperplano.errors.InvalidFile
        If the model holds types that `load` would not trust.

    Examples
    --------
    >>> import tempfile
    >>> from hiperplano import LinearRegression, load, save
    >>> model = LinearRegression().fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, f"{folder}/model.skops")
    ...     load(f"{folder}/model.skops").predict([[3.0]]).round(9)
    array([7.])
    """
    from skops.io import dumps, get_untrusted_types

    path = Path(path)
    if not path.parent.is_dir():
        raise InvalidFile(
            "{path}: there is no folder {parent}. Make it first, or choose another.", path=path, parent=path.parent
        )
    content = dumps(model, compression=ZIP_DEFLATED)
    foreign = set(get_untrusted_types(data=content)) - TRUSTED
    if foreign:
        raise InvalidFile(
            "{path} was not written: the model holds {types}, which load would refuse. Only estimators of "
            "hiperplano and scikit-learn, and arrays, can be saved; leave out what else the model holds, such as "
            "functions of your own.",
            path=path,
            types=_listed(foreign),
        )
    write_bytes(path, content)


def load(path: str | Path) -> Any:
    """Read a model that `save` wrote.

    Nothing in the file is run. A file with types other than those of hiperplano, scikit-learn, NumPy and SciPy is
    refused before anything is loaded.

    Parameters
    ----------
    path : str or Path
        File that `save` wrote.

    Returns
    -------
    estimator
        With the same bits in all its numbers.

    Raises
    ------
    hiperplano.errors.InvalidFile
        If the file does not exist, is of another kind, is damaged, claims sizes that it does not have, or holds types
        that are not trusted.

    Examples
    --------
    >>> from hiperplano import load
    >>> load("no_such_model.skops")
    Traceback (most recent call last):
        ...
    hiperplano.errors.InvalidFile: no_such_model.skops: there is no such file. Check the path.
    """
    from skops.io import get_untrusted_types, loads
    from skops.io.exceptions import UntrustedTypesFoundException

    path = Path(path)
    if not path.is_file():
        raise InvalidFile("{path}: there is no such file. Check the path.", path=path)
    try:
        check_archive(path)
        content = path.read_bytes()
        return loads(content, trusted=sorted(TRUSTED))  # checks all types before it creates anything
    except UntrustedTypesFoundException:
        foreign = set(get_untrusted_types(data=content)) - TRUSTED
    except Exception as problem:  # foreign bytes can cause any error in any of the parsers
        what = Message("damaged, or too new")
        if isinstance(problem, BadZipFile):
            what = Message("no file that hiperplano.save wrote")
        raise InvalidFile(
            "{path} is {what} ({kind}: {problem}). Give a file written by hiperplano.save or by the command "
            "hiperplano fit; a pickle is never opened.",
            path=path,
            what=what,
            kind=type(problem).__name__,
            problem=printable(str(problem))[:200],
        ) from problem
    raise InvalidFile(
        "{path} holds types that are not trusted: {types}. A model consists of estimators of hiperplano and "
        "scikit-learn and of arrays. Do not open the file unless you know who made it; then use skops.io.load.",
        path=path,
        types=_listed(foreign),
    )


def _listed(names: set[str], most: int = 6) -> str:
    shown = [printable(name)[:80] for name in sorted(names)[:most]]
    return ", ".join(shown) + (f" and {len(names) - most} more" if len(names) > most else "")
