"""KC150: what no bytes can show."""

from kcheck.model.entries import Offset
from kcheck.model.finding import Location
from kcheck.model.segments import End, SegmentView
from kcheck.rules._contract import Scope
from tests.rules.build import found_by_all


def test_a_segment_that_shrinks_is_told_as_that_alone() -> None:
    """Indexes that point behind its end say nothing then."""
    view = SegmentView(
        where=Location(dir="t-0", file="00000000000000000000.log"), base_offset=Offset(0), size=500, valid_size=100,
        end=End.SHRUNK, zeros=False, batches=1, first_offset=Offset(0), end_offset=Offset(10), max_timestamp=5,
        epochs=(), faults=(), counts={}, beyond=None, offset_index=None, time_index=None, aborted=(), stated=(),
        files=frozenset(), active=True, scanned=None, verified=True,
    )  # fmt: skip
    (found,) = found_by_all(view, Scope.SEGMENT)
    assert ("KC150", 100) == (found.id, found.where.position)
    assert not found_by_all(view._replace(end=End.WHOLE, valid_size=500), Scope.SEGMENT)
