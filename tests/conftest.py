"""What all tests share: hypothesis draws the same examples in every run."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "same every time",
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("same every time")
