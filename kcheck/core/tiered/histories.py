"""Leader epochs and producer state of a log from the objects of a store."""

from collections.abc import Iterable

from kcheck.core.tiered.reading import epochs_by_offset, readable
from kcheck.core.tiered.spans import within
from kcheck.model.entries import Epoch, EpochEntries, EpochEntry, Offset
from kcheck.model.remote_log import RemoteLog, RemoteSegment


def last_segments(log: RemoteLog, local_start: Offset) -> tuple[RemoteSegment, ...]:
    """Return the finished segments that have the offset before the first local one.

    Each epoch index is the leader-epoch-checkpoint of the leader up to the end of the segment
    (RemoteLogManager.RLMTask.copyLogSegment 3.6 to 4.3.1).
    """
    return tuple(
        row
        for row in log.segments
        if row.is_finished and row.start_offset is not None and row.end_offset is not None
        if row.start_offset < local_start <= row.end_offset
    )


def state_segment(log: RemoteLog, local_start: Offset, epochs: EpochEntries) -> RemoteSegment | None:
    """Return the segment from which a follower of an empty log takes leader epochs and producer state.

    TierStateMachine.buildRemoteLogAuxState 3.6 to 4.3.1 looks up the leader's offset before its first local one, with
    the epoch there. Without a segment the follower fails, and tries again without end.
    """
    last = Offset(local_start - 1)
    own = [row for row in last_segments(log, local_start) if _epoch_at(row.epochs, last) == _epoch_at(epochs, last)]
    return own[-1] if own else None


def _epoch_at(epochs: EpochEntries, offset: Offset) -> Epoch | None:
    return next((entry.epoch for entry in reversed(epochs) if entry.start_offset <= offset), None)


def restored_history(
    indexes: Iterable[EpochEntries], local_start: Offset, *, stated: EpochEntries, batches: EpochEntries
) -> EpochEntries | None:
    """Return the epochs of a remote index below the first local offset, with the epochs of the batches above.

    `stated` are the entries of the local file. File and batches must agree with the index. A leader has one history, so
    an index that ends in the epoch of the first batch is certain. Without a certain index, all must give one history.
    None without an index, or if several differ.
    """
    of_log, of_any = set[EpochEntries](), set[EpochEntries]()
    for index in indexes:
        below = tuple(entry for entry in index if entry.start_offset < local_start)
        if not below:
            continue
        history = (*below, *(entry for entry in batches if entry.epoch > below[-1].epoch))
        if _agree(history, (*stated, *batches)):
            is_of_log = bool(batches) and below[-1].epoch == batches[0].epoch
            (of_log if is_of_log else of_any).add(history)
    histories = of_log or of_any
    return histories.pop() if len(histories) == 1 else None


def _agree(history: EpochEntries, entries: Iterable[EpochEntry]) -> bool:
    """Return True if a history has the epoch of each entry at its offset."""
    ranges = epochs_by_offset(history)
    own = ((entry.start_offset, *ranges.get(entry.epoch, (Offset(0), Offset(0)))) for entry in entries)
    return all(start <= offset < end for offset, start, end in own)


def restored_log_start(log: RemoteLog, history: EpochEntries, local_start: Offset) -> Offset:
    """Return the first offset that these epochs read in remote storage; `local_start` without one."""
    served = within(readable(log.runs, history), history[0].start_offset, local_start)
    return served[0][0] if served else local_start
