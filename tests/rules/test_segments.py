"""The rules on a segment: what no bytes of a real broker can show."""

from kcheck.model.entries import Offset
from kcheck.model.finding import Location
from kcheck.model.segments import Aborted, End, SegmentView, Transactions
from kcheck.rules._contract import Scope
from tests.rules.build import found_by_all

VIEW = SegmentView(
    where=Location(dir="t-0", file="00000000000000000000.log"), base_offset=Offset(0), size=500, valid_size=500,
    end=End.WHOLE, zeros=False, batches=1, first_offset=Offset(0), end_offset=Offset(10), max_timestamp=5, epochs=(),
    faults=(), counts={}, beyond=None, offset_index=None, time_index=None, transactions=None,
    files=frozenset(f"00000000000000000000.{ending}" for ending in ("log", "index", "timeindex")),
    active=True, scanned=None, verified=True,
)  # fmt: skip


def test_a_sound_segment_has_no_finding() -> None:
    assert not found_by_all(VIEW, Scope.SEGMENT)


def test_a_segment_that_shrinks_is_told_as_that_alone() -> None:
    """Indexes that point behind its end say nothing then."""
    (found,) = found_by_all(VIEW._replace(end=End.SHRUNK, valid_size=100), Scope.SEGMENT)
    assert ("KC150", 100) == (found.id, found.where.position)


def _of(*aborted: Aborted) -> SegmentView:
    """Return a segment with these aborted transactions."""
    return VIEW._replace(transactions=Transactions(aborted, {}, {}))


def test_a_transaction_that_began_before_the_first_segment_needs_no_entry() -> None:
    """Nor one of which no record is left; and where there are too many to follow nothing is said."""
    unseen = Aborted(7, None, Offset(5))
    assert not found_by_all(_of(unseen), Scope.SEGMENT)
    assert not found_by_all(VIEW, Scope.SEGMENT)
    (found,) = found_by_all(_of(unseen, Aborted(8, Offset(2), Offset(6))), Scope.SEGMENT)
    assert ("KC172", 1) == (found.id, found.data["count"])
