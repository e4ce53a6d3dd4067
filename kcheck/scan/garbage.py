"""How often Python looks for values that refer to each other in a circle."""

import gc


def collect_seldom() -> None:
    """Look for circles seldom: there are none among our values, and it is a sixth of a start, a quarter of a scan."""
    gc.set_threshold(50_000, 20, 20)
