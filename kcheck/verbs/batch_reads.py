"""Reads the batches of loaded logs, as consumers and followers read more of them than a starting broker."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from itertools import pairwise

from kcheck.core.start.predictions import LoadedLog, LogDirPrediction, PartitionPrediction
from kcheck.core.start.startup import NOT_SERVED, Outcome
from kcheck.disk.directory import Directory
from kcheck.disk.paths import join
from kcheck.disk.tree import Tree
from kcheck.model.entries import Offset
from kcheck.model.loss import BatchFaults
from kcheck.model.names import FileKind, log_name, segment_prefix
from kcheck.model.segments import End, SegmentView
from kcheck.model.source import Files
from kcheck.model.unreadable import UnreadableError
from kcheck.segments.batch_faults import LoadedSegment, batch_faults, first_identity
from kcheck.verbs.log_facts import looks_into_segments
from kcheck.views.targets import Target

READ_SIZE_MAX = 16 << 20
"""kcheck reads at most this much of the logs of one broker for this."""
SEGMENT_COUNT_MAX = 1000
"""And at most so many segments."""
_FEW = 4
"""Segments of a log whose directory is not worth opening."""
_ANY_SIZE = 1 << 62
_NOT_LOADED = (Outcome.ABORT, Outcome.OFFLINE, Outcome.UNKNOWN)


class ReadBudget:
    """The remaining amount to read of a broker's logs."""

    def __init__(self) -> None:
        """Begin with all of it."""
        self._size, self._segments = READ_SIZE_MAX, SEGMENT_COUNT_MAX

    def takes(self, size: int) -> bool:
        """Count one more segment; False if it is too much."""
        if size > self._size or not self._segments:
            return False
        self._size -= size
        self._segments -= 1
        return True


Budgets = defaultdict[object, ReadBudget]
"""The remaining amounts to read, by broker."""


def broker_budgets() -> Budgets:
    """Return the budget of each broker, of which nothing is read yet."""
    return Budgets(ReadBudget)


def with_batches(targets: Iterable[Target], starts: Sequence[LogDirPrediction]) -> list[LogDirPrediction]:
    """Return the starts with the faults of batches, as far as these are read.

    In a store each look is a request, so nothing is read there. Where nothing is loaded, nothing is served.
    """
    budgets = broker_budgets()
    read = []
    for target, start in zip(targets, starts, strict=True):
        rows: Iterable[PartitionPrediction] = start.partitions
        if start.outcome in _NOT_LOADED:
            pass
        elif looks_into_segments(target.tree):
            rows = _rows(target.tree, start, budgets[start.broker])
        else:
            rows = (row._replace(batches=BatchFaults(is_complete=False)) for row in rows)
        read.append(start._replace(partitions=tuple(rows)))
    return read


def _rows(tree: Tree, start: LogDirPrediction, budget: ReadBudget) -> Iterator[PartitionPrediction]:
    for row in start.partitions:
        yield with_faults(tree.directory(join(start.path, row.dir)), row, budget)


def with_faults(files: Files, row: PartitionPrediction, budget: ReadBudget) -> PartitionPrediction:
    """Return the prediction of a replica with the faults of its batches. Without service only the first one is read."""
    log = row.replica_log
    if log is None:
        return row
    segments = [*_segments(row, log)]
    try:
        if row.outcome in NOT_SERVED:
            return row._replace(batches=BatchFaults(is_complete=False, first=first_identity(files, segments)))
        # To open a directory costs as much as to open two files in it by their paths.
        opened = files if isinstance(files, Directory) and len(segments) > _FEW else nullcontext(files)
        with opened as folder:
            faults = batch_faults(folder, segments, log.log_start_offset, log.log_end_offset, budget.takes)
    except UnreadableError:
        return row  # It is a finding of its own.
    return row._replace(batches=faults)


def with_known_faults(
    files: Files, row: PartitionPrediction, segments: Sequence[SegmentView] | None
) -> PartitionPrediction:
    """Return the prediction of a replica with the faults of its batches.

    `segments` are all of its segments, read with their CRCs. Batches are read again only if a segment has a fault.
    """
    log = row.replica_log
    if segments is None or log is None:
        return row
    if any(map(_has_faults, segments)):
        return with_faults(files, row, ReadBudget())
    between = ((one.end_offset, other.base_offset) for one, other in pairwise(segments))
    gaps = ((start, end) for start, end in between if start < end and log.log_start_offset < end)
    try:
        own = [*_segments(row, log)]
        first, newest = first_identity(files, own), first_identity(files, own[-1:])
    except UnreadableError:
        return row  # It is a finding of its own.
    return row._replace(batches=BatchFaults(gaps=tuple(gaps), first=first, newest=newest))


def _has_faults(segment: SegmentView) -> bool:
    is_misled = any(index is not None and index.counts for index in (segment.time_index, segment.offset_index))
    dated = None if segment.time_index is None else segment.time_index.last_timestamp
    is_older = dated is not None and dated < segment.max_timestamp
    is_misled = is_misled or bool(segment.unlisted)
    return bool(segment.faults or segment.holes) or segment.end is not End.WHOLE or is_misled or is_older


def _segments(row: PartitionPrediction, log: LoadedLog) -> Iterator[LoadedSegment]:
    """Yield the segments after the broker has started; its new segments have no batch."""
    for base in map(Offset, log.bases):
        content = row.after.get(log_name(base))
        index = row.after.get(f"{segment_prefix(base)}.{FileKind.TIME_INDEX}")
        is_indexed = index is None or index.is_of_disk
        if content is None:
            yield LoadedSegment(base, log_name(base), _ANY_SIZE, is_indexed)
        elif content.file is not None and content.is_of_disk:
            yield LoadedSegment(base, content.file, content.filled, is_indexed)
