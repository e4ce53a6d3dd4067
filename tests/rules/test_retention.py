"""KC252: timestamps in the future."""

import pytest

from kcheck.model.cluster import ReplicaInCluster
from kcheck.model.entries import Offset
from kcheck.model.finding import Location
from kcheck.model.names import DirectoryState
from kcheck.model.segments import End, SegmentView
from kcheck.model.views import PartitionView
from kcheck.rules.kc252_timestamp_in_future import RULE as KC252
from kcheck.rules.kc252_timestamp_in_future import SLACK_MS
from tests.rules.build import found_by, partition

NOW = 1_800_000_000_000
"""15 January 2027."""
MICROSECONDS = 1000 * NOW


def segment(number: int, timestamp: int) -> SegmentView:
    """Return a segment of 100 offsets."""
    base = 100 * number
    return SegmentView(
        where=Location(), base_offset=Offset(base), size=700, valid_size=700, end=End.WHOLE, zeros=False, batches=1,
        first_offset=Offset(base), end_offset=Offset(base + 100), max_timestamp=timestamp, epochs=(), faults=(),
        counts={}, beyond=None, offset_index=None, time_index=None, transactions=None,
    )  # fmt: skip


def read(*timestamps: int, now: int | None = NOW, **fields: object) -> PartitionView:
    """Return a partition with a segment for each of these largest timestamps."""
    view = partition(segment_sizes=(700,) * len(timestamps), log_end=100 * len(timestamps))
    segments = tuple(segment(number, timestamp) for number, timestamp in enumerate(timestamps))
    return view._replace(now=now, read=segments, **fields)


@pytest.mark.parametrize(
    ("timestamps", "message", "below"),
    [
        ((MICROSECONDS, NOW, NOW), "a record of the year 59,009 in the segment of offset 0 holds back all 3", 100),
        ((NOW, MICROSECONDS, NOW), "in the segment of offset 100 holds back 2 segments, 1400 bytes", 200),
        ((NOW, NOW, NOW + 2 * SLACK_MS), "a record of 2027-01-17 in the segment of offset 200 holds back 1 seg", 300),
        ((MICROSECONDS,), "holds back 1 segment, 700 bytes", 100),
    ],
)
def test_what_it_holds_back(timestamps: tuple[int, ...], message: str, below: int) -> None:
    """Retention stops at the first segment that is not old enough: this one and all later ones stay."""
    (found,) = found_by(KC252, read(*timestamps))
    assert message in found.message
    assert f"below offset {below} of t-0" in found.advice


def test_where_there_is_none() -> None:
    """A clock that is a little fast does no harm, nor does anything where retention by time deletes nothing."""
    replica = ReplicaInCluster("m", None, None)
    assert not found_by(KC252, read(NOW + SLACK_MS))
    assert not found_by(KC252, read(MICROSECONDS, now=None))
    assert not found_by(KC252, read(MICROSECONDS, cleaned=True))
    assert not found_by(KC252, read(MICROSECONDS, in_cluster=replica._replace(expires=False)))
    assert not found_by(KC252, read(MICROSECONDS, state=DirectoryState.DELETED))
    assert not found_by(KC252, read(MICROSECONDS, topic="__cluster_metadata"))
    assert found_by(KC252, read(MICROSECONDS, in_cluster=replica, cleaned=True))
