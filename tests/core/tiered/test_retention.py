"""Which deleted segments retention may have deleted: RemoteLogManager deletes by time and by size."""

import pytest

from kcheck.core.tiered.reading import remote_log
from kcheck.core.tiered.retention import deleted_by_retention
from kcheck.model.entries import Offset
from kcheck.model.remote_log import MetadataState, RemoteSegment, Retention, SegmentState, Spans
from tests.core.tiered.test_reports import segment

GONE = SegmentState.DELETE_FINISHED
DAY = 86_400_000


def deleted(start: int, age_ms: int) -> RemoteSegment:
    """Return a segment that was deleted when its newest record had an age."""
    return segment(start, start + 5, (0, start), state=GONE)._replace(newest_ms=DAY, last_ms=DAY + age_ms)


SEGMENTS = (deleted(0, 5000), deleted(5, 4999), segment(10, 15, (0, 10)))


@pytest.mark.parametrize(
    ("ms", "size", "left", "spans"),
    [
        (5000, -1, 0, ((0, 5),)),
        (-1, -1, 0, ()),
        (4999, -1, 0, ((0, 10),)),
        (-1, 800, 800, ((0, 10),)),
        (-1, 800, 799, ()),
        (None, -1, 0, ((0, 10),)),
        (-1, None, 0, ((0, 10),)),
    ],
)
def test_what_retention_may_have_deleted(ms: int | None, size: int | None, left: int, spans: Spans) -> None:
    """A segment that is as old as retention.ms; any while retention.bytes are left; all if a setting is not known."""
    assert deleted_by_retention(remote_log(MetadataState.READ, SEGMENTS), Retention(ms, size), left) == spans
    assert Retention(ms, size).is_known is (None not in (ms, size))


def test_what_it_did_not_delete() -> None:
    """A segment in the store, one whose first record is lost, and one whose age is not known counts as old."""
    finished, partial = segment(0, 5, (0, 0)), RemoteSegment("x", GONE)
    ageless = deleted(5, 0)._replace(newest_ms=None)
    log = remote_log(MetadataState.READ, (finished, partial, ageless))
    assert deleted_by_retention(log, Retention(DAY, -1), 0) == ((Offset(5), Offset(10)),)
