"""Arithmetic on offsets."""

from kcheck.core.tiered.spans import merged, offset_count, within, without
from kcheck.model.entries import Offset


def test_merged() -> None:
    """Those that touch are one; empty ones are none."""
    spans = [(5, 10), (0, 5), (20, 20), (12, 15), (13, 14)]
    assert merged((Offset(start), Offset(end)) for start, end in spans) == ((0, 10), (12, 15))
    assert merged([]) == ()


def test_without() -> None:
    assert without(((0, 10), (20, 30)), ((2, 4), (8, 22), (29, 40))) == ((0, 2), (4, 8), (22, 29))
    assert without(((0, 10),), ((0, 10),)) == ()
    assert without(((0, 10),), ((10, 12),)) == ((0, 10),)


def test_within() -> None:
    assert within(((0, 10), (20, 30)), 5, 25) == ((5, 10), (20, 25))


def test_offset_count() -> None:
    assert offset_count(((0, 10), (20, 21))) == 11
