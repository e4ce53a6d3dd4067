"""Counts the records and bytes in a range of offsets, from batch headers."""

from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from typing import NamedTuple

from kcheck.core.replication.lineage import Lineage, lineage_of_batches
from kcheck.core.replication.truncation_plans import CutPosition, OffsetRange
from kcheck.model.entries import Batch, Offset
from kcheck.model.source import Source
from kcheck.model.unreadable import UnreadableError
from kcheck.records.record import BODY_SIZE_MAX, Record, read_records
from kcheck.replicas.replica import LogFile, logs_from
from kcheck.segments.batches import Walk

_WRAPPERS_SIZE_MAX = 64 << 20
"""kcheck decompresses no more bytes of wrappers to count their messages."""
_FETCH_SIZE = 1_048_576
"""The default of `replica.fetch.max.bytes`."""


class Amount(NamedTuple):
    """Records and bytes; records are None if a wrapper is corrupt, or if there are too many wrappers."""

    records: int | None
    bytes: int | None


def batches_of(logs: tuple[LogFile, ...]) -> Iterator[Batch]:
    """Yield every batch of a log in order; UnreadableError if a segment cannot be read."""
    return (batch for _, batch in open_batches(logs))


def open_batches(logs: tuple[LogFile, ...]) -> Iterator[tuple[Source, Batch]]:
    """Yield every batch of a log in order, with its open file; UnreadableError if a segment cannot be read."""
    for log in logs:
        with log.open() as source:
            yield from ((source, batch) for batch in Walk(source, log.size))


class _Walked(NamedTuple):
    """The facts in the batch headers of a log."""

    lineage: Lineage
    holes: tuple[OffsetRange, ...]
    """The offsets between segments of a log in which no other offset is missing."""


@lru_cache(maxsize=16)
def _walked(logs: tuple[LogFile, ...]) -> _Walked:
    """Read every batch header once."""
    holes: list[OffsetRange] = []
    is_dense = True

    def batches() -> Iterator[Batch]:
        nonlocal is_dense
        end: Offset | None = None
        for log in logs:
            if end is not None and end < log.base_offset:
                holes.append(OffsetRange(end, log.base_offset))
                end = log.base_offset
            for batch in batches_of((log,)):
                count = batch.last_offset + 1 - batch.base_offset
                is_dense = is_dense and end in (None, batch.base_offset) and batch.record_count == count
                end = Offset(batch.last_offset + 1)
                yield batch

    runs = lineage_of_batches(batches())
    return _Walked(runs, tuple(holes) if is_dense else ())


def lineage(logs: tuple[LogFile, ...]) -> Lineage:
    """Return which epoch wrote which offsets, from every batch header; each log is read once."""
    return _walked(logs).lineage


def holes(logs: tuple[LogFile, ...]) -> tuple[OffsetRange, ...]:
    """Return the offsets of removed segments between others.

    Compaction leaves gaps too, also within segments. Then the result is empty, as nothing shows a removed segment.
    """
    return _walked(logs).holes if len(logs) > 1 else ()


def seen_holes(logs: tuple[LogFile, ...]) -> tuple[OffsetRange, ...]:
    """Return these offsets for a picture; empty if the log cannot be read."""
    with suppress(UnreadableError):
        return holes(logs)
    return ()


def amount(logs: tuple[LogFile, ...], start: Offset, end: Offset) -> Amount:
    """Return the amount in offsets `[start, end)`; the record count is exact unless compaction has removed records."""
    records: int | None = 0
    size = wrapped = 0
    for log in logs_from(logs, start):
        with log.open() as source:
            for batch in Walk(source, log.size):
                if batch.last_offset < start:
                    continue
                first, count = batch.base_offset, None
                if batch.record_count is not None:
                    count = _records(batch, start, end)
                elif wrapped + batch.size <= _WRAPPERS_SIZE_MAX:
                    wrapped += batch.size
                    offsets = wrapped_offsets(source, batch)
                    first, count = (
                        (offsets[0], sum(start <= offset < end for offset in offsets)) if offsets else (first, None)
                    )
                if first >= end:
                    return Amount(records, size)
                size += batch.size
                records = None if records is None or count is None else records + count
    return Amount(records, size)


def wrapped_offsets(source: Source, batch: Batch) -> list[Offset]:
    """Return the offsets of the messages in a compressed wrapper; empty if it is corrupt or was truncated."""
    offsets = [Offset(message.offset) for message in wrapped_messages(source, batch)]
    return offsets if offsets[-1:] == [batch.last_offset] else []


def wrapped_messages(source: Source, batch: Batch) -> list[Record]:
    """Return the messages in a compressed wrapper; empty if it is corrupt or was truncated."""
    data = source.pread(batch.size, batch.position)
    read = [*read_records(data, BODY_SIZE_MAX)] if len(data) == batch.size else []
    messages = [message for message in read if isinstance(message, Record)]
    return messages if len(messages) == len(read) else []


def cut_at(logs: tuple[LogFile, ...], offset: Offset) -> CutPosition | None:
    """Return the place of a truncation to `offset`, which is the first batch that ends at `offset` or higher."""
    searched = logs_from(logs, offset)
    end = searched[0].base_offset if searched else Offset(0)
    for log in searched:
        with log.open() as source:
            for batch in Walk(source, log.size):
                if batch.last_offset >= offset:
                    inner = wrapped_offsets(source, batch) if batch.record_count is None else []
                    base = inner[0] if inner else batch.base_offset
                    return CutPosition(log.base_offset, batch.position, base, end, of_wrapper=bool(inner))
                end = Offset(batch.last_offset + 1)
    return None


def fetched(logs: tuple[LogFile, ...], offset: Offset) -> Iterator[Lineage]:
    """Yield the batches that a follower's fetches from `offset` on return; a fetch never spans segments.

    UnreadableError if a segment cannot be read. A leader that sends many partitions in one response may send less.
    """
    for log in logs_from(logs, offset):
        batches: list[Batch] = []
        size = 0
        with log.open() as source:
            for batch in Walk(source, log.size):
                if batch.last_offset < offset:
                    continue
                if batches and size + batch.size > _FETCH_SIZE:
                    yield lineage_of_batches(batches)
                    batches, size = [], 0
                batches.append(batch)
                size += batch.size
        if batches:
            yield lineage_of_batches(batches)


def _records(batch: Batch, start: Offset, end: Offset) -> int | None:
    """Return the number of a batch's records in `[start, end)`; None if the header does not say."""
    if start <= batch.base_offset and batch.last_offset < end:
        return batch.record_count
    dense = batch.record_count == batch.last_offset - batch.base_offset + 1
    return min(batch.last_offset + 1, end) - max(batch.base_offset, start) if dense else None
