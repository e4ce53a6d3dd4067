"""Counts the distinct records that several replicas lose together.

kcheck reads the batches of all replicas in parallel, in the order of offsets. Batches with the same header are the
same, and the header gives their number of records. Where batches differ, kcheck compares their records, as the log
cleaner rewrites batches.
"""

from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from functools import cached_property
from hashlib import blake2b
from itertools import chain
from typing import NamedTuple

from kcheck.core.replication.distinct_records import below, lost_pieces
from kcheck.core.replication.truncation_plans import OffsetRange
from kcheck.disk.refusals import unreadable
from kcheck.model.entries import Batch, Offset
from kcheck.model.source import Source
from kcheck.model.unreadable import UnreadableError
from kcheck.records.batch import CONTROL, is_modern
from kcheck.records.record import Record, read_records
from kcheck.replicas.replica import LogFile, logs_from
from kcheck.segments.batches import Walk, batch_crc

_BODY_SIZE_MAX = 32 << 20
_RECORD_COUNT_MAX = 500_000
"""Maximum number of records in a decoded batch. One batch of each replica is in memory, about 70 MB."""
_DIGEST_SIZE = 16
_NEWEST_MAGIC = 2


class LostRange(NamedTuple):
    """Offsets `[start, end)` of one replica."""

    logs: tuple[LogFile, ...]
    """The segments of the replica."""
    start: Offset
    """The first offset."""
    end: Offset
    """The offset after the last one."""
    mark: Offset | None = None
    """Below which offset its records are committed; None if it does not know."""


class Distinct(NamedTuple):
    """The records in some ranges, each of them once."""

    records: int | None
    """Their number; None if a batch cannot be decoded or read."""
    bytes: int | None
    """The bytes of their complete batches, each distinct batch once; None if a log cannot be read."""
    committed: int | None
    """Number of records below the mark of a replica that has them; None if a mark or `records` is unknown."""


def distinct(lost: Sequence[LostRange], kept: Sequence[LostRange], high_watermark: Offset | None = None) -> Distinct:
    """Return the records that are in any range of `lost` and outside of all ranges of `kept`.

    `high_watermark` is the mark of ranges without their own mark. Records are the same if offset, leader epoch,
    timestamp, key, value and headers are equal. Messages of magic 0 and 1 have no epoch. One batch of each replica is
    in memory.
    """
    start, end = min((one.start for one in lost), default=None), max((one.end for one in lost), default=None)
    if start is None or end is None:
        return Distinct(0, 0, None if high_watermark is None else 0)
    near = [one._replace(start=max(one.start, start), end=min(one.end, end)) for one in kept]
    lost_streams = [_Stream(one, high_watermark, is_lost=True) for one in lost]
    streams = lost_streams + [_Stream(one, high_watermark, is_lost=False) for one in near]
    try:
        return _Sweep(streams).counted()
    except UnreadableError:
        return Distinct(None, None, None)
    finally:
        for stream in streams:
            stream.close()


_HeaderKey = tuple[Offset, Offset, int, int | None, int, int | None, int]
_Key = tuple[Offset, bytes]
"""The offset and the digest of a record."""


class _Head:
    """The next batch of a replica."""

    def __init__(self, source: Source, batch: Batch, path: str) -> None:
        self.batch, self.end = batch, Offset(batch.last_offset + 1)
        self.identity: _HeaderKey = (
            batch.base_offset, batch.last_offset, batch.magic, batch.epoch, batch.crc, batch.record_count, batch.size,
        )  # fmt: skip
        self._source, self._path = source, path
        self._records: list[_Key] | None = None
        self.is_readable = True
        self.is_begun = False
        """True if some of its records are counted already."""
        self.first = batch.base_offset if batch.record_count is not None else self._first_of_wrapper()

    def _first_of_wrapper(self) -> Offset:
        return min((offset for offset, _ in self.records()), default=self.batch.base_offset)

    def records(self) -> list[_Key]:
        """Return the records; a corrupt batch counts as a record of its own. UnreadableError if the file fails."""
        if self._records is None:
            try:
                records = _records(self._source, self.batch)
            except OSError as error:  # outside of the block that opened the file
                raise unreadable(error, self._path) from error
            self.is_readable = records is not None
            self._records = [(self.batch.base_offset, self.digest)] if records is None else records
        return self._records

    @cached_property
    def is_corrupt(self) -> bool:
        """True if the CRC of the batch does not match."""
        batch = self.batch
        return batch_crc(self._source, batch.position, batch.size, batch.magic) not in (None, batch.crc)

    @property
    def digest(self) -> bytes:
        """The digest of the header."""
        return blake2b(repr(self.identity).encode(), digest_size=_DIGEST_SIZE).digest()

    @property
    def is_dense(self) -> bool:
        """True if every offset has a record, by the header."""
        return self.batch.record_count == self.batch.last_offset - self.batch.base_offset + 1


class _Stream:
    """The batches of one replica that overlap a range."""

    def __init__(self, lost_range: LostRange, high_watermark: Offset | None, *, is_lost: bool) -> None:
        self.range, self.is_lost = OffsetRange(lost_range.start, lost_range.end), is_lost
        mark = high_watermark if lost_range.mark is None else lost_range.mark
        self.mark, self.knows_mark = mark or Offset(0), mark is not None
        self._heads = _heads(lost_range)
        self.head: _Head | None = None

    def advance(self) -> None:
        """Go to the next batch; UnreadableError if it does not follow the one before."""
        before = None if self.head is None else self.head.end
        self.head = next(self._heads, None)
        if self.head is not None and (
            self.head.end <= self.head.first or (before or self.head.first) > self.head.first
        ):
            raise UnreadableError("batches out of order")

    def close(self) -> None:
        """Close the open segment."""
        self._heads.close()


def _heads(lost_range: LostRange) -> Generator[_Head, None, None]:
    """Yield the batches that overlap a range; UnreadableError if a segment is shorter than it was."""
    for log in logs_from(lost_range.logs, lost_range.start):
        if log.base_offset >= lost_range.end:
            return
        with log.open() as source:
            walk, end = Walk(source, log.size), Offset(0)
            for batch in walk:
                end = Offset(batch.last_offset + 1)
                if batch.last_offset < lost_range.start:
                    continue
                head = _Head(source, batch, log.path)
                if head.first >= lost_range.end:
                    return
                yield head
            if walk.position < log.size and end < lost_range.end:
                raise UnreadableError("the segment ends early")


class _Sweep:
    """The replicas, side by side."""

    def __init__(self, streams: list[_Stream]) -> None:
        self._streams = streams
        self._records = self._bytes = self._committed = 0
        self._is_known = True
        self._counted: set[_HeaderKey] = set()
        """The batches among the heads whose bytes are counted."""

    def counted(self) -> Distinct:
        """Return the records that the replicas lose together."""
        for stream in self._streams:
            stream.advance()
        while heads := [(stream, stream.head) for stream in self._streams if stream.head is not None]:
            first = min(head.first for _, head in heads)
            until = min(head.end for _, head in heads)
            near = [(stream, head) for stream, head in heads if head.first < until]
            if any(stream.is_lost for stream, _ in near) and not self._take_batch(near, first):
                self._take_records(near, until)
            for stream, head in near:
                head.first = max(head.first, until)
                head.is_begun = True
                if head.end == until:
                    stream.advance()
            self._counted &= {stream.head.identity for stream in self._streams if stream.head is not None}
        knows_marks = all(stream.knows_mark for stream in self._streams if stream.is_lost)
        committed = self._committed if knows_marks and self._is_known else None
        return Distinct(self._records if self._is_known else None, self._bytes, committed)

    def _take_batch(self, near: list[tuple[_Stream, _Head]], first: Offset) -> bool:
        """Count one batch, which all these replicas have, by its header; False if the header does not say enough."""
        head = near[0][1]
        if head.is_begun or any(other.is_begun or other.identity != head.identity for _, other in near[1:]):
            return False
        whole = OffsetRange(first, head.end)
        pieces = lost_pieces(
            whole,
            [stream.range for stream, _ in near if stream.is_lost],
            [stream.range for stream, _ in near if not stream.is_lost],
        )
        if not pieces:
            return True
        count, mark = head.batch.record_count, max(stream.mark for stream, _ in near)
        if head.is_dense:
            records, committed = below(pieces, whole.end), below(pieces, mark)
        elif count is not None and pieces == (whole,) and (mark <= first or mark >= whole.end):
            records, committed = count, count if mark >= whole.end else 0
        else:
            return False
        self._records += records
        self._committed += committed
        self._bytes += head.batch.size if records else 0
        return True

    def _take_records(self, near: list[tuple[_Stream, _Head]], until: Offset) -> None:
        """Count the records below `until` one by one."""
        near = [*self._readable(near)]
        epochs = Counter(epoch for epoch, _ in {(head.batch.epoch, head.identity) for _, head in near})
        keys = [
            (stream, head, _within(stream, head, until, is_alone=epochs[head.batch.epoch] == 1))
            for stream, head in near
        ]
        kept = set(chain.from_iterable(of_head for stream, _, of_head in keys if not stream.is_lost))
        marks = dict[_Key, Offset]()
        for stream, _, of_head in keys:
            marks.update((key, stream.mark) for key in of_head if stream.mark > marks.get(key, 0))
        for stream, head, of_head in keys:
            fresh = {key for key in of_head if stream.is_lost} - kept
            kept |= fresh
            self._records += len(fresh)
            self._committed += sum(key[0] < marks.get(key, 0) for key in fresh)
            if fresh and head.identity not in self._counted:
                self._bytes += head.batch.size
                self._counted.add(head.identity)
        self._is_known = self._is_known and all(head.is_readable for _, head in near)

    @staticmethod
    def _readable(near: list[tuple[_Stream, _Head]]) -> Iterator[tuple[_Stream, _Head]]:
        """Yield the batches without corrupt ones whose offsets another replica has.

        The other replica has the same records if the epoch is the same or not known.
        """
        corrupt = [head for stream, head in near if stream.is_lost and head.is_corrupt]
        others = {head.batch.epoch for _, head in near if head not in corrupt}
        for stream, head in near:
            if head not in corrupt or not others or head.batch.epoch not in (None, *others):
                yield stream, head


def _within(stream: _Stream, head: _Head, until: Offset, *, is_alone: bool) -> list[_Key]:
    """Return the records of a batch in the range of its replica, after the counted ones and before `until`.

    `is_alone` is true if no other replica has another batch of this epoch there. Then a batch with a record at every
    offset is not decoded, because the same header means the same records.
    """
    start, end = max(head.first, stream.range.start), min(until, stream.range.end)
    if is_alone and head.is_dense:
        return [(Offset(offset), head.digest) for offset in range(start, end)]
    return [key for key in head.records() if start <= key[0] < end]


def _records(source: Source, batch: Batch) -> list[_Key] | None:
    """Return the records of a batch; None if it cannot be decoded."""
    if not 0 <= batch.magic <= _NEWEST_MAGIC or batch.size > _BODY_SIZE_MAX:
        return None
    data = source.pread(batch.size, batch.position)
    if len(data) < batch.size:
        return None
    keys: list[_Key] = []
    prefix = (batch.epoch, is_modern(batch.magic) and batch.attributes & CONTROL)
    for record in read_records(data, _BODY_SIZE_MAX):
        if not isinstance(record, Record) or len(keys) == _RECORD_COUNT_MAX:
            return None
        content = (*prefix, record.timestamp, _digested(record.key), _digested(record.value))
        headers = [(_digested(name), _digested(value)) for name, value in record.headers]
        digest = blake2b(repr((content, headers)).encode(), digest_size=_DIGEST_SIZE).digest()
        keys.append((record.offset, digest))
    return keys


def _digested(data: bytes | memoryview | None) -> bytes | None:
    return None if data is None else blake2b(data, digest_size=_DIGEST_SIZE).digest()
