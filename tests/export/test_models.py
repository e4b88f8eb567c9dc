"""Every model that has formulas, in DuckDB, SQLite and onnxruntime, row by row."""

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.decomposition import PCA
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression as Other
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    RobustScaler,
    StandardScaler,
)

from hiperplano import (
    SVC,
    CostSensitiveClassifier,
    HardMarginSVC,
    KernelLogisticRegression,
    KernelRidge,
    LeastSquaresClassifier,
    LinearRegression,
    LinearSVC,
    LogisticRegression,
    QuadraticDiscriminantAnalysis,
    Ridge,
    SGDClassifier,
    to_onnx,
    to_sql,
    verify_sql,
)
from hiperplano.errors import NotAvailable
from hiperplano.kernels import RBF, Exponential, Laplacian, Linear, Polynomial, Sigmoid
from hiperplano.models.kernel.base import KernelModel
from tests.export.engines import onnx_predictions
from tests.export.samples import hard_numbers
from tests.registry import CLASSIFIERS, ONLINE, REGRESSORS, WITHOUT_COEFFICIENTS

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(120, 4))
NUMBER = ROWS @ [1.0, -2.0, 0.5, 0.0] + RNG.normal(size=120)
TWO = np.where(NUMBER > 0, "sí", "no")
THREE = np.digitize(NUMBER, [-1.0, 1.0])
HARD = hard_numbers(ROWS)

MODELS = [entry.estimator for entry in WITHOUT_COEFFICIENTS + ONLINE + CLASSIFIERS[::-1] + REGRESSORS[::-1]]


def agree(model, X, tolerance=1e-12):
    check = verify_sql(model, X, tolerance=tolerance)
    assert check, check
    agrees_in_onnx(model, X, tolerance)
    return check


def agrees_in_onnx(model, X, tolerance):
    expected, found = onnx_predictions(model, X)
    assert expected.compare(found, tolerance)[1] == []


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "model", {type(each): each for each in MODELS}.values(), ids=lambda model: type(model).__name__
)
def test_every_model_of_the_registry_is_exported_with_its_predictions(model):
    targets = [TWO, THREE] if is_classifier(model) else [NUMBER]
    for y in targets:
        fitted = clone(model).fit(ROWS, y)
        if isinstance(model, SVC) and y is THREE:  # decides by votes of pairs
            with pytest.raises(NotAvailable, match="SVC"):
                to_onnx(fitted)
        elif isinstance(model, KernelModel):  # which are no formulas that SQL can hold
            agrees_in_onnx(fitted, HARD, 1e-9)
        else:
            assert agree(fitted, HARD).n_refused == 3


def test_columns_without_a_coefficient_are_not_read():
    model = LinearRegression(positive=True).fit(ROWS, NUMBER)
    assert not model.coef_.all()
    assert agree(model, HARD).n_refused == 2
    assert '"x1"' not in to_sql(model, "t")


def test_several_targets_have_a_column_each():
    model = LinearRegression().fit(ROWS, np.column_stack([NUMBER, -NUMBER]))
    agree(model, HARD)
    assert '"prediction_2"' in to_sql(model, "t")


def test_separable_classes():
    agree(HardMarginSVC().fit(ROWS, ROWS[:, 0] > 0), HARD)


@pytest.mark.parametrize("labels", [[False, True], [1.0, 2.0], [-3, 10**12], ["a'b", "c]d\\"]], ids=str)
def test_labels_of_all_kinds_come_back(labels):
    agree(LogisticRegression().fit(ROWS, np.array(labels)[(NUMBER > 0).astype(int)]), HARD)


def test_probabilities_of_scores_of_any_size():
    model = LogisticRegression(C=np.inf).fit(ROWS, TWO)
    many = LogisticRegression().fit(ROWS, THREE)
    shares = SGDClassifier("log_loss", random_state=0).fit(ROWS, THREE)
    sizes = np.outer(
        [1e-3, 1.0, 30.0, 300.0, 740.0, 3e3, 1e6, -30.0, -300.0, -740.0, -3e3, -1e6], [1.0, -2.0, 0.5, 1.0]
    )
    for each in (model, many, shares):
        agree(each, sizes)


@pytest.mark.parametrize(
    "model",
    [
        CostSensitiveClassifier(LogisticRegression(), costs=[[0, 9], [1, 0], [0.4, 0.4]], reject_label="ask"),
        CostSensitiveClassifier(LinearSVC(), costs=[[0, 9], [1, 0]], threshold="tuned"),
        CostSensitiveClassifier(costs=[[0, 9], [1, 0]]),
    ],
    ids=["with a third decision", "tuned", "bayes"],
)
def test_decisions_by_costs(model):
    agree(model.fit(ROWS, TWO), HARD)


@pytest.mark.parametrize(
    ("steps", "y"),  # what a step writes does not depend on the number of classes: one of them for each
    [
        ([SimpleImputer(add_indicator=True), StandardScaler()], TWO),
        ([SimpleImputer(strategy="constant", fill_value=2.5)], THREE),
        ([StandardScaler(with_std=False), SimpleImputer(), RobustScaler()], TWO),
        ([MinMaxScaler(), SimpleImputer(strategy="median"), MaxAbsScaler()], THREE),
        ([StandardScaler(), PCA(2, whiten=True)], THREE),
        ([FunctionTransformer(), VarianceThreshold(), "passthrough", RobustScaler(with_centering=False)], TWO),
        ([KBinsDiscretizer(4, quantile_method="averaged_inverted_cdf")], THREE),
        ([KBinsDiscretizer(3, encode="ordinal", quantile_method="averaged_inverted_cdf")], TWO),
        ([make_pipeline(StandardScaler(), StandardScaler())], TWO),
    ],
    ids=lambda value: str(value) if isinstance(value, list) else "",
)
def test_steps_of_scikit_learn(steps, y):
    agree(make_pipeline(*steps, LogisticRegression()).fit(ROWS, y), HARD)


def test_quadratic_scores_after_a_scaler():
    agree(make_pipeline(StandardScaler(), QuadraticDiscriminantAnalysis()).fit(ROWS, THREE), HARD)


def test_hundreds_of_columns_and_thirty_classes():
    rng = np.random.default_rng(1)
    rows, classes = rng.normal(size=(240, 300)), np.arange(240) % 30
    agree(Ridge().fit(rows, classes), rows)
    agree(LeastSquaresClassifier().fit(rows[:, :40], classes), rows[:, :40])
    agree(LogisticRegression(C=1e-3).fit(rows[:, :10], classes), rows[:, :10])


@pytest.mark.parametrize(
    ("model", "part"),
    [
        (Other().fit(ROWS, TWO), "LogisticRegression"),
        (make_pipeline(FunctionTransformer(np.abs), Ridge()).fit(ROWS, NUMBER), "FunctionTransformer"),
        (make_pipeline(MinMaxScaler(clip=True), Ridge()).fit(ROWS, NUMBER), "MinMaxScaler"),
        (make_pipeline(SimpleImputer(missing_values=-7.0), Ridge()).fit(ROWS, NUMBER), "missing_values=-7"),
    ],
    ids=["model", "function", "clip", "code"],
)
@pytest.mark.parametrize("export", [lambda model: to_sql(model, "t"), to_onnx], ids=["sql", "onnx"])
def test_what_is_no_formula_is_refused_by_name(model, part, export):
    with pytest.raises(NotAvailable, match=part):
        export(model)


@pytest.mark.parametrize(
    "kernel",
    [
        RBF(0.3),
        Laplacian(0.2) + 0.5 * Linear(),
        Polynomial(3, 0.5) * RBF("scale"),
        Sigmoid(0.1, 0.0) + Exponential(0.05),
    ],
    ids=str,
)
def test_kernel_machines_in_onnx(kernel):
    rows = np.where(np.isfinite(HARD), HARD, 0.0).clip(-5, 5) + 3.0
    models = [KernelRidge(kernel=kernel).fit(ROWS + 3.0, NUMBER)]
    if kernel.positive_definite:
        scaled = make_pipeline(StandardScaler(), KernelLogisticRegression(kernel=kernel))
        models += [KernelLogisticRegression(kernel=kernel).fit(ROWS + 3.0, TWO), scaled.fit(ROWS + 3.0, THREE)]
    for model in models:
        agrees_in_onnx(model, rows, 1e-8)
        with pytest.raises(NotAvailable, match="to_onnx"):
            to_sql(model, "t")


def test_kernels_of_no_known_form_are_refused():
    model = KernelRidge(kernel=lambda x, z: x @ z.T).fit(ROWS, NUMBER)
    with pytest.raises(NotAvailable, match="Function"):
        to_onnx(model)
