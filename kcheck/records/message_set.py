"""Checks the inside of a message of magic 0 or 1, or of a compressed wrapper of messages.

Kafka classes: LegacyRecord and AbstractLegacyRecordBatch.DeepRecordsIterator 0.10 to 4.3.1.
"""

from typing import NamedTuple

from kcheck.model.segments import RecordFault
from kcheck.records.batch import header_of
from kcheck.records.decompressed import TooLarge
from kcheck.records.record import Unread, read_records


class MessageSet(NamedTuple):
    """The contents of a message or a wrapper."""

    decoded: int
    """The number of messages that were read."""
    fault: RecordFault | None = None
    """The fault; None without one."""
    record: int | None = None
    """The number of the corrupt message, from 0; None if the wrapper itself is corrupt."""
    problem: str = ""
    """The fault, in words."""
    first: int | None = None
    """The offset of the first message; None without one, or if a reader fails on the set."""


def look_into(batch: bytes | memoryview, size_max: int) -> MessageSet:
    """Read a complete entry of magic 0 or 1; decompress at most `size_max` bytes.

    A fault on which readers fail is reported before wrong offsets, which every reader accepts.
    """
    wrapper = header_of(batch, total=len(batch))
    compressed = wrapper.record_count is None
    count, first, before, accepted_fault = 0, None, None, None
    for message in read_records(batch, size_max):
        if isinstance(message, Unread):
            if not message.passed:
                fault = RecordFault.SIZE if isinstance(message.message, TooLarge) else RecordFault.MESSAGE
                return MessageSet(count, fault, message.number, message.message)
            accepted_fault = accepted_fault or MessageSet(count, RecordFault.PASSED, None, message.message)
            continue
        if compressed and not message.valid:
            return MessageSet(count, RecordFault.MESSAGE, count, "its CRC does not match")
        if accepted_fault is None and before is not None and message.offset <= before:
            problem = f"it has offset {message.offset}, and the one before it {before}"
            accepted_fault = MessageSet(count, RecordFault.OFFSET, count, problem)
        first = message.offset if first is None else first
        count, before = count + 1, message.offset
    if accepted_fault is None and before != wrapper.last_offset:
        problem = f"it is the last one and has offset {before}"
        accepted_fault = MessageSet(count, RecordFault.OFFSET, count - 1, problem)
    return (accepted_fault or MessageSet(count))._replace(decoded=count, first=first)
