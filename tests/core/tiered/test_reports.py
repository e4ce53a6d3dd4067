"""What a leader reads and deletes in remote storage, and what is wrong with the copies."""

from kcheck.core.tiered.reading import deleted_by_leading, epoch_ranges, offsets_of, readable, remote_end, remote_log
from kcheck.core.tiered.reports import (
    STUCK_MS,
    RemoteReplica,
    RemoteReport,
    StuckCopy,
    failing_deletions,
    lost_by_leading,
    remote_report,
    stuck_copy,
    without_record,
)
from kcheck.model.entries import EpochEntries, EpochEntry
from kcheck.model.remote_log import MetadataState, RemoteLog, RemoteSegment, SegmentRun, SegmentState

FINISHED = SegmentState.COPY_FINISHED


def epochs(*entries: tuple[int, int]) -> EpochEntries:
    """Return leader epochs with their start offsets."""
    return tuple(EpochEntry(*entry) for entry in entries)


def segment(start: int, end: int, *entries: tuple[int, int], state: SegmentState = FINISHED) -> RemoteSegment:
    """Return a segment with the offsets `[start, end)`."""
    finished = state is not SegmentState.COPY_STARTED
    return RemoteSegment(f"{start}-{entries}", state, start, end, 400, epochs(*entries), 1, was_finished=finished)


def log(*segments: RemoteSegment, state: MetadataState = MetadataState.READ, last_ms: int = 0) -> RemoteLog:
    """Return a remote log."""
    return remote_log(state, segments, 0, 1, last_ms)


OLD = [segment(start, start + 5, (0, start)) for start in range(0, 40, 5)]
NEW = [segment(20, 25, (0, 20), (2, 24)), *(segment(start, start + 5, (2, start)) for start in range(25, 40, 5))]
"""What an unclean election leaves: two lineages that part at 24."""


def test_what_a_leader_reads() -> None:
    """By the epoch that the offset has in its own file."""
    both = log(*OLD, *NEW).runs
    assert readable(both, epochs((0, 0), (2, 24))) == ((0, 40),)
    assert readable(both, epochs((2, 24))) == ((24, 40),)
    assert readable(log(*OLD).runs, epochs((0, 0), (2, 24))) == ((0, 24),)
    assert readable(both, ()) == ()
    assert list(epoch_ranges(log(NEW[0]).runs[0])) == [(0, 20, 24), (2, 24, 25)]


def test_the_end_of_a_log_in_remote_storage() -> None:
    """The last epoch of a file has no end there; records of an earlier one beyond its end are of another lineage."""
    both, old = log(*OLD, *NEW).runs, log(*OLD).runs
    assert remote_end(old, epochs((0, 0))) == 40
    assert remote_end(old, epochs((0, 0), (2, 24))) == 24
    assert remote_end(both, epochs((0, 0))) == remote_end(both, epochs((1, 20))) == 40
    assert remote_end(old, epochs((3, 50))) == remote_end((), ()) == 0


def test_what_a_leader_deletes() -> None:
    """Segments all of whose epochs are lower than its first one, if their copies are finished."""
    started = segment(40, 45, (0, 40), state=SegmentState.COPY_STARTED)
    (run,) = deleted_by_leading(log(*OLD, *NEW, started).runs, epochs((2, 24)))
    assert run == SegmentRun(0, 40, epochs((0, 0)), 8, 3200)
    assert deleted_by_leading(log(*OLD, started).runs, ()) == (run,)
    assert deleted_by_leading(log(*OLD).runs, epochs((0, 0))) == ()
    assert offsets_of((run,)) == ((0, 40),)


def test_a_remote_log() -> None:
    """Segments of one epoch that follow each other are a run; deleted ones count as copied."""
    gone, failed = segment(0, 5, (0, 0))._replace(state=SegmentState.DELETE_FINISHED), RemoteSegment("a", FINISHED)
    made = log(gone, *OLD[1:3], segment(20, 25, (0, 20)), segment(22, 24, (1, 22)), failed)
    runs = [(run.start_offset, run.end_offset, run.segments) for run in made.runs]
    assert runs == [(5, 15, 2), (20, 25, 1), (22, 24, 1)]
    assert (made.copied, made.unfinished) == (((0, 15), (20, 25)), (failed,))


def test_a_report() -> None:
    """A replica whose epochs begin above its log start; a gap; nothing wrong."""
    shared = log(segment(0, 5, (0, 0)), segment(5, 10, (0, 5), (1, 8)), segment(10, 15, (1, 10)))
    late = remote_report(shared, RemoteReplica(0, 15, epochs((1, 14)), 15))
    assert (late.deleted_offsets, late.unreadable, late.gaps) == (((0, 5),), ((0, 14),), ())
    whole = epochs((0, 0), (1, 8))
    assert remote_report(shared, RemoteReplica(0, 15, whole, 15)) == RemoteReport()
    assert remote_report(shared, RemoteReplica(0, 18, whole, 18)).gaps == ((15, 18),)
    assert remote_report(shared, RemoteReplica(0, 15, (), 15)) == RemoteReport(deleted=shared.runs)


def test_a_report_without_metadata() -> None:
    """Lost metadata is not the same as metadata on brokers that are not given."""
    replica = RemoteReplica(0, 15, epochs((0, 0)), 15)
    for state in (MetadataState.MISSING, MetadataState.SHORT):
        assert remote_report(log(state=state), replica) == RemoteReport(without_metadata=((0, 15),))
    assert remote_report(log(state=MetadataState.NOT_GIVEN), replica) == RemoteReport()


def test_what_is_lost_if_an_old_leader_leads_again() -> None:
    """Its log begins above what it deletes; the offset that both lineages share stays."""
    both = log(*OLD, *NEW)
    old, new = RemoteReplica(24, 40, epochs((2, 24)), 44), RemoteReplica(0, 40, epochs((0, 0), (2, 24)), 44)
    assert lost_by_leading(both, old, [new]) == ((0, 24),)
    assert lost_by_leading(both, new, [old]) == ()
    assert lost_by_leading(both, old._replace(log_start=25), [new._replace(local_start=20)]) == ((0, 25),)
    assert lost_by_leading(log(state=MetadataState.NOT_GIVEN), old, [new]) == ()
    assert lost_by_leading(log(state=MetadataState.MISSING), new, [old]) == ((0, 40),)
    assert lost_by_leading(log(state=MetadataState.SHORT), old._replace(log_start=40), []) == ()
    assert lost_by_leading(both, old, [RemoteReplica(40, 40, epochs((2, 24)), 44)]) == ()


def test_records_of_two_lineages_are_not_the_same() -> None:
    """An old leader that has not followed yet serves epoch 0 at 24 to 39; the new leader has epoch 2 there."""
    old, new = RemoteReplica(0, 40, epochs((0, 0)), 44), RemoteReplica(0, 40, epochs((0, 0), (2, 24)), 42)
    assert lost_by_leading(log(*OLD, *NEW), new, [old]) == ((24, 40),)
    assert lost_by_leading(log(*OLD, *NEW), old, [new]) == ((24, 40),)
    assert lost_by_leading(log(*OLD), new._replace(local_start=20), [old]) == ((24, 40),)
    assert lost_by_leading(log(*OLD), old._replace(local_start=20), [old]) == ()


def test_the_only_replica() -> None:
    """It deletes what its epochs do not cover, and does not serve a gap."""
    rows = log(*OLD[:4])
    assert lost_by_leading(rows, RemoteReplica(0, 20, (), 22), []) == ((0, 20),)
    assert lost_by_leading(rows, RemoteReplica(0, 20, epochs((1, 20)), 22), []) == ((0, 20),)
    assert lost_by_leading(rows, RemoteReplica(0, 25, epochs((0, 0)), 38), []) == ((20, 25),)
    assert lost_by_leading(rows, RemoteReplica(20, 20, epochs((1, 20)), 22), []) == ()


def test_retention_went_on_before_a_crash() -> None:
    """The log start in the checkpoint is a minute old: its segments are deleted, and that is no gap."""
    deleted = [row._replace(state=SegmentState.DELETE_FINISHED) for row in OLD[:2]]
    replica = RemoteReplica(0, 40, epochs((0, 0)), 44)
    assert remote_report(log(*deleted, *OLD[2:]), replica) == RemoteReport()
    middle = OLD[3]._replace(state=SegmentState.DELETE_FINISHED)
    assert remote_report(log(*OLD[:3], middle, *OLD[4:]), replica).gaps == ((15, 20),)


def test_a_log_start_inside_the_first_segment() -> None:
    """DeleteRecords to 7: after a restart a log of 3.6 begins at 0, and offsets 5 and 6 are deleted still."""
    deleted = OLD[0]._replace(state=SegmentState.DELETE_FINISHED)
    rows = log(deleted, *OLD[1:])
    assert remote_report(rows, RemoteReplica(0, 40, epochs((0, 7)), 44)) == RemoteReport()
    assert remote_report(rows, RemoteReplica(0, 40, epochs((0, 12)), 44)).unreadable == ((5, 12),)
    assert remote_report(rows, RemoteReplica(0, 40, epochs((1, 7)), 44)).unreadable == ((5, 7),)
    assert remote_report(log(*OLD), RemoteReplica(0, 40, epochs((0, 7)), 44)).unreadable == ((0, 7),)
    assert remote_report(log(*OLD), RemoteReplica(0, 40, epochs((0, 3)), 44)) == RemoteReport()


def test_hidden_offsets_are_not_lost() -> None:
    """A replica without older epochs deletes only segments of older epochs."""
    rows = log(segment(0, 5, (0, 0)), segment(5, 10, (2, 5)))
    follower, leader = RemoteReplica(0, 10, epochs((2, 9)), 12), RemoteReplica(0, 10, epochs((0, 0), (2, 5)), 12)
    assert lost_by_leading(rows, follower, [leader]) == ((0, 5),)
    assert lost_by_leading(rows, RemoteReplica(0, 0, (), 0), [leader]) == ((0, 10),)


def test_a_stuck_copy() -> None:
    """Five tries, or an hour; not if the segment was copied under another id."""

    def try_at(ms: int, state: SegmentState = SegmentState.COPY_STARTED) -> RemoteSegment:
        return RemoteSegment(f"{ms}", state, 5, 10, 400, first_ms=ms, last_ms=ms)

    tries = [try_at(ms, SegmentState.DELETE_FINISHED) for ms in range(1, 6)]
    assert stuck_copy(log(*tries)) == StuckCopy(5, 5, 1)
    assert stuck_copy(log(*tries[1:])) is None
    assert stuck_copy(log(*tries, segment(5, 10, (0, 5)))) is None
    assert stuck_copy(log(try_at(1), last_ms=STUCK_MS)) is None
    assert stuck_copy(log(try_at(1), last_ms=STUCK_MS + 1)) == StuckCopy(5, 1, 1)


def test_deletions_that_fail() -> None:
    deleting = segment(0, 5, (0, 0), state=SegmentState.DELETE_STARTED)
    again = deleting._replace(deletions=2)
    assert failing_deletions(log(deleting._replace(deletions=1), again, segment(5, 10, (0, 5)))) == (again,)


def test_segments_without_their_first_record() -> None:
    rows = [RemoteSegment("a", FINISHED), RemoteSegment("b", SegmentState.DELETE_FINISHED), segment(0, 5, (0, 0))]
    assert without_record(log(*rows)) == (rows[0],)
