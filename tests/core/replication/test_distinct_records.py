"""Which offsets of a batch are lost."""

from kcheck.core.replication.distinct_records import below, lost_pieces
from kcheck.core.replication.truncation_plans import OffsetRange
from kcheck.model.entries import Offset


def ranges(*bounds: tuple[int, int]) -> tuple[OffsetRange, ...]:
    """Return ranges of offsets."""
    return tuple(OffsetRange(Offset(start), Offset(end)) for start, end in bounds)


def test_what_somebody_loses_and_nobody_keeps() -> None:
    """Ranges may overlap, touch, and reach beyond the batch."""
    (batch,) = ranges((10, 20))
    assert ranges((10, 20)) == lost_pieces(batch, ranges((0, 99)), ())
    assert ranges((10, 20)) == lost_pieces(batch, ranges((0, 13), (12, 15), (15, 99)), ())
    assert ranges((12, 14), (16, 18)) == lost_pieces(batch, ranges((12, 99)), ranges((14, 16), (18, 20)))
    assert () == lost_pieces(batch, ranges((0, 99)), ranges((5, 25)))
    assert () == lost_pieces(batch, ranges((20, 99), (0, 10)), ())
    assert () == lost_pieces(batch, (), ())


def test_offsets_below_a_mark() -> None:
    """Whole ranges, parts of them, and none."""
    pieces = ranges((10, 12), (15, 20))
    assert [0, 1, 2, 2, 3, 7] == [below(pieces, Offset(mark)) for mark in (10, 11, 12, 15, 16, 99)]
