"""Slow and obvious versions of kcheck's fast functions."""

from kcheck.model.java import INT_MAX, INT_MIN, LONG_MAX, LONG_MIN
from kcheck.model.release import CheckpointReader

WHITE_SPACE = " \t\n\x0b\f\r"


def number(text: str, least: int, most: int) -> int | None:
    """Read a number digit by digit."""
    sign, digits = (-1, text[1:]) if text.startswith("-") else (1, text.removeprefix("+"))
    value = 0
    for digit in digits:
        if not digit.isdecimal() or digit > "\uffff":
            return None
        value = value * 10 + int(digit)
    return sign * value if digits and least <= sign * value <= most else None


def lines(text: str) -> list[str]:
    """Split text character by character."""
    found, line, at = [], "", 0
    while at < len(text):
        if text[at] in "\r\n":
            found.append(line)
            line = ""
            at += 2 if text[at : at + 2] == "\r\n" else 1
        else:
            line += text[at]
            at += 1
    return [*found, line] if line else found


def fields(line: str) -> list[str]:
    """Split a line character by character; white space is one separator, trailing empty fields do not count."""
    found, in_white_space = [""], False
    for character in line:
        if character not in WHITE_SPACE:
            found[-1] += character
            in_white_space = False
        elif not in_white_space:
            found.append("")
            in_white_space = True
    while len(found) > 1 and not found[-1]:
        found.pop()
    return found


Entries = list[tuple[str | int, ...]]

_FIRST_TWO = (CheckpointReader.R1, CheckpointReader.R2)
_STRICT = (CheckpointReader.R5, CheckpointReader.R6)


def read_checkpoint(data: bytes, width: int, reader: CheckpointReader) -> Entries | str:
    """Read a checkpoint of fewer than 8192 characters line by line: the entries, or the exception.

    Where a reader is not strict every byte that is no UTF-8 must stand alone: each counts as one U+FFFD then.
    """
    text, malformed = decoded(data, strict=reader in _STRICT)
    if text is None:
        return "MalformedInputException"
    found = lines(text)
    if malformed:
        found = found if text.endswith(("\n", "\r")) else found[:-1]
    read = _entries(found, width, reader)
    return "MalformedInputException" if malformed and not isinstance(read, str) else _counted(found, read, reader)


def decoded(data: bytes, *, strict: bool) -> tuple[str | None, bool]:
    """Return the text before the first error (None if Java sees none of it), and whether the end cuts a character."""
    if not strict:
        return data.decode("utf-8", "replace"), False
    for size in range(len(data), -1, -1):
        try:
            text = data[:size].decode()
        except UnicodeDecodeError:
            continue
        break
    rest = data[size:]
    if not rest:
        return text, False
    return (text, True) if _begins_a_character(rest) else (None, True)


def _begins_a_character(rest: bytes) -> bool:
    """Whether Java waits for more bytes; in a three-byte sequence it only checks the second byte for overlong forms."""
    if any(not 0x80 <= byte < 0xC0 for byte in rest[1:]):
        return False
    second = rest[1] if len(rest) > 1 else None
    match rest[0]:
        case lead if 0xC2 <= lead < 0xE0:
            return len(rest) < 2
        case lead if 0xE0 <= lead < 0xF0:
            return len(rest) < 3 and (lead != 0xE0 or second is None or second >= 0xA0)
        case lead if 0xF0 <= lead < 0xF5:
            low, high = {0xF0: (0x90, 0xC0), 0xF4: (0x80, 0x90)}.get(lead, (0x80, 0xC0))
            return len(rest) < 4 and (second is None or low <= second < high)
    return False


def _entries(found: list[str], width: int, reader: CheckpointReader) -> Entries | str:
    no_number = "NumberFormatException" if reader is CheckpointReader.R1 else "IOException"
    head = [number(line, INT_MIN, INT_MAX) for line in found[:2]]
    if head[:1] == [None]:
        return no_number
    if head[:1] not in ([], [0]):
        return "IOException"
    if head[1:] == [None]:
        return no_number
    count = head[1] if len(head) > 1 else 0
    if reader is CheckpointReader.R6 and count is not None and count < 0:
        return "IllegalArgumentException"
    if reader is CheckpointReader.R6 and count is not None and count >= 1 << 28:
        return "OutOfMemoryError"
    entries: Entries = []
    for line in found[2:]:
        parts = fields(line)
        if len(parts) != width:
            return "IOException"
        first, second = number(parts[-2], INT_MIN, INT_MAX), number(parts[-1], LONG_MIN, LONG_MAX)
        if first is None or second is None:
            escapes = reader in (CheckpointReader.R1, CheckpointReader.R6)
            return "NumberFormatException" if escapes else "IOException"
        entries.append((*parts[:-2], first, second))
    return entries


def _counted(found: list[str], read: Entries | str, reader: CheckpointReader) -> Entries | str:
    if isinstance(read, str) or len(found) < 2:
        return read
    counted = {entry[:-1] for entry in read} if reader in _FIRST_TWO else read
    return read if len(counted) == number(found[1], INT_MIN, INT_MAX) else "IOException"


def varint(data: bytes, at: int, size_max: int) -> tuple[int, int]:
    """Read a number group by group; return it and its end (ByteUtils.readVarint, readVarlong)."""
    raw, bits = 0, {5: 32, 10: 64}[size_max]
    for number in range(size_max):
        raw |= (data[at + number] & 127) << 7 * number
        if data[at + number] < 128:
            raw %= 1 << bits
            return raw // 2 if raw % 2 == 0 else -(raw // 2) - 1, at + number + 1
    raise ValueError("too long")


def _nullable(data: bytes, at: int) -> tuple[int, int]:
    size, at = varint(data, at, 5)
    if size > len(data) - at:
        raise IndexError
    return size, at + max(size, 0)


def record(data: bytes, at: int) -> tuple[int, int, int]:
    """Read the record at a position; return its timestamp delta, its offset delta and its end (DefaultRecord)."""
    size, begin = varint(data, at, 5)
    data[begin]
    timestamp, at = varint(data, begin + 1, 10)
    offset, at = varint(data, at, 5)
    _, at = _nullable(data, at)
    _, at = _nullable(data, at)
    headers, at = varint(data, at, 5)
    if not 0 <= headers <= len(data) - at:
        raise ValueError("headers")
    for _ in range(headers):
        key, at = _nullable(data, at)
        if key < 0:
            raise ValueError("header key")
        _, at = _nullable(data, at)
    if at != begin + size:
        raise ValueError("size")
    return timestamp, offset, at


def records(data: bytes, count: int) -> tuple[list[tuple[int, int, int]], bool, int]:
    """Read records one after the other (DefaultRecordBatch.RecordIterator).

    Return those before the first that cannot be read, whether there is one, and how many bytes are left.
    """
    found: list[tuple[int, int, int]] = []
    at = 0
    while len(found) < count:
        try:
            timestamp, offset, behind = record(data, at)
        except (IndexError, ValueError):
            return found, True, len(data) - at
        found.append((at, timestamp, offset))
        at = behind
    return found, False, len(data) - at
