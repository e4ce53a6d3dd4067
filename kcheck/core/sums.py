"""Sums of counts that may be unknown, and of several counts at once."""

from collections.abc import Iterable
from operator import add


def known_sum(counts: Iterable[int | None]) -> int | None:
    """Return the sum; None if a count is not known."""
    total = 0
    for count in counts:
        if count is None:
            return None
        total += count
    return total


def plus(one: tuple[int, ...], other: Iterable[int]) -> tuple[int, ...]:
    """Return the sums of counts in the same places."""
    return tuple(map(add, one, other))
