"""Finds the faults of a log for its readers, which are corrupt batches, and offsets without a batch.

After a clean shutdown a starting broker reads only the end of the last segment. Consumers and followers read
everything. A batch with a wrong CRC ends their fetch (DefaultRecordBatch.ensureValid 0.11 to 4.3.1, earlier
LegacyRecord.ensureValid).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from kcheck.model.entries import RELATIVE_OFFSET_MAX, Batch, Offset
from kcheck.model.loss import BatchFaults, BatchIdentity, DatedRecords, UnreadableRecords
from kcheck.model.source import Files, Source
from kcheck.model.unreadable import UnreadableError
from kcheck.records.batch import HEADER, batch_at, entry_size, is_modern
from kcheck.segments.aborted_lookups import AbortedLookups
from kcheck.segments.batches import Walk
from kcheck.segments.gaps import Between
from kcheck.segments.index_dates import last_entry
from kcheck.segments.index_lookups import unfound

_NEWEST_MAGIC = 2
_GAPS_MAX = 3
"""More gaps within segments are the work of a log cleaner, or of a replica that copied a cleaned log."""


class LoadedSegment(NamedTuple):
    """A segment after its broker has started."""

    base: Offset
    """Its base offset."""
    name: str
    """The name of its file."""
    size: int
    """Number of its bytes that count."""
    is_indexed: bool = True
    """True if the broker does not change its indexes when it starts."""


def batch_faults(
    files: Files, segments: Sequence[LoadedSegment], start: Offset, end: Offset, fits: Callable[[int], bool]
) -> BatchFaults:
    """Return the faults of a log from `start` to `end`, up to a segment whose size does not fit.

    A gap before the first batch is apart, because a log cleaner leaves one, too. UnreadableError if a segment cannot be
    read.
    """
    unreadable, between, within, foreign = list[UnreadableRecords](), list[Between](), list[Between](), list[Between]()
    dates, skipped, unlisted = list[DatedRecords](), list[Between](), list[Between]()
    transactions = AbortedLookups()
    read, first_batch = list[Batch](), None
    is_dense, is_complete = True, True
    expected, why = segments[0].base if segments else start, None
    for segment in segments:
        if why is None:
            if expected < segment.base:
                between.append((expected, segment.base))
            expected = max(expected, segment.base)
        with files.open(segment.name) as source:
            is_complete = fits(min(segment.size, source.size))
            if not is_complete:
                first_batch = first_batch or _first_of(source, segment)
                break
            dated, newest, before, read = _dated(files, segment), 0, read, list[Batch]()
            foreign += _overlap(source, segment, before)
            for batch, wrong in _judged(source, segment):
                if batch is not None and _contradicts(batch, *dated):
                    foreign.append((segment.base, Offset(batch.last_offset + 1)))
                fault = wrong or _misplaced(batch, segment.base, expected)
                if batch is None or fault is not None:
                    why = why or fault
                    continue
                if why is not None:
                    unreadable.append(UnreadableRecords(expected, batch.base_offset, why))
                    why = None
                elif expected < batch.base_offset and batch.record_count is not None:
                    within.append((expected, batch.base_offset))
                first_batch = first_batch or identity_of(batch)
                newest = max(newest, batch.max_timestamp or 0)
                read.append(batch)
                is_dense = is_dense and batch.record_count in (None, batch.last_offset + 1 - batch.base_offset)
                expected = Offset(batch.last_offset + 1)
            aborted = transactions.unlisted(files, source, segment.base, read)
            if why is None and segment.is_indexed:
                unlisted += aborted
                skipped += unfound(files, segment.base, read)
                if 0 < dated[0] < newest:
                    dates.append(DatedRecords(segment.base, expected, dated[0], newest))
    tail = why if why is not None and is_complete and expected >= end else None
    if why is not None and is_complete:
        unreadable.append(UnreadableRecords(expected, end, why))
    head = within.pop(0) if within and within[0][0] == segments[0].base else None
    seen = (one._replace(end=min(one.end, end)) for one in unreadable)
    gaps = sorted((*between, *within)) if is_dense and len(within) <= _GAPS_MAX else []
    missing = ((first, min(until, end)) for first, until in gaps if until > start and first < end)
    return BatchFaults(
        tuple(one for one in seen if start < one.end and one.start < one.end),
        tuple(missing),
        tuple((max(first, start), until) for first, until in foreign if until > start),
        is_complete,
        tuple(one._replace(start=max(one.start, start)) for one in dates if one.end > start),
        tuple((max(first, start), until) for first, until in skipped if until > start),
        first_batch,
        None if head is None or not is_dense or head[1] <= start else (max(head[0], start), head[1]),
        tail,
        identity_of(read[0]) if read and is_complete else None,
        tuple((max(first, start), until) for first, until in unlisted if until > start),
    )


def first_identity(files: Files, segments: Iterable[LoadedSegment]) -> BatchIdentity | None:
    """Return `first` of the faults of a log; None without a batch of magic 2. UnreadableError as `batch_faults`."""
    for segment in segments:
        with files.open(segment.name) as source:
            first = _first_of(source, segment)
        if first is not None:
            return first
    return None


def _first_of(source: Source, segment: LoadedSegment) -> BatchIdentity | None:
    first = next(iter(Walk(source, min(segment.size, source.size))), None)
    return None if first is None else identity_of(first)


def identity_of(batch: Batch) -> BatchIdentity | None:
    """Return a value by which a batch of magic 2 differs from others; its CRC does not contain its offsets."""
    if not is_modern(batch.magic) or batch.epoch is None:
        return None
    return batch.base_offset, batch.last_offset, batch.crc, batch.epoch


def _overlap(source: Source, segment: LoadedSegment, before: Sequence[Batch]) -> Iterator[Between]:
    """Yield the offsets of the segment before, with the batches `before`, if this segment has others in their place.

    A broker reads an offset from the last segment that begins at or below it (LogSegments.floorSegment). An earlier
    batch is read before this segment.
    """
    if before and before[-1].last_offset >= segment.base:
        first = next(iter(Walk(source, min(segment.size, source.size))), None)
        same = {batch.base_offset: batch.crc for batch in before}
        if first is None or same.get(first.base_offset) == first.crc:
            return
        if first.base_offset <= before[-1].last_offset or before[-1].base_offset >= segment.base:
            yield before[0].base_offset, Offset(before[-1].last_offset + 1)


def _dated(files: Files, segment: LoadedSegment) -> tuple[int, Offset]:
    """Return the last entry of the time index of a segment; a timestamp of zero without a valid one."""
    try:
        return last_entry(files, segment.base) if segment.is_indexed else (0, segment.base)
    except UnreadableError:
        return 0, segment.base


def _contradicts(batch: Batch, timestamp: int, offset: Offset) -> bool:
    """Return whether an entry of a time index names a batch that is older (TimeIndex.maybeAppend 0.10.1 to 4.3.1).

    Where the batch is newer, retention takes the segment for old (`older_date`). Up to 0.10.2 a leader indexed
    timestamps that it removed from messages of magic 0.
    """
    names_it = timestamp > 0 and batch.base_offset <= offset <= batch.last_offset
    return names_it and batch.magic > 0 and (batch.max_timestamp or 0) < timestamp


def _judged(source: Source, segment: LoadedSegment) -> Iterator[tuple[Batch | None, str | None]]:
    """Yield each batch with the fault of its bytes; None as batch if the rest of the file is unreadable."""
    position, size = 0, min(segment.size, source.size)
    while True:
        walk = Walk(source, size, position=position, verify=True)
        for batch in walk:
            yield batch, None if batch.magic <= _NEWEST_MAGIC else f"magic {batch.magic} is not known"
        if walk.position >= size:
            return
        header = source.pread(min(HEADER.size, size - walk.position), walk.position)
        is_there = len(header) == min(HEADER.size, size - walk.position)
        total = entry_size(header, 0, remaining=size - walk.position) if is_there else None
        corrupt = None if total is None or total <= 0 else batch_at(header, 0, position=walk.position, total=total)
        yield corrupt, walk.corrupt or "it is incomplete"
        if corrupt is None:
            return
        position = walk.position + corrupt.size


def _misplaced(batch: Batch | None, base: Offset, expected: Offset) -> str | None:
    """Return why a batch cannot be where it is; None if it can. The first offset of a wrapper is not in its header."""
    if batch is None or not is_modern(batch.magic):
        return None
    if batch.base_offset < expected:
        return f"its offset {batch.base_offset} is not above the offset of the previous batch"
    if batch.last_offset < batch.base_offset or batch.last_offset - base > RELATIVE_OFFSET_MAX:
        return f"its offsets {batch.base_offset}-{batch.last_offset} are not possible there"
    return None
