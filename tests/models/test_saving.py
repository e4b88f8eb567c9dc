"""Models come back from files with the same bits, and files of strangers are not opened."""

from __future__ import annotations

import copy
import pickle
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression as PlainRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from hiperplano import LinearRegression, LogisticRegression, inference, load, save
from hiperplano.errors import InvalidFile, NotAvailable
from hiperplano.messages import Message
from hiperplano.models import saving
from tests.registry import ESTIMATORS, ONLINE, SEPARABLE_ONLY, WITHOUT_COEFFICIENTS

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
BINARY = (X[:, 0] + 0.5 * RNG.normal(size=60) > 0).astype(int)
EVERY = [entry.estimator for entry in ESTIMATORS + ONLINE + WITHOUT_COEFFICIENTS]
EVERY += [LogisticRegression(firth=True), make_pipeline(StandardScaler(), LinearRegression())]


def same_bits(one, other):
    for method in ("predict", "decision_function", "predict_proba"):
        if hasattr(one, method):
            assert getattr(one, method)(X).tobytes() == getattr(other, method)(X).tobytes()


@pytest.mark.parametrize("estimator", EVERY, ids=str)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_model_comes_back_with_the_same_bits(estimator, tmp_path):
    model = clone(estimator).fit(X, BINARY)
    save(model, tmp_path / "model.skops")
    back = load(tmp_path / "model.skops")
    assert type(back) is type(model)
    assert str(back.get_params()) == str(model.get_params())
    same_bits(model, back)
    if hasattr(model, "solution_"):
        assert repr(back.solution_) == repr(model.solution_)


@pytest.mark.parametrize("entry", SEPARABLE_ONLY, ids=str)
def test_a_model_of_separable_rows_comes_back(entry, tmp_path):
    model = clone(entry.estimator).fit(X, (X[:, 0] > 0).astype(int))
    save(model, tmp_path / "model.skops")
    same_bits(model, load(tmp_path / "model.skops"))


def test_a_model_with_labels_of_text_and_named_columns_comes_back(tmp_path):
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(X, columns=["a", "b", "c"])
    model = LogisticRegression(C=np.inf).fit(table, np.where(BINARY, "bad", "good"))
    save(model, tmp_path / "model.skops")
    back = load(tmp_path / "model.skops")
    assert list(back.feature_names_in_) == ["a", "b", "c"]
    assert str(back.summary()) == str(model.summary())
    assert (back.predict(table) == model.predict(table)).all()


def holding(content, size):
    """Arrays of as many numbers among the parts of a model's file."""
    with zipfile.ZipFile(content) as archive:
        parts = [np.load(archive.open(name)) for name in archive.namelist() if name.endswith(".npy")]
    return [part.shape for part in parts if part.size >= size]


def test_no_rows_in_the_file_of_a_firth_model(tmp_path):
    path = tmp_path / "model.skops"
    model = LogisticRegression(firth=True).fit(X, BINARY)
    save(model, path)
    assert not holding(path, len(X))
    assert model.summary().notes  # the model in memory still has them
    back = load(path)
    assert back.coef_.tobytes() == model.coef_.tobytes()
    with pytest.raises(
        NotAvailable, match=r"level=0.95 need the rows of the fit.*inference\(model, X, y, level=0.95\)"
    ):
        back.summary()
    found, expected = inference(back, X, BINARY), model.summary()
    for key in ("coef", "se", "p", "low", "high"):
        np.testing.assert_allclose(getattr(found, key), getattr(expected, key), rtol=1e-7)


def test_intervals_asked_for_before_saving_are_in_the_file(tmp_path):
    path = tmp_path / "model.skops"
    model = LogisticRegression(firth=True).fit(X, BINARY)
    expected = model.summary()
    save(model, path)
    assert not holding(path, len(X))
    assert str(load(path).summary()) == str(expected)
    with pytest.raises(NotAvailable, match=r"level=0.9 need .*\(it knows those at 0.95\)"):
        load(path).summary(0.9)
    assert inference(load(path), X, BINARY, level=0.9).level == 0.9


def test_copies_of_a_firth_model_in_memory_and_in_pickles():
    model = LogisticRegression(firth=True).fit(X, BINARY)
    assert str(copy.deepcopy(model).summary(0.8)) == str(model.summary(0.8))
    assert pickle.loads(pickle.dumps(model)).solution_.problem is None


def test_a_model_learns_on_after_loading(tmp_path):
    from hiperplano import Perceptron

    model = Perceptron(random_state=0).fit(X, BINARY)
    save(model, tmp_path / "model.skops")
    back = load(tmp_path / "model.skops")
    assert model.partial_fit(X, BINARY).coef_.tobytes() == back.partial_fit(X, BINARY).coef_.tobytes()


def _shout(rows):
    return rows


def test_foreign_types_are_named_when_saving_and_nothing_is_written(tmp_path):
    model = make_pipeline(FunctionTransformer(_shout), LinearRegression()).fit(X, X[:, 0])
    with pytest.raises(InvalidFile, match=r"was not written: the model holds .*_shout, which load would refuse"):
        save(model, tmp_path / "model.skops")
    assert not list(tmp_path.iterdir())


def test_a_strangers_file_is_refused_with_its_types_named(tmp_path):
    import skops.io

    model = make_pipeline(FunctionTransformer(_shout), PlainRegression()).fit(X, X[:, 0])
    skops.io.dump(model, tmp_path / "model.skops")
    with pytest.raises(InvalidFile, match=r"types that are not trusted: .*_shout\. .*Do not open"):
        load(tmp_path / "model.skops")


def test_functions_of_the_library_are_not_trusted_either(tmp_path):
    import skops.io

    from hiperplano import save as function

    skops.io.dump(make_pipeline(FunctionTransformer(function)), tmp_path / "model.skops")
    with pytest.raises(InvalidFile, match=r"hiperplano\.models\.saving\.save"):
        load(tmp_path / "model.skops")


def test_a_pickle_is_not_opened(tmp_path):
    (tmp_path / "model.pkl").write_bytes(pickle.dumps(LinearRegression().fit(X, X[:, 0])))
    with pytest.raises(InvalidFile, match=r"no file that hiperplano\.save wrote"):
        load(tmp_path / "model.pkl")


def test_damaged_files_are_refused(tmp_path):
    save(LinearRegression().fit(X, X[:, 0]), tmp_path / "model.skops")
    whole = (tmp_path / "model.skops").read_bytes()
    (tmp_path / "half.skops").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InvalidFile, match=r"no file that hiperplano\.save wrote"):
        load(tmp_path / "half.skops")
    with zipfile.ZipFile(tmp_path / "other.skops", "w") as archive:
        archive.writestr("readme.txt", "not a model")
    with pytest.raises(InvalidFile, match="damaged, or too new"):
        load(tmp_path / "other.skops")


def test_saving_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "model.skops"
    save(LinearRegression().fit(X, X[:, 0]), path)
    before = path.read_bytes()

    def interrupted(handle):
        raise KeyboardInterrupt

    monkeypatch.setattr("os.fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        save(LinearRegression().fit(X, X[:, 1]), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InvalidFile, match="there is no folder"):
        save(LinearRegression().fit(X, X[:, 0]), tmp_path / "no" / "model.skops")


def test_every_trusted_type_exists_and_is_a_class():
    from importlib import import_module

    for name in saving.TRUSTED:
        module, _, short = name.rpartition(".")
        assert isinstance(getattr(import_module(module), short), type), name


def test_what_a_fit_says_comes_back_with_its_fields(tmp_path):
    model = LinearRegression().fit(X, X[:, 0])
    status = "LinearRegression: " + Message("Solved by {method}", method=Message("normal equations"))
    model.solution_ = replace(model.solution_, verdict=status, tells_digits=False)
    assert model.solution_.status == status
    save(model, tmp_path / "model.skops")
    for back in (load(tmp_path / "model.skops"), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert back.solution_.status == status
        assert back.solution_.status.to_plain() == status.to_plain()
        assert vars(back.solution_).keys() == vars(model.solution_).keys()


def test_what_nobody_asked_for_before_saving_can_be_asked_for_later(tmp_path):
    model = LinearRegression().fit(X, X[:, 0])
    save(model, tmp_path / "model.skops")
    backs = [load(tmp_path / "model.skops"), copy.deepcopy(model), pickle.loads(pickle.dumps(model))]
    for back in backs:
        assert "status" not in vars(back.solution_)
        assert back.solution_.status.to_plain() == model.solution_.status.to_plain()
    assert "about 15 digits of the coefficients can be trusted" in model.solution_.status


def test_a_solution_written_with_its_status_keeps_it():
    solution = LinearRegression().fit(X, X[:, 0]).solution_
    fields = ("verdict", "remarks", "tells_digits")  # which earlier versions did not have
    state = {name: value for name, value in vars(solution).items() if name not in fields}
    back = type(solution).__new__(type(solution))
    back.__setstate__(state | {"status": "As it was.", "messages": "{}"})
    assert back.status == "As it was."
    assert replace(back, rank=1).rank == 1
