"""How the work of a call grows: lines of kcheck that run are counted, so no clock and no machine matters."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

DOUBLED_MAX = 2.3
"""Twice the input takes at most so many times the lines: n log n does, what is quadratic takes four times as many."""


def lines(call: Callable[[], object]) -> int:
    """Return how many lines of kcheck a call runs; a loop counts each of its turns."""
    count = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        if "/kcheck/" not in frame.f_code.co_filename:
            return None
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return count


def grows_with_its_input(call: Callable[[int], Callable[[], object]], count: int) -> bool:
    """Whether twice the input takes about twice the lines; `call` makes the input and returns what is counted."""
    call(count)()  # What is imported, or remembered, with the first input.
    one, two = lines(call(count)), lines(call(2 * count))
    return two <= DOUBLED_MAX * one
