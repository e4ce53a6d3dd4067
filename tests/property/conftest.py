"""How many examples each property gets: a quarter without KCHECK_SWEEP, which multiplies their number."""

from hypothesis import HealthCheck, settings

from tests.oracle.ask import IS_WHOLE, SWEEP

EXAMPLE_COUNT = 100 * SWEEP if IS_WHOLE else 25

# How long one example takes, or to make it, says more about the machine than about kcheck.
settings.register_profile(
    "kcheck", deadline=None, max_examples=EXAMPLE_COUNT, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("kcheck")
