"""The remote offsets that a leader can read, and the remote segments that it deletes."""

from collections.abc import Iterable, Iterator, Sequence

from kcheck.core.tiered.spans import merged
from kcheck.model.entries import Epoch, EpochEntries, Offset
from kcheck.model.remote_log import MetadataState, RemoteLog, RemoteSegment, SegmentRun, SegmentState, Spans

_NO_END = Offset(1 << 62)
_NO_EPOCH = Epoch(-1)


def remote_log(
    state: MetadataState,
    segments: Sequence[RemoteSegment] = (),
    metadata_partition: int | None = None,
    leader: int | None = None,
    last_ms: int = -1,
) -> RemoteLog:
    """Return a remote log; its segments, by first offset, are looked at once."""
    runs: dict[Epoch | None, list[SegmentRun]] = {}
    copied, unfinished = list[tuple[Offset, Offset]](), list[RemoteSegment]()
    for segment in segments:
        start, end = segment.start_offset, segment.end_offset
        if segment.was_finished and start is not None and end is not None:
            if copied and copied[-1][0] <= start <= copied[-1][1]:
                copied[-1] = (copied[-1][0], max(copied[-1][1], end))
            else:
                copied.append((start, end))
        if segment.is_finished:
            _add(runs, segment)
        elif not (segment.was_finished and segment.state is SegmentState.DELETE_FINISHED):
            unfinished.append(segment)
    rows = tuple(sorted(run for same in runs.values() for run in same))
    return RemoteLog(state, segments, metadata_partition, leader, last_ms, rows, merged(copied), tuple(unfinished))


def _add(runs: dict[Epoch | None, list[SegmentRun]], segment: RemoteSegment) -> None:
    """Add a finished segment to the run that it continues, or as a new one."""
    start, end, size = segment.start_offset, segment.end_offset, segment.size or 0
    assert start is not None
    assert end is not None
    epoch = segment.epochs[0].epoch if len(segment.epochs) == 1 else None
    same = runs.setdefault(epoch, [])
    if same and epoch is not None and same[-1].end_offset == start:
        last = same[-1]
        same[-1] = last._replace(end_offset=end, segments=last.segments + 1, size=last.size + size)
    else:
        same.append(SegmentRun(start, end, segment.epochs, 1, size))


def readable(runs: Iterable[SegmentRun], epochs: EpochEntries) -> Spans:
    """Return the remote offsets that a leader with these epochs serves.

    It looks an offset up by its own epoch there. So a segment serves an offset if it has the same epoch at that offset
    (RemoteLogManager.fetchRemoteLogSegmentMetadata 3.6 to 4.3.1).
    """
    return merged(span for spans in readable_by_epoch(runs, epochs).values() for span in spans)


def readable_by_epoch(runs: Iterable[SegmentRun], epochs: EpochEntries) -> dict[Epoch, Spans]:
    """Return the remote offsets that a leader with these epochs serves, by the epoch of their records."""
    ranges = epochs_by_offset(epochs)
    shared: dict[Epoch, list[tuple[Offset, Offset]]] = {}
    for run in runs:
        for epoch, first, until in epoch_ranges(run):
            start, end = ranges.get(epoch, (_NO_END, _NO_END))
            shared.setdefault(epoch, []).append((max(first, start), min(until, end)))
    return {epoch: merged(spans) for epoch, spans in shared.items()}


def epochs_by_offset(epochs: EpochEntries) -> dict[Epoch, tuple[Offset, Offset]]:
    """Return the offsets of each epoch of a log, the last one without an end."""
    starts = (*(entry.start_offset for entry in epochs), _NO_END)
    return {entry.epoch: (entry.start_offset, starts[at + 1]) for at, entry in enumerate(epochs)}


def epoch_ranges(run: SegmentRun) -> Iterator[tuple[Epoch, Offset, Offset]]:
    """Yield the epochs of segments, each with its offsets `[start, end)` in them."""
    starts = [max(entry.start_offset, run.start_offset) for entry in run.epochs]
    for entry, start, end in zip(run.epochs, starts, (*starts[1:], run.end_offset), strict=True):
        yield entry.epoch, start, min(end, run.end_offset)


def deleted_by_leading(runs: Iterable[SegmentRun], epochs: EpochEntries) -> tuple[SegmentRun, ...]:
    """Return the segments that a leader with these epochs deletes at most.

    RLMExpirationTask.deleteLogSegmentsDueToLeaderEpochCacheTruncation 3.6 to 4.3.1 deletes a segment if ALL of its
    epochs are below the first epoch of the file. An empty file gets the epoch of the election first. A segment is not
    deleted if a later segment with the same start and epoch replaced it.
    """
    first = epochs[0].epoch if epochs else None
    return tuple(run for run in runs if all(first is None or entry.epoch < first for entry in run.epochs))


def remote_end(runs: Iterable[SegmentRun], epochs: EpochEntries) -> Offset:
    """Return the offset after the newest remote record of a log with these epochs; 0 without one.

    The last epoch has no end, and newer ones can follow. An unclean election leaves records of an earlier epoch beyond
    the end of that epoch. These are of another lineage.
    """
    ranges = epochs_by_offset(epochs)
    newest = max(ranges, default=_NO_EPOCH)
    ends = [Offset(0)]
    for run in runs:
        for epoch, first, until in epoch_ranges(run):
            start, end = ranges.get(epoch, (_NO_END, _NO_END) if epoch < newest else (first, _NO_END))
            if max(first, start) < min(until, end):
                ends.append(min(until, end))
    return max(ends)


def offsets_of(runs: Iterable[SegmentRun]) -> Spans:
    """Return the offsets of segments."""
    return merged((run.start_offset, run.end_offset) for run in runs)
