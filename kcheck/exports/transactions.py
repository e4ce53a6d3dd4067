"""Records of no committed transaction, by the markers in the log alone, without indexes and snapshots.

In ProducerStateManager and ProducerAppendInfo.appendEndTxnMarker (0.11 to 4.3.1) a marker ends the transaction of its
producer id. The next batch of that id begins another one. If a part of the log is corrupt or missing, a marker may have
been in it. The records before that part are then neither committed nor aborted.
"""

from bisect import bisect_right
from collections.abc import Iterable
from typing import NamedTuple

from kcheck.exports.batches import Break, Hole, IntactBatch, Part
from kcheck.exports.left_out import Omission
from kcheck.model.entries import Offset
from kcheck.model.java import LONG_MAX
from kcheck.records import control_record
from kcheck.records.batch import BatchHeader, header_of
from kcheck.records.record import Record, read_records


class _Span(NamedTuple):
    """Offsets at which the records of one producer are not committed; the end is exclusive."""

    start: Offset
    end: Offset
    why: Omission


class Uncommitted:
    """The transactions of a log that are not known to be committed."""

    def __init__(self, spans: dict[int, list[_Span]]) -> None:
        """Take the spans of each producer id, by offset."""
        self._spans = spans

    def why(self, producer_id: int, offset: Offset) -> Omission | None:
        """Return why a record of a transaction is not exported; None if its transaction was committed."""
        spans = self._spans.get(producer_id, [])
        at = bisect_right(spans, offset, key=lambda span: span.start) - 1
        return spans[at].why if at >= 0 and offset < spans[at].end else None


def uncommitted(parts: Iterable[Part], *, compacted: bool) -> Uncommitted:
    """Return the transactions that are not known to be committed; memory grows with their number alone.

    In a compacted log a hole between segments hides no marker. The cleaner keeps a marker as long as its records.
    """
    replay = _MarkerReplay()
    for part in parts:
        if isinstance(part, IntactBatch):
            replay.take(part)
        elif isinstance(part, Break) or (isinstance(part, Hole) and not compacted):
            replay.interrupt()
    return replay.end()


def marker_of(header: BatchHeader, data: bytes) -> int | None:
    """Return the type of the marker in a control batch; None if it has none that can be read."""
    record = next(iter(read_records(data)), None) if header.control else None
    if not isinstance(record, Record):
        return None
    control = control_record.parse(record.key, record.value)
    return control.type if control.problem is None else None


class _MarkerReplay:
    def __init__(self) -> None:
        self._spans: dict[int, list[_Span]] = {}
        self._open: dict[int, Offset] = {}
        self._next = Offset(0)
        """The offset after the last batch."""
        self._proven_from = Offset(0)
        """The offset after the last corrupt or missing part."""

    def take(self, part: IntactBatch) -> None:
        """Take the next batch."""
        header = header_of(part.data, total=len(part.data))
        producer_id = header.producer_id
        if header.transactional and producer_id is not None:
            if header.control:
                self._mark(producer_id, part.batch.base_offset, marker_of(header, part.data))
            elif header.record_count is not None and header.record_count > 0:
                self._open.setdefault(producer_id, part.batch.base_offset)
        self._next = Offset(part.batch.last_offset + 1)

    def interrupt(self) -> None:
        """Take a corrupt or missing part."""
        self._proven_from = self._next

    def _mark(self, producer_id: int, offset: Offset, marker: int | None) -> None:
        if marker not in (control_record.ABORT, control_record.COMMIT):
            self.interrupt()
            return
        start = self._open.pop(producer_id, None)
        if start is not None:
            self._add(producer_id, start, offset, Omission.ABORTED if marker == control_record.ABORT else None)

    def _add(self, producer_id: int, start: Offset, end: Offset, why: Omission | None) -> None:
        """Keep the uncommitted records of a transaction, that is all before the last break, and the rest by its end."""
        proven = max(start, min(self._proven_from, end))
        spans = self._spans.setdefault(producer_id, [])
        if proven > start:
            spans.append(_Span(start, proven, Omission.UNPROVEN))
        if why is not None and end > proven:
            spans.append(_Span(proven, end, why))

    def end(self) -> Uncommitted:
        """Return the uncommitted records, after the last part."""
        for producer_id, start in self._open.items():
            self._add(producer_id, start, Offset(LONG_MAX), Omission.OPEN)
        return Uncommitted(self._spans)
