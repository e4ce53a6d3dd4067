"""How many examples each property gets: KCHECK_SWEEP multiplies their number."""

import os

from hypothesis import HealthCheck, settings

EXAMPLE_COUNT = 100 * int(os.environ.get("KCHECK_SWEEP", "1"))

# How long one example takes, or to make it, says more about the machine than about kcheck.
settings.register_profile(
    "kcheck", deadline=None, max_examples=EXAMPLE_COUNT, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("kcheck")
