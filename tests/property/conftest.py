"""How many examples each property gets: KCHECK_SWEEP multiplies their number."""

import os

from hypothesis import settings

EXAMPLE_COUNT = 100 * int(os.environ.get("KCHECK_SWEEP", "1"))

# No deadline: how long one example takes says more about the machine than about kcheck.
settings.register_profile("kcheck", deadline=None, max_examples=EXAMPLE_COUNT)
settings.load_profile("kcheck")
