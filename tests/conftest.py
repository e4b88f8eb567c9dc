"""What all tests share: hypothesis draws the same examples in every run, and models are born before scikit-learn."""

from hypothesis import HealthCheck, settings

# Models that are imported before scikit-learn join it later (`data/kinship.py`); here all tests meet them so.
import hiperplano.models.discriminant
import hiperplano.models.hard_margin
import hiperplano.models.logistic
import hiperplano.models.passive_aggressive
import hiperplano.models.pegasos
import hiperplano.models.perceptron
import hiperplano.models.quadratic
import hiperplano.models.stochastic
import hiperplano.models.svm
import hiperplano.selection.ridge  # noqa: F401

settings.register_profile(
    "same every time",
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("same every time")
