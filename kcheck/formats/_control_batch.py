"""What is wrong with a control batch, and which exception that is in a recovery.

ControlRecordType and EndTransactionMarker 0.11 to 4.3.1; of a batch with a producer id ProducerAppendInfo.append reads
the first record whenever it is recovered.
"""

from itertools import islice
from typing import NamedTuple

from kcheck.formats._control_record import COMMIT, NAMES, UNKNOWN, parse
from kcheck.formats._record import Record, read_records
from kcheck.formats.record_batch import CODEC_MASK, MARKER, header_of
from kcheck.model.segments import RecordFault

_MARKER_SIZE = 6
_RECORD_COUNT_MAX = 1000


class ControlProblem(NamedTuple):
    """What is wrong with a control batch; the number of the record, None for the batch."""

    fault: RecordFault
    record: int | None
    problem: str


def control_problem(batch: bytes | memoryview, size_max: int) -> ControlProblem | None:
    """Return what is wrong with a whole control batch of magic 2, of which the records can be read.

    At most `size_max` bytes are decompressed; brokers write no more than a few records into one, and few are looked at.
    """
    header = header_of(batch, total=len(batch))
    of_producer = header.producer_id is not None and header.producer_id >= 0
    for number, record in enumerate(islice(read_records(batch, size_max), _RECORD_COUNT_MAX)):
        if not isinstance(record, Record):
            return None
        if of_producer and number:
            return ControlProblem(RecordFault.UNUSUAL, number, "a second record in the end of a transaction")
        found = _of_marker(record) if of_producer else _of_raft(record)
        if found is not None:
            return ControlProblem(found[0], number, found[1])
    if header.attributes & CODEC_MASK:
        return ControlProblem(RecordFault.UNUSUAL, None, "a control batch that is compressed")
    if of_producer and header.attributes & MARKER != MARKER:
        return ControlProblem(RecordFault.UNUSUAL, None, "the end of a transaction that is not transactional")
    return None


def _of_marker(record: Record) -> tuple[RecordFault, str] | None:
    """Return what is wrong with the record that ends a transaction."""
    found = parse(record.key, record.value)
    if found.name not in NAMES[: COMMIT + 1] and (found.problem is None or found.name != UNKNOWN):
        return RecordFault.MARKER, f"the type {found.type} ends no transaction"
    if found.problem is None:
        return None
    if record.key is None or record.value is None:
        return RecordFault.MARKER, found.problem
    cut = found.name != UNKNOWN and len(record.value) < _MARKER_SIZE
    return RecordFault.SHORT if cut else RecordFault.CONTROL, found.problem


def _of_raft(record: Record) -> tuple[RecordFault, str] | None:
    """Return what is wrong with a control record of KRaft."""
    found = parse(record.key, record.value)
    if found.problem is not None:
        return RecordFault.RAFT, found.problem
    return (RecordFault.UNUSUAL, f"the type {found.type} is not known") if found.name == UNKNOWN else None
