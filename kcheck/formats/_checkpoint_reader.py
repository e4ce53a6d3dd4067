"""What the brokers' own readers make of a text checkpoint, check after check.

CheckpointFile.CheckpointReadBuffer 3.1 to 4.3.1, CheckpointFile 0.11 to 3.0, OffsetCheckpoint 0.8.2 to 0.10.2. The
readers are named in `CheckpointReader`; each row of a file's life there is one difference here.
"""

from kcheck.formats._checkpoint_file import Columns, Framing, Lines, parse
from kcheck.model.java import java_fields, java_int, java_long, utf8_lines, utf8_lines_replaced
from kcheck.model.parsed import BrokerReads
from kcheck.model.release import CheckpointReader

_IO_EXCEPTION = "IOException"
_NUMBER_FORMAT_EXCEPTION = "NumberFormatException"

_HEAP_SIZE = 1 << 30
"""The default heap of kafka-server-start.sh, in bytes."""
_REFERENCE_SIZE = 4

_COUNTS_KEYS = (CheckpointReader.R1, CheckpointReader.R2)
_STRICT = (CheckpointReader.R5, CheckpointReader.R6)
_ENTRY_NUMBER_ESCAPES = (CheckpointReader.R1, CheckpointReader.R6)


def read(data: bytes, framing: Framing, reader: CheckpointReader) -> BrokerReads[Lines]:
    """Return every entry in file order, or the exception that the reader throws.

    OutOfMemoryError: from 3.1 a list is made for as many entries as the count says before the first is read; it is
    told where its references, 4 bytes each, do not fit into the 1 GiB that kafka-server-start.sh gives a broker. Up to
    0.10.2 bytes are decoded by the platform's charset, taken to be UTF-8.
    """
    parsed = parse(data, framing)
    try:
        if all(defect.accepted for defect in parsed.defects):
            return BrokerReads(value=_counted(parsed.value, reader))
        return BrokerReads(value=_counted(_read(data, framing, reader), reader))
    except _ReadError as error:
        return BrokerReads(value=None, error=str(error))


class _ReadError(Exception):
    """The exception that the broker's reader throws, by its simple class name."""


def _counted(lines: Lines, reader: CheckpointReader) -> Lines:
    """Compare the count with the entries; up to 0.10.2 with the different partitions among them."""
    if lines.count is None:
        return lines
    if reader is CheckpointReader.R6:
        _preallocate(lines.count)
    found = len(set(zip(lines.topics, lines.firsts, strict=True))) if reader in _COUNTS_KEYS else len(lines)
    if found != lines.count:
        raise _ReadError(_IO_EXCEPTION)
    return lines


def _preallocate(count: int) -> None:
    if count < 0:
        raise _ReadError("IllegalArgumentException")
    if count * _REFERENCE_SIZE >= _HEAP_SIZE:
        raise _ReadError("OutOfMemoryError")


def _read(data: bytes, framing: Framing, reader: CheckpointReader) -> Lines:
    """Read a file that is not as brokers write it; the order of the checks decides which exception it is."""
    columns = Columns()
    if reader in _STRICT:
        found = utf8_lines(data)
        lines, malformed = found.lines, found.malformed
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
        _preallocate(count)
    for line in lines:
        _entry(line, framing, reader, columns)
    if malformed:
        raise _ReadError("MalformedInputException")
    return columns.lines(0, count)


def _entry(line: str, framing: Framing, reader: CheckpointReader, columns: Columns) -> None:
    fields = java_fields(line, framing.field_count)
    if len(fields) != framing.field_count:
        raise _ReadError(_IO_EXCEPTION)
    first, second = java_int(fields[-2]), java_long(fields[-1])
    if first is None or second is None:
        raise _ReadError(_NUMBER_FORMAT_EXCEPTION if reader in _ENTRY_NUMBER_ESCAPES else _IO_EXCEPTION)
    columns.take(fields[0] if framing.has_topic else None, first, second)
