"""Counting what a range of offsets holds, from batch headers."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from kcheck.core.lineage import Lineage, lineage_of_batches
from kcheck.core.truncation_plans import CutPosition
from kcheck.disk.read import opened
from kcheck.model.entries import Batch, Offset
from kcheck.replicas.replica import LogFile
from kcheck.segments.batches import Walk

_FETCH_SIZE = 1_048_576
"""`replica.fetch.max.bytes`, where nobody sets it."""


@dataclass(frozen=True, slots=True)
class Amount:
    """Records and bytes; None where they cannot be known from headers (compressed messages of magic 0 and 1)."""

    records: int | None
    bytes: int | None


def batches_of(logs: tuple[LogFile, ...]) -> Iterator[Batch]:
    """Yield every batch of a log in order; UnreadableError if a segment cannot be read."""
    for log in logs:
        with opened(log.path) as source:
            yield from Walk(source, log.size)


@lru_cache(maxsize=16)
def lineage(logs: tuple[LogFile, ...]) -> Lineage:
    """Return which epoch wrote which offsets, by every batch header of the log; each log is walked once."""
    return lineage_of_batches(batches_of(logs))


def shared(one: tuple[LogFile, ...], other: tuple[LogFile, ...], end: Offset) -> Offset | None:
    """Return the first offset that two logs do not share, `end` where one of them ends; None where that is not known.

    Messages of magic 0 and 1 have no epoch, but a follower has the bytes of its leader: their CRCs tell them apart.
    Those of compressed ones may differ after compaction although the records do not.
    """
    if not (one and other):
        return None
    first = max(one[0].base_offset, other[0].base_offset)
    if first > end:
        return None
    pairs = ((batch for batch in batches_of(logs) if batch.last_offset >= first) for logs in (one, other))
    for a, b in zip(*pairs, strict=False):
        if (a.last_offset, _record(a)) != (b.last_offset, _record(b)):
            differs = a.base_offset == b.base_offset and _record(a) != _record(b)
            return Offset(min(a.base_offset, end)) if differs and None not in (a.record_count, b.record_count) else None
    return end


def _record(batch: Batch) -> tuple[int, int]:
    """Return what two batches of the same offsets have in common only if they are the same."""
    return batch.magic, batch.crc if batch.epoch is None else batch.epoch


def amount(logs: tuple[LogFile, ...], start: Offset, end: Offset) -> Amount:
    """Return what offsets `[start, end)` hold: records exactly where every offset of a batch has its record."""
    records: int | None = 0
    size = 0
    for batch in batches_of(_from(logs, start)):
        if batch.base_offset >= end:
            break
        if batch.last_offset < start:
            continue
        size += batch.size
        count = _records(batch, start, end)
        records = None if records is None or count is None else records + count
    return Amount(records, size)


def cut_at(logs: tuple[LogFile, ...], offset: Offset) -> CutPosition | None:
    """Return where truncation to `offset` cuts: at the first batch whose last offset is not below it."""
    for log in _from(logs, offset):
        with opened(log.path) as source:
            for batch in Walk(source, log.size):
                if batch.last_offset >= offset:
                    return CutPosition(log.base_offset, batch.position, batch.base_offset)
    return None


def fetched(logs: tuple[LogFile, ...], offset: Offset) -> Iterator[Lineage]:
    """Yield what a follower's fetches from `offset` on bring, one after another: each reads one segment, whole batches.

    UnreadableError if a segment cannot be read. A leader that sends many partitions at once may send less of each.
    """
    for log in _from(logs, offset):
        batches: list[Batch] = []
        size = 0
        with opened(log.path) as source:
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


def _from(logs: tuple[LogFile, ...], offset: Offset) -> tuple[LogFile, ...]:
    """Return the segments from the one that may hold `offset` on."""
    below = [number for number, log in enumerate(logs) if log.base_offset <= offset]
    return logs[below[-1] :] if below else logs


def _records(batch: Batch, start: Offset, end: Offset) -> int | None:
    """Return how many records of a batch lie in `[start, end)`, None where the header does not tell."""
    if start <= batch.base_offset and batch.last_offset < end:
        return batch.record_count
    dense = batch.record_count == batch.last_offset - batch.base_offset + 1
    return min(batch.last_offset + 1, end) - max(batch.base_offset, start) if dense else None
