"""Which remote offsets a leader can read, and which remote segments it deletes."""

from collections.abc import Iterable, Iterator

from kcheck.core.tiered.spans import merged
from kcheck.model.entries import Epoch, EpochEntries, Offset
from kcheck.model.remote_log import RemoteSegment, Spans

_NO_END = Offset(1 << 62)


def readable(segments: Iterable[RemoteSegment], epochs: EpochEntries) -> Spans:
    """Return the remote offsets that a leader with these epochs serves.

    It looks an offset up by its own epoch there, so a segment serves an offset if it has the same epoch at that offset
    (RemoteLogManager.fetchRemoteLogSegmentMetadata 3.6 to 4.3.1).
    """
    starts = (*(entry.start_offset for entry in epochs), _NO_END)
    ranges = {entry.epoch: (entry.start_offset, starts[at + 1]) for at, entry in enumerate(epochs)}
    return merged(_shared(segments, ranges))


def _shared(
    segments: Iterable[RemoteSegment], ranges: dict[Epoch, tuple[Offset, Offset]]
) -> Iterator[tuple[Offset, Offset]]:
    for segment in segments:
        for epoch, first, until in epoch_ranges(segment):
            start, end = ranges.get(epoch, (_NO_END, _NO_END))
            yield max(first, start), min(until, end)


def epoch_ranges(segment: RemoteSegment) -> Iterator[tuple[Epoch, Offset, Offset]]:
    """Yield the epochs of a segment, each with its offsets `[start, end)` in the segment."""
    if segment.start_offset is None or segment.end_offset is None:
        return
    starts = [max(entry.start_offset, segment.start_offset) for entry in segment.epochs]
    for entry, start, end in zip(segment.epochs, starts, (*starts[1:], segment.end_offset), strict=True):
        yield entry.epoch, start, min(end, segment.end_offset)


def deleted_by_leading(segments: Iterable[RemoteSegment], epochs: EpochEntries) -> tuple[RemoteSegment, ...]:
    """Return the finished segments that a leader with these epochs deletes at most.

    RLMExpirationTask.deleteLogSegmentsDueToLeaderEpochCacheTruncation 3.6 to 4.3.1: those ALL of whose epochs are below
    the first one of its file. An empty file gets the epoch of the election first. A segment that a later one with the
    same start and epoch replaced is not deleted.
    """
    first = epochs[0].epoch if epochs else None
    return tuple(
        segment
        for segment in segments
        if segment.is_finished and all(first is None or entry.epoch < first for entry in segment.epochs)
    )


def offsets_of(segments: Iterable[RemoteSegment]) -> Spans:
    """Return the offsets of segments."""
    known = (segment[2:4] for segment in segments)
    return merged((start, end) for start, end in known if start is not None and end is not None)
