"""What is wrong inside of a message of magic 0 or 1, or of a compressed wrapper of such messages.

LegacyRecord and AbstractLegacyRecordBatch.DeepRecordsIterator 0.10 to 4.3.1.
"""

from typing import NamedTuple

from kcheck.formats._decompressed import too_large
from kcheck.formats._record import Unread, read_records
from kcheck.formats.record_batch import header_of
from kcheck.model.segments import RecordFault


class MessageSet(NamedTuple):
    """How many messages were read, and what is wrong: with which message, counted from 0, None for the wrapper."""

    decoded: int
    fault: RecordFault | None = None
    record: int | None = None
    problem: str = ""


def look_into(batch: bytes | memoryview, size_max: int) -> MessageSet:
    """Read a whole entry of magic 0 or 1; at most `size_max` bytes are decompressed.

    What no reader takes is told before offsets that every reader takes.
    """
    wrapper = header_of(batch, total=len(batch))
    compressed = wrapper.record_count is None
    count, before, found = 0, None, None
    for message in read_records(batch, size_max):
        if isinstance(message, Unread):
            if not message.passed:
                fault = RecordFault.SIZE if message.message == too_large(size_max) else RecordFault.MESSAGE
                return MessageSet(count, fault, message.number, message.message)
            found = found or MessageSet(count, RecordFault.PASSED, None, message.message)
            continue
        if compressed and not message.valid:
            return MessageSet(count, RecordFault.MESSAGE, count, "its CRC does not match")
        if found is None and before is not None and message.offset <= before:
            problem = f"it has offset {message.offset}, and the one before it {before}"
            found = MessageSet(count, RecordFault.OFFSET, count, problem)
        count, before = count + 1, message.offset
    if found is None and before != wrapper.last_offset:
        found = MessageSet(count, RecordFault.OFFSET, count - 1, f"it is the last one and has offset {before}")
    return MessageSet(count) if found is None else found._replace(decoded=count)
