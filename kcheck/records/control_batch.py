"""Checks a control batch, and says which exception log recovery throws on it.

Kafka classes: ControlRecordType and EndTransactionMarker 0.11 to 4.3.1. When recovery replays a control batch with a
producer id, ProducerAppendInfo.append reads its first record.
"""

from itertools import islice
from typing import NamedTuple

from kcheck.model.segments import RecordFault
from kcheck.records.batch import CODEC_MASK, MARKER, header_of
from kcheck.records.control_record import COMMIT, NAMES, UNKNOWN, parse
from kcheck.records.record import Record, read_records

_MARKER_SIZE = 6
"""Bytes in the value of an end-of-transaction marker."""
_RECORD_COUNT_MAX = 1000


class ControlProblem(NamedTuple):
    """The fault of a control batch."""

    fault: RecordFault
    """The kind of fault."""
    record: int | None
    """The number of the corrupt record, from 0; None if the batch itself is corrupt."""
    problem: str
    """The fault, in words."""


def control_problem(batch: bytes | memoryview, size_max: int) -> ControlProblem | None:
    """Return the fault of a complete control batch of magic 2 whose records are readable.

    Decompress at most `size_max` bytes and read at most 1000 records; brokers write only a few.
    """
    header = header_of(batch, total=len(batch))
    ends_transaction = header.producer_id is not None and header.producer_id >= 0
    for number, record in enumerate(islice(read_records(batch, size_max), _RECORD_COUNT_MAX)):
        if not isinstance(record, Record):
            return None
        if ends_transaction and number:
            return ControlProblem(RecordFault.UNUSUAL, number, "a second record in the end of a transaction")
        fault = _marker_fault(record) if ends_transaction else _raft_fault(record)
        if fault is not None:
            return ControlProblem(fault[0], number, fault[1])
    if header.attributes & CODEC_MASK:
        return ControlProblem(RecordFault.UNUSUAL, None, "a control batch that is compressed")
    if ends_transaction and header.attributes & MARKER != MARKER:
        return ControlProblem(RecordFault.UNUSUAL, None, "the end of a transaction that is not transactional")
    return None


def _marker_fault(record: Record) -> tuple[RecordFault, str] | None:
    """Return the fault of the record that ends a transaction."""
    marker = parse(record.key, record.value)
    if marker.name not in NAMES[: COMMIT + 1] and (marker.problem is None or marker.name != UNKNOWN):
        return RecordFault.MARKER, f"the type {marker.type} ends no transaction"
    if marker.problem is None:
        return None
    if record.key is None or record.value is None:
        return RecordFault.MARKER, marker.problem
    cut = marker.name != UNKNOWN and len(record.value) < _MARKER_SIZE
    return RecordFault.SHORT if cut else RecordFault.CONTROL, marker.problem


def _raft_fault(record: Record) -> tuple[RecordFault, str] | None:
    """Return the fault of a KRaft control record."""
    control = parse(record.key, record.value)
    if control.problem is not None:
        return RecordFault.RAFT, control.problem
    return (RecordFault.UNUSUAL, f"the type {control.type} is not known") if control.name == UNKNOWN else None
