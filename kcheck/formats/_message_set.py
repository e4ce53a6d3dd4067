"""What is wrong inside of a message of magic 0 or 1, or of a compressed wrapper of such messages.

LegacyRecord and AbstractLegacyRecordBatch.DeepRecordsIterator 0.10 to 4.3.1.
"""

from typing import NamedTuple

from kcheck.formats._decompressed import too_large
from kcheck.formats._record import Unread, read_records
from kcheck.formats.record_batch import header_of
from kcheck.model.entries import Offset
from kcheck.model.segments import RecordFault


class MessageSet(NamedTuple):
    """How many messages were read, and what is wrong: with which message, counted from 0, None for the wrapper."""

    decoded: int
    fault: RecordFault | None = None
    record: int | None = None
    problem: str = ""


def look_into(batch: bytes | memoryview, size_max: int) -> MessageSet:
    """Read a whole entry of magic 0 or 1; at most `size_max` bytes are decompressed."""
    wrapper = header_of(batch, total=len(batch))
    compressed = wrapper.record_count is None
    before: Offset | None = None
    for number, message in enumerate(read_records(batch, size_max)):
        if isinstance(message, Unread):
            fault = RecordFault.SIZE if message.message == too_large(size_max) else RecordFault.MESSAGE
            return MessageSet(number, fault, message.number, message.message)
        if compressed and not message.valid:
            return MessageSet(number, RecordFault.MESSAGE, number, "its CRC does not match")
        if before is not None and message.offset <= before:
            problem = f"it has offset {message.offset}, and the one before it {before}"
            return MessageSet(number, RecordFault.OFFSET, number, problem)
        before = message.offset
    if before != wrapper.last_offset:
        return MessageSet(number + 1, RecordFault.OFFSET, number, f"it is the last one and has offset {before}")
    return MessageSet(number + 1)
