"""Java's reading of text: Integer.parseInt, BufferedReader.readLine over UTF-8, and String.split at white space.

Facts: JDK 8 to 17, `sun.nio.cs.UTF_8`, `sun.nio.cs.StreamDecoder`, `java.io.BufferedReader`.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

INT_MIN, INT_MAX = -(2**31), 2**31 - 1
LONG_MIN, LONG_MAX = -(2**63), 2**63 - 1

_SHORT = 20
"""Digits of the longest number in names or files of brokers. Longer ones take a slower path."""
_LINE = re.compile(r"([^\r\n]*+)(?:\r\n|\n|\r|\Z)")
_WHITE_SPACE = re.compile(r"[ \t\n\x0b\f\r]+")
_FILL_SIZE = 8192
"""BufferedReader reads 8192 UTF-16 units at a time, and the decoder below it reads 8192 bytes."""
_SURROGATE = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]?")
"""Java counts the bytes of a surrogate as one error; Python counts each byte."""


def java_int(text: str) -> int | None:
    """Return the number as Integer.parseInt reads it; None if it throws NumberFormatException."""
    return _number(text, INT_MIN, INT_MAX)


def java_long(text: str) -> int | None:
    """Return the number as Long.parseLong reads it; None if it throws NumberFormatException."""
    return _number(text, LONG_MIN, LONG_MAX)


def wrapped(number: int, bits: int) -> int:
    """Return the value of a Java int (32 bits) or long (64 bits) after overflow."""
    half = 1 << (bits - 1)
    return (number + half) % (2 * half) - half


def unsigned_varint(number: int) -> bytes:
    """Return an unsigned varint (ByteUtils.writeUnsignedVarint, and writeUnsignedVarlong)."""
    data = bytearray()
    while number > 0x7F:
        data.append(number & 0x7F | 0x80)
        number >>= 7
    data.append(number)
    return bytes(data)


def java_hash(text: str) -> int:
    """Return String.hashCode of a text."""
    units = text.encode("utf-16-be", "surrogatepass")
    value = 0
    for at in range(0, len(units), 2):
        value = (31 * value + int.from_bytes(units[at : at + 2], "big")) & 0xFFFFFFFF
    return wrapped(value, 32)


def java_lines(text: str) -> Iterator[str]:
    """Yield the lines of BufferedReader.readLine: only LF, CR or CR LF ends a line."""
    return (match[1] for match in _LINE.finditer(text) if match.start() < len(text))


def java_fields(line: str, most: int = 0) -> list[str]:
    r"""Return the fields of split("\\s+").

    A leading empty field counts, trailing ones do not; an empty line has one. A line with more than `most` fields gives
    `most` + 1. The last has the rest of the line, because a corrupt line can be long.
    """
    fields = _WHITE_SPACE.split(line, maxsplit=most)
    while len(fields) > 1 and not fields[-1]:
        fields.pop()
    return fields


class Utf8Lines(NamedTuple):
    """The result of BufferedReader.readLine for a file."""

    lines: Iterator[str]
    """The lines, to be read once."""
    malformed: bool = False
    """True if it throws MalformedInputException after these lines."""


def utf8_lines(data: bytes) -> Utf8Lines:
    """Return the lines of a file that Files.newBufferedReader reads; its decoder reports invalid UTF-8.

    The error hides every line that ends in the same fill of the reader's buffer. An incomplete sequence at the end of
    the file is reported only there, after all lines.
    """
    try:
        return Utf8Lines(java_lines(data.decode("utf-8")))
    except UnicodeDecodeError as error:
        seen = _seen_before(data, error.start)
    complete = max(seen.rfind("\n"), seen.rfind("\r")) + 1
    return Utf8Lines(java_lines(seen[:complete]), malformed=True)


def utf8_lines_replaced(data: bytes) -> Iterator[str]:
    """Yield the lines of a file that an InputStreamReader reads; its decoder replaces invalid UTF-8 by U+FFFD."""
    return java_lines(java_text(data))


def java_text(data: bytes) -> str:
    """Return the text of new String(bytes, UTF_8): U+FFFD replaces invalid UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return _SURROGATE.sub("\ufffd".encode(), data).decode("utf-8", "replace")


def java_bytes(text: str) -> bytes:
    """Return the bytes of String.getBytes(UTF_8): ? replaces a lone surrogate."""
    return text.encode("utf-8", "replace")


def _seen_before(data: bytes, position: int) -> str:
    """Return the text of the buffer fills that succeed; the first invalid UTF-8 is at `position`."""
    text = data[:position].decode("utf-8")
    units = text.encode("utf-16-le")
    start, count = 0, len(units) // 2
    while count - start > _FILL_SIZE:
        start += _FILL_SIZE
        if 0xD8 <= units[2 * start - 1] < 0xDC:
            start -= 1  # A surrogate pair needs two units: it begins the next fill.
    room = _FILL_SIZE - (count - start)
    available = _buffer_end(data, position) - position
    while not _malformed(data[position : position + available], room):
        # The decoder does not see it yet. A full fill succeeds; otherwise it reads more bytes, if there are any.
        if room == 0 or available >= _sequence_size(data[position]) or position + available == len(data):
            return text
        available = min(_FILL_SIZE, len(data) - position)
    return units[: 2 * start].decode("utf-16-le")


def _buffer_end(data: bytes, position: int) -> int:
    """Return the end of the bytes in the decoder's buffer when it reaches `position`; all before is valid UTF-8."""
    end = min(_FILL_SIZE, len(data))
    while end < position:
        start = end
        while data[start] & 0xC0 == 0x80:
            start -= 1  # The decoder keeps an incomplete sequence for its next read.
        end = min(start + _FILL_SIZE, len(data))
    return end


def _sequence_size(lead: int) -> int:
    return 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4


def _malformed(held: bytes, room: int) -> bool:
    """Return whether UTF_8.Decoder reports a malformed sequence once it holds the bytes `held` of it.

    It checks fewer bytes if the sequence is incomplete, or if its units do not fit into `room`.
    """
    if not held:
        return False
    lead, second = held[0], held[1] if len(held) > 1 else None
    if not 0xC2 <= lead < 0xF5:
        return True
    size = _sequence_size(lead)
    if len(held) >= size and room >= size // 2:
        return True
    if size == 2 or second is None:
        return False
    continues = second & 0xC0 == 0x80
    if size == 3:
        return not continues or (lead == 0xE0 and second < 0xA0)
    continues &= (lead != 0xF0 or second >= 0x90) and (lead != 0xF4 or second < 0x90)
    return not continues or (len(held) > 2 and held[2] & 0xC0 != 0x80)


def _number(text: str, least: int, most: int) -> int | None:
    """Read an optional sign, then decimal digits of any script of the Basic Multilingual Plane; nothing else."""
    digits = text[1:] if text[:1] in ("+", "-") else text
    if not digits.isdecimal():
        return None
    if len(digits) > _SHORT:
        digits = digits.lstrip(_zeros()) or "0"
    if len(digits) > _SHORT or not (digits.isascii() or max(text) < "\U00010000"):
        return None
    value = -int(digits) if text[0] == "-" else int(digits)
    return value if least <= value <= most else None


@cache
def _zeros() -> str:
    """Return the digit zero of every script."""
    return "".join(filter(str.isdecimal, map(chr, range(0x10000))))[::10]
