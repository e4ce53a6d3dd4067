"""What the first pass of retention deletes: RemoteLogManager of 3.6 to 4.3.1."""

from collections.abc import Iterable, Sequence

import pytest

from kcheck.core.releases.releases import release
from kcheck.core.tiered.regular_deletion import LocalSegment, RegularDeletion, deletion_words, regular_deletion
from kcheck.core.tiered.reports import RemoteReplica
from kcheck.model.entries import EpochEntries, Offset
from kcheck.model.remote_log import MetadataState, RemoteSegment, Retention, SegmentState
from tests.core.tiered.test_reports import NEW, OLD, epochs, log, segment

ACTIVE = (40, 100)
ON_DISK = (*((start, 400) for start in range(0, 40, 5)), ACTIVE)
ONE = epochs((0, 0))
RELEASES = ("3.6", "3.7", "3.8", "3.9", "4.0", "4.3")


def taken(
    rows: Iterable[RemoteSegment],
    kafka: str = "4.3",
    *,
    limit: int | None = 2000,
    local: Sequence[tuple[int, int]] = (ACTIVE,),
    entries: EpochEntries = ONE,
    start: int = 0,
) -> tuple[int, int | None]:
    """Return the log start after retention, at least and at most."""
    remote = log(*rows)._replace(retention=Retention(-1, limit))
    replica = RemoteReplica(Offset(start), Offset(local[0][0]), entries, Offset(45))
    found = regular_deletion(remote, replica, [LocalSegment(*row) for row in local], release(kafka))
    assert found is not None
    return found.least, found.most


@pytest.mark.parametrize("kafka", RELEASES)
def test_a_log_with_one_segment_on_disk(kafka: str) -> None:
    """Eight segments of 400 bytes and 100 on disk are 1300 too many: three go."""
    assert taken(OLD, kafka) == (15, 15)
    assert taken(OLD, kafka, limit=3300) == (0, 0)
    assert taken(OLD, kafka, limit=2900) == (5, 5)
    assert taken(OLD, kafka, limit=2901) == (0, 0)
    assert taken(OLD, kafka, limit=-1) == (0, 0)
    assert taken(OLD, kafka, limit=None) == (0, None)


@pytest.mark.parametrize(("kafka", "most"), [("3.6", 40), ("3.7", 15), ("3.8", 15), ("3.9", 40), ("4.3", 40)])
def test_segments_in_both_places(kafka: str, most: int) -> None:
    """3.7 and 3.8 count them once; the others may count them twice in the first pass."""
    assert taken(OLD, kafka, local=ON_DISK) == (15, most)


@pytest.mark.parametrize("kafka", ["3.7", "4.3"])
def test_segments_that_are_not_copied(kafka: str) -> None:
    """A leader copies them first, then they may go; a store that fails keeps them."""
    assert taken(OLD[:4], kafka, local=ON_DISK[4:]) == (15, 15)
    assert taken(OLD[:4], kafka, local=ON_DISK[4:], limit=900) == (20, 30)
    assert taken(OLD[:4], kafka, local=ON_DISK[4:], limit=0) == (20, 40)


@pytest.mark.parametrize(("kafka", "spans"), [("3.8", (10, 20)), ("4.0", (10, 15)), ("4.3", (10, 15))])
def test_a_deletion_under_way(kafka: str, spans: tuple[int, int]) -> None:
    """Before 4.0 the size of such a segment counts."""
    going = OLD[0]._replace(state=SegmentState.DELETE_STARTED)
    gone = segment(0, 5, (0, 0), state=SegmentState.DELETE_FINISHED)
    unknown = RemoteSegment("x", SegmentState.DELETE_STARTED)
    assert taken((gone, unknown, going, *OLD[1:]), kafka) == spans


@pytest.mark.parametrize(("kafka", "most"), [("3.7", 20), ("3.8", 15), ("4.3", 15)])
def test_a_copy_that_never_ended(kafka: str, most: int) -> None:
    """Before 3.8 the size of such a segment counts."""
    started = OLD[0]._replace(segment_id="tried", state=SegmentState.COPY_STARTED)
    assert taken((started, *OLD), kafka) == (10, most)


def test_two_segments_with_the_same_offsets() -> None:
    """A broker may have replaced the first one: then it neither counts nor goes."""
    assert taken((OLD[0], OLD[0]._replace(segment_id="again"), *OLD[1:])) == (10, 20)


@pytest.mark.parametrize(("kafka", "after"), [("3.6", 12), ("3.7", 25), ("4.3", 25)])
def test_segments_below_the_log_start(kafka: str, after: int) -> None:
    """They go, and their size counts once more; 3.6 counts no segment with offsets below the log start."""
    assert taken(OLD, kafka, entries=epochs((0, 12)), start=12) == (after, after)


def test_segments_below_the_log_start_of_later_epochs() -> None:
    """The size of such a segment is taken off as it goes."""
    rows = (*OLD[:2], *(segment(start, start + 5, (1, start)) for start in range(10, 40, 5)))
    assert taken(rows, entries=epochs((0, 0), (1, 10)), start=17) == (25, 25)
    remote = log(*rows)._replace(retention=Retention(-1, 2000))
    replica = RemoteReplica(Offset(17), Offset(40), epochs((0, 0), (1, 10)), Offset(45))
    found = regular_deletion(remote, replica, [LocalSegment(Offset(40), 100)], release("4.3"))
    assert found is not None
    assert found.below == 3


def test_other_lineages() -> None:
    """Segments that an unclean election left behind neither count nor go."""
    leader = epochs((0, 0), (1, 24), (2, 24))
    assert taken((*OLD[:4], *NEW), entries=leader) == (15, 15)
    others = (
        segment(0, 5, (5, 0)),
        segment(0, 5, (1, 0)),
        segment(0, 5, (0, 0), (2, 3)),
        segment(20, 25, (0, 20)),
        segment(20, 25, (2, 20)),
        segment(43, 46, (2, 43)),
        segment(0, 5),
    )
    assert taken((*OLD[:4], *others, *NEW), entries=leader) == (15, 15)
    assert taken((*OLD[:4], *NEW), "3.6", entries=leader) == (15, 15)


@pytest.mark.parametrize(("kafka", "after"), [("3.6", 24), ("3.7", 25)])
def test_a_segment_of_two_epochs_at_the_log_start(kafka: str, after: int) -> None:
    """The log starts in it, with the second one."""
    assert taken(NEW, kafka, entries=epochs((2, 24)), start=24, limit=1300) == (after, after)


@pytest.mark.parametrize(("ms", "first", "last"), [(1000, 1007, 1009), (0, 7, 9), (-1, None, None), (None, None, None)])
def test_the_times_at_which_segments_expire(ms: int | None, first: int | None, last: int | None) -> None:
    """Nothing goes before the first segment has expired, and all are gone after the last one."""
    rows = [row._replace(newest_ms=at) for row, at in zip(OLD, (1, 7, 9, 8), strict=False)]
    remote = log(*rows)._replace(retention=Retention(ms, -1))
    replica = RemoteReplica(Offset(5), Offset(20), epochs((0, 5)), Offset(45))
    found = regular_deletion(remote, replica, [LocalSegment(Offset(20), 100)], release("4.3"))
    assert found is not None
    assert (found.first_ms, found.last_ms, found.is_dated) == (first, last, ms is not None)
    assert found.takes_nothing is (ms == -1)
    undated = log(OLD[0])._replace(retention=Retention(5, -1))
    found = regular_deletion(
        undated, replica._replace(log_start=Offset(0)), [LocalSegment(Offset(20), 1)], release("4.3")
    )
    assert found is not None
    assert found.first_ms == 4
    old = log(OLD[0])._replace(retention=Retention(5, -1))
    found = regular_deletion(old, replica, [LocalSegment(Offset(20), 1)], release("4.3"))
    assert found is not None
    assert found.first_ms is None


@pytest.mark.parametrize(("limit", "start"), [(None, None), (-1, 0), (900, 30), (901, 25), (0, 40), (4000, 0)])
def test_segments_on_disk(limit: int | None, start: int | None) -> None:
    """What is in remote storage leaves the disk up to local.retention.bytes; the active segment stays at first."""
    remote = log(*OLD)._replace(retention=Retention(-1, -1, limit))
    replica = RemoteReplica(Offset(0), Offset(0), ONE, Offset(45))
    found = regular_deletion(remote, replica, [LocalSegment(*row) for row in ON_DISK], release("4.3"))
    assert found is not None
    assert found.local_most == start


@pytest.mark.parametrize(
    ("kept_ms", "segments", "first_ms"),
    [(50, ON_DISK, 57), (50, ON_DISK[:1], None), (-1, ON_DISK, None), (None, ON_DISK, None), (900, ON_DISK, None)],
)
def test_the_age_of_segments_on_disk(
    kept_ms: int | None, segments: Sequence[tuple[int, int]], first_ms: int | None
) -> None:
    """The newest record of the first segment decides; retention.ms, if as long, deletes the remote copy too."""
    remote = log(*(row._replace(newest_ms=7) for row in OLD))._replace(retention=Retention(900, -1, -1, kept_ms))
    replica = RemoteReplica(Offset(0), Offset(0), ONE, Offset(45))
    found = regular_deletion(remote, replica, [LocalSegment(*row) for row in segments], release("4.3"))
    assert found is not None
    assert found.local_first_ms == first_ms


def test_what_is_not_known() -> None:
    local = [LocalSegment(Offset(40), 100)]
    replica = RemoteReplica(Offset(0), Offset(40), ONE, Offset(45))
    assert regular_deletion(log(state=MetadataState.NOT_GIVEN), replica, local, release("4.3")) is None
    assert regular_deletion(log(*OLD), replica._replace(epochs=()), local, release("4.3")) is None
    assert regular_deletion(log(*OLD), replica, [], release("4.3")) is None


@pytest.mark.parametrize(
    ("least", "most", "words"),
    [(0, None, "?"), (0, 0, "-"), (5, 5, "0-4"), (0, 5, "at most 0-4"), (5, 10, "0-4, at most 0-9")],
)
def test_the_words(least: int, most: int | None, words: str) -> None:
    found = RegularDeletion(Offset(0), Offset(least), None if most is None else Offset(most))
    assert deletion_words(found) == words
