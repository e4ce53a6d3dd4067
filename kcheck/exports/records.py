"""The records of one log that are exported, one by one, and what is known of them at the end."""

from collections.abc import Iterator
from typing import NamedTuple

from kcheck.arrow import text
from kcheck.exports.batches import Break, DamagedPlace, Hole, IntactBatch, UnreadSegment, parts
from kcheck.exports.left_out import Omission, Omissions
from kcheck.exports.sources import ExportLog
from kcheck.exports.transactions import Uncommitted, uncommitted
from kcheck.model.entries import Offset
from kcheck.model.unreadable import Unreadable
from kcheck.records.batch import CODEC_MASK, COMPRESSION, BatchHeader, header_of
from kcheck.records.record import Record, read_records

PLACE_COUNT_MAX = 1000
"""At most this many corrupt places of a log are kept; all of them are counted."""


class ExportChoice(NamedTuple):
    """The wanted records."""

    committed: bool = False
    """True to export only records of committed transactions, and records without a transaction."""
    start: Offset | None = None
    """The first offset; None for the log start offset."""
    end: Offset | None = None
    """The offset after the last one; None for the end of the log."""


class ExportedRecord(NamedTuple):
    """A record as a producer takes it."""

    topic: str | None
    """The topic; None if nothing names it."""
    partition: int | None
    """The partition number; None if nothing names it."""
    offset: Offset
    """The offset that it has in this log."""
    timestamp: int | None
    """The timestamp, in ms since 1970; None in magic 0."""
    timestamp_type: str | None
    """CreateTime or LogAppendTime; None in magic 0."""
    key: bytes | None
    """The key."""
    value: bytes | None
    """The value; None for a tombstone."""
    headers: tuple[tuple[bytes, bytes | None], ...]
    """The headers."""


class LogExport:
    """One log that is exported. Read `records` once; the other attributes are complete after that."""

    def __init__(self, log: ExportLog, wanted: ExportChoice) -> None:
        """Take a log, of which nothing is read yet."""
        self.log = log
        self.left_out: Omissions = Omissions()
        """The records that are not exported."""
        self.damage: list[DamagedPlace] = []
        """The corrupt places."""
        self.unreadable: list[tuple[str, Unreadable]] = []
        """The files that cannot be read."""
        self.transactional: int = 0
        """Number of the records that were written in transactions."""
        self._wanted = wanted
        self._low = log.log_start if wanted.start is None else wanted.start
        self._topic = None if log.topic is None else text(log.topic)
        self._last = -1
        self._uncommitted: Uncommitted | None = None

    def records(self) -> Iterator[ExportedRecord]:
        """Yield the records in the order of their offsets."""
        if self._wanted.committed:
            self._uncommitted = uncommitted(parts(self.log), compacted=self.log.compacted)
        first = self.log.segments[0].base if self.log.segments else None
        if self.log.log_start is not None and first is not None and self.log.log_start < first:
            self._take_hole(Hole(self.log.log_start, first))
        for part in parts(self.log, self._overlaps):
            match part:
                case IntactBatch():
                    yield from self._of_batch(part)
                case Break():
                    self._take_break(part)
                case Hole():
                    self._take_hole(part)
                case UnreadSegment():
                    self.left_out.take(self._why_outside(part.start), None, part.start, part.end)

        for swap in self.log.swaps:
            self.left_out.take(Omission.UNFINISHED, None, swap.base or Offset(0), None, swap.path)

    def _overlaps(self, start: Offset, end: Offset | None) -> bool:
        """Return whether offsets `[start, end)` may have a wanted one among them."""
        stop = self._wanted.end
        return (self._low is None or end is None or end > self._low) and (stop is None or start < stop)

    def _has(self, offset: Offset) -> bool:
        return self._overlaps(offset, Offset(offset + 1))

    def _why_outside(self, offset: Offset) -> Omission:
        is_below = self._wanted.start is None and self._low is not None and offset < self._low
        return Omission.BELOW_START if is_below else Omission.OUTSIDE

    def _take_hole(self, hole: Hole) -> None:
        """Count offsets that no segment has; the cleaner may leave some without a record."""
        if not self.log.compacted and self._overlaps(hole.start, hole.end):
            self.left_out.take(Omission.MISSING, None, hole.start, hole.end)

    def _take_break(self, part: Break) -> None:
        if not self._overlaps(part.start, part.end):
            return
        self.left_out.take(part.why, part.records, part.start, part.end)
        if part.error is not None and part.place is not None:
            self.unreadable.append((part.place.path, part.error))
        elif part.place is not None:
            self._tell(part.place)

    def _tell(self, place: DamagedPlace) -> None:
        if len(self.damage) < PLACE_COUNT_MAX:
            self.damage.append(place)

    def _of_batch(self, part: IntactBatch) -> Iterator[ExportedRecord]:
        """Yield the records of a batch."""
        header, batch = header_of(part.data, total=len(part.data)), part.batch
        start, end = batch.base_offset, Offset(batch.last_offset + 1)
        why = None
        if header.record_count is not None and not self._overlaps(start, end):
            why = self._why_outside(start)
        elif header.control:
            why = Omission.CONTROL
        elif self._uncommitted is not None and header.transactional and header.producer_id is not None:
            why = self._uncommitted.why(header.producer_id, start)
        if why is not None:
            if header.record_count is not None and header.record_count > 0:
                self.left_out.take(why, header.record_count, start, end)
            return
        for record in self._readable(part, header):
            if self._is_exported(record.offset):
                self._last = record.offset
                self.transactional += header.transactional
                yield ExportedRecord(
                    self._topic, self.log.partition, record.offset, record.timestamp, header.timestamp_type,
                    _bytes(record.key), _bytes(record.value),
                    tuple((bytes(name), _bytes(value)) for name, value in record.headers),
                )  # fmt: skip

    def _is_exported(self, offset: Offset) -> bool:
        """Return whether a record is exported; count it if not."""
        if offset > self._last and self._has(offset):
            return True
        why = self._why_outside(offset) if not self._has(offset) else Omission.REPEATED
        self.left_out.take(why, 1, offset, Offset(offset + 1))
        return False

    def _readable(self, part: IntactBatch, header: BatchHeader) -> Iterator[Record]:
        """Yield the records of a batch that can be read; the others are counted."""
        batch, following = part.batch, None
        for number, record in enumerate(read_records(part.data)):
            if isinstance(record, Record):
                following = Offset(record.offset + 1)
                if record.valid is False:
                    self._take_damage(part, header, f"the CRC of record {number} does not match", 1, record.offset)
                elif header.base_offset is None or header.base_offset <= record.offset <= header.last_offset:
                    yield record
                else:
                    message = f"the offset {record.offset} of record {number} does not fit"
                    self._take_damage(part, header, message, 1, batch.base_offset)
            elif not record.passed:
                stated, span = header.record_count, batch.last_offset - batch.base_offset + 1
                records = stated - number if stated is not None and number <= stated <= span else None
                start = batch.base_offset if following is None else following
                self._take_damage(part, header, f"record {number}: {record.message}", records, start)

    def _take_damage(
        self, part: IntactBatch, header: BatchHeader, message: str, records: int | None, start: Offset
    ) -> None:
        """Count records that cannot be read, from one offset to the end of their batch."""
        end = Offset(start + 1 if records == 1 else max(start, part.batch.last_offset) + 1)
        is_known = header.attributes & CODEC_MASK < len(COMPRESSION)
        if records != 0:  # Bytes may follow the last record.
            self.left_out.take(Omission.DAMAGED if is_known else Omission.UNKNOWN, records, start, end)
        words = f"the batch at offset {part.batch.base_offset}: {message}"
        self._tell(DamagedPlace(part.path, part.batch.position, part.batch.size, words))


def _bytes(data: bytes | memoryview | None) -> bytes | None:
    return None if data is None else bytes(data)
