"""Reads a text checkpoint as a broker does, with the same checks in the same order.

Kafka classes: CheckpointFile.CheckpointReadBuffer 3.1 to 4.3.1, CheckpointFile 0.11 to 3.0, OffsetCheckpoint 0.8.2 to
0.10.2. `CheckpointReader` lists the readers R1 to R6 and how each differs from the one before it.
"""

from kcheck.formats._checkpoint_file import Columns, Framing, Lines, parse
from kcheck.model.java import java_fields, java_int, java_long, utf8_lines, utf8_lines_replaced
from kcheck.model.parsed import BrokerReads
from kcheck.model.release import CheckpointReader

_IO_EXCEPTION = "IOException"
_NUMBER_FORMAT_EXCEPTION = "NumberFormatException"

_HEAP_SIZE = 1 << 30
"""Default heap of kafka-server-start.sh, in bytes."""
_REFERENCE_SIZE = 4
"""Bytes of one reference in a Java list."""

_COUNT_DISTINCT_PARTITIONS = (CheckpointReader.R1, CheckpointReader.R2)
"""Readers that compare the count with the number of distinct partitions, not of lines."""
_REFUSE_INVALID_UTF8 = (CheckpointReader.R5, CheckpointReader.R6)
_ENTRY_NUMBER_ESCAPES = (CheckpointReader.R1, CheckpointReader.R6)
"""Readers that let the NumberFormatException of an invalid number in an entry escape."""


def read(data: bytes, framing: Framing, reader: CheckpointReader) -> BrokerReads[Lines]:
    """Return every entry in file order, or the exception that the reader throws.

    3.1 and later first allocate a list for the stated count of entries. The answer is OutOfMemoryError if the
    references do not fit into 1 GiB (4 bytes each), the default heap of a broker. 0.10.2 and earlier decode the bytes
    with the platform's charset. This function assumes UTF-8.
    """
    parsed = parse(data, framing)
    try:
        if all(defect.accepted for defect in parsed.defects):
            return BrokerReads(value=_with_count_checked(parsed.value, reader))
        return BrokerReads(value=_with_count_checked(_read_lines(data, framing, reader), reader))
    except _ReadError as error:
        return BrokerReads(value=None, error=str(error))


class _ReadError(Exception):
    """The exception that the broker's reader throws, by its simple class name."""


def _with_count_checked(lines: Lines, reader: CheckpointReader) -> Lines:
    """Return the lines if the count is right; in 0.10.2 and earlier it counts the distinct partitions."""
    if lines.stated_count is None:
        return lines
    if reader is CheckpointReader.R6:
        _check_list_fits(lines.stated_count)
    distinct = reader in _COUNT_DISTINCT_PARTITIONS
    entry_count = len(set(zip(lines.topics, lines.firsts, strict=True))) if distinct else len(lines.firsts)
    if entry_count != lines.stated_count:
        raise _ReadError(_IO_EXCEPTION)
    return lines


def _check_list_fits(count: int) -> None:
    if count < 0:
        raise _ReadError("IllegalArgumentException")
    if count * _REFERENCE_SIZE >= _HEAP_SIZE:
        raise _ReadError("OutOfMemoryError")


def _read_lines(data: bytes, framing: Framing, reader: CheckpointReader) -> Lines:
    """Read a corrupt file line by line; the order of the checks decides which exception the reader throws."""
    columns = Columns()
    if reader in _REFUSE_INVALID_UTF8:
        decoded = utf8_lines(data)
        lines, malformed = decoded.lines, decoded.malformed
    else:
        lines, malformed = utf8_lines_replaced(data), False
    head: list[int] = []
    for line in lines:
        number = java_int(line)
        if number is None:
            raise _ReadError(_NUMBER_FORMAT_EXCEPTION if reader is CheckpointReader.R1 else _IO_EXCEPTION)
        if not head and number != 0:
            raise _ReadError(_IO_EXCEPTION)
        head.append(number)
        if len(head) == len(("version", "count")):
            break
    count = head[1] if len(head) > 1 else None
    if count is not None and reader is CheckpointReader.R6:
        _check_list_fits(count)
    for line in lines:
        _add_entry(line, framing, reader, columns)
    if malformed:
        raise _ReadError("MalformedInputException")
    return columns.lines(0, count)


def _add_entry(line: str, framing: Framing, reader: CheckpointReader, columns: Columns) -> None:
    fields = java_fields(line, framing.field_count)
    if len(fields) != framing.field_count:
        raise _ReadError(_IO_EXCEPTION)
    first, second = java_int(fields[-2]), java_long(fields[-1])
    if first is None or second is None:
        raise _ReadError(_NUMBER_FORMAT_EXCEPTION if reader in _ENTRY_NUMBER_ESCAPES else _IO_EXCEPTION)
    columns.add(fields[0] if framing.has_topic else None, first, second)
