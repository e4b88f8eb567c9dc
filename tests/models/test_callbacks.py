"""scikit-learn's callbacks: a fit tells them of every step, with a model that predicts as if it had stopped there."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV

from hiperplano import LogisticRegression
from hiperplano.errors import InvalidTarget

callback = pytest.importorskip("sklearn.callback")
X, KIND = load_iris(return_X_y=True)


class Recorder:
    max_propagation_depth = None

    def __init__(self):
        self.calls, self.models, self.begun = [], [], []

    def setup(self, estimator, context):
        self.calls.append("setup")

    def teardown(self, estimator, context):
        self.calls.append("teardown")

    def on_fit_task_begin(self, estimator, context, *, fitted_estimator=None):
        self.calls.append(("begin", context.task_name, context.task_id))
        self.begun.append(fitted_estimator)

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None, metadata=None):
        self.calls.append(("end", context.task_name, context.task_id))
        if context.task_name == "iter" and fitted_estimator is not None:
            self.models.append(fitted_estimator)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("solver", ["newton", "lbfgs", "gradient"])
@pytest.mark.parametrize("labels", [KIND, KIND > 0], ids=["three", "two"])
@pytest.mark.parametrize("columns", [4, 200], ids=["few", "wide"])
def test_each_step_shows_the_model_of_as_many_steps(solver, labels, columns):
    rows = X if columns == 4 else np.random.default_rng(0).normal(size=(40, columns))
    labels, options = labels[:: len(X) // len(rows)][: len(rows)], {"solver": solver, "C": 0.01}
    plain = LogisticRegression(**options, max_iter=20).fit(rows, labels)
    seen = Recorder()
    model = LogisticRegression(**options, max_iter=20).set_callbacks(seen).fit(rows, labels)
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    assert (seen.calls[0], seen.calls[-1]) == ("setup", "teardown")
    starts, ends = ([call for call in seen.calls if call[0] == word] for word in ("begin", "end"))
    assert sorted(call[1:] for call in starts) == sorted(call[1:] for call in ends)
    assert 1 < len(seen.models) <= model.n_iter_[0]
    if solver != "gradient":  # which also counts steps that it takes back
        assert len(seen.models) == model.n_iter_[0]
    if columns == 4 and solver != "gradient":  # in the span of the rows a fit that is cut short has other units
        for steps in (1, 2):
            short = LogisticRegression(**options, max_iter=steps).fit(rows, labels)
            np.testing.assert_allclose(seen.models[steps - 1].coef_, short.coef_, rtol=1e-6, atol=1e-9)
            np.testing.assert_array_equal(seen.models[steps - 1].predict(rows), short.predict(rows))
    np.testing.assert_allclose(seen.models[-1].coef_, model.coef_, rtol=1e-3, atol=1e-3)


@pytest.mark.filterwarnings("ignore")
def test_scores_of_a_search_are_monitored_and_failures_torn_down():
    monitor = callback.ScoringMonitor(scoring="accuracy")
    LogisticRegression().set_callbacks(monitor).fit(X, KIND, sample_weight=np.ones(150))
    assert monitor.get_logs().data[-1]["accuracy"] > 0.9
    seen = Recorder()
    GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=2).set_callbacks(seen).fit(X, KIND)
    assert sum(call[1] == "iter" for call in seen.calls if call[0] == "begin") > 10
    failing = Recorder()
    model = LogisticRegression().set_callbacks(failing)
    with pytest.raises(InvalidTarget):
        model.fit(X, np.zeros(150))
    assert failing.calls.count("setup") == failing.calls.count("teardown")
    assert not any(name.startswith("_callback") for name in vars(model))
