"""The leader epochs that a store gives back to a log."""

import pytest

from kcheck.core.tiered.histories import last_segments, restored_history, restored_log_start, state_segment
from kcheck.core.tiered.reading import remote_log
from kcheck.model.entries import Epoch, EpochEntries, EpochEntry, Offset
from kcheck.model.remote_log import MetadataState, RemoteSegment, SegmentState

OLD, NEW = ((0, 0),), ((0, 0), (2, 24))


def epochs(rows: tuple[tuple[int, int], ...]) -> EpochEntries:
    """Return entries of epochs and offsets."""
    return tuple(EpochEntry(Epoch(epoch), Offset(start)) for epoch, start in rows)


@pytest.mark.parametrize(
    ("indexes", "stated", "batches", "wanted"),
    [
        ((OLD, NEW), ((2, 24),), ((2, 40),), NEW),  # the old lineage has epoch 0 at 24
        ((OLD, NEW), (), ((2, 40),), NEW),  # of its own epoch
        ((OLD,), (), ((3, 40),), (*OLD, (3, 40))),  # the epoch changed where the local log begins
        ((OLD, ((0, 0), (1, 30))), (), ((3, 40),), None),  # nothing says which lineage it has
        ((NEW,), (), ((1, 40),), None),
        ((NEW,), (), (), NEW),
        ((((0, 40),),), (), (), None),  # nothing below
        ((), (), ((2, 40),), None),
    ],
)
def test_the_history_of_a_log(
    indexes: tuple[tuple[tuple[int, int], ...], ...],
    stated: tuple[tuple[int, int], ...],
    batches: tuple[tuple[int, int], ...],
    wanted: tuple[tuple[int, int], ...] | None,
) -> None:
    restored = restored_history(map(epochs, indexes), Offset(40), stated=epochs(stated), batches=epochs(batches))
    assert restored == (None if wanted is None else epochs(wanted))


def segment(start: int, end: int, state: SegmentState = SegmentState.COPY_FINISHED) -> RemoteSegment:
    """Return a segment of epoch 0."""
    first = Offset(start)
    return RemoteSegment(f"{start}", state, first, Offset(end), 1, (EpochEntry(Epoch(0), first),), was_finished=True)


def test_the_segments_before_the_local_ones() -> None:
    """Finished ones with the offset before the first local one; a log start is what the store has at least."""
    rows = [segment(5, 10), segment(10, 20, SegmentState.DELETE_STARTED), segment(11, 20), segment(20, 25)]
    log = remote_log(MetadataState.READ, [*rows, RemoteSegment("gone", SegmentState.COPY_FINISHED)])
    assert [row.segment_id for row in last_segments(log, Offset(20))] == ["11"]
    assert [restored_log_start(log, epochs(entries), Offset(20)) for entries in (((0, 0),), ((0, 12),), ((1, 0),))] == [
        5,
        12,
        20,
    ]


@pytest.mark.parametrize(
    ("local_start", "own", "segment_id"),
    [
        (40, ((0, 0), (2, 24)), "again"),  # the copy that was written last
        (40, ((0, 0), (1, 24)), None),  # another lineage
        (40, ((2, 50),), None),  # the leader has no epoch there
        (45, ((0, 0), (2, 24)), None),  # a gap
        (20, ((0, 0), (2, 24)), "old"),
    ],
)
def test_the_segment_that_an_empty_follower_needs(
    local_start: int, own: tuple[tuple[int, int], ...], segment_id: str | None
) -> None:
    rows = [("old", 10, 20, ((0, 0),)), ("first", 30, 40, ((2, 24),)), ("again", 30, 40, ((2, 24),))]
    log = remote_log(
        MetadataState.READ,
        [
            RemoteSegment(name, SegmentState.COPY_FINISHED, Offset(start), Offset(end), 1, epochs(history))
            for name, start, end, history in rows
        ],
    )
    found = state_segment(log, Offset(local_start), epochs(own))
    assert (None if found is None else found.segment_id) == segment_id
