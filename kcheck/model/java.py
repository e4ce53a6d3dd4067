"""How Java reads text: Integer.parseInt, BufferedReader.readLine over a UTF-8 decoder, String.split on white space.

Facts: JDK 8 to 17, `sun.nio.cs.UTF_8`, `sun.nio.cs.StreamDecoder`, `java.io.BufferedReader`.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

INT_MIN, INT_MAX = -(2**31), 2**31 - 1
LONG_MIN, LONG_MAX = -(2**63), 2**63 - 1

_SHORT = 20
"""Digits of a file name and of every number that a broker writes: read without looking at each."""
_LINE = re.compile(r"([^\r\n]*+)(?:\r\n|\n|\r|\Z)")
_WHITE_SPACE = re.compile(r"[ \t\n\x0b\f\r]+")
_FILL_SIZE = 8192
"""BufferedReader asks for so many UTF-16 units at a time, and the decoder below it reads so many bytes."""
_SURROGATE = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]?")
"""Java takes the bytes of a surrogate for one error; Python finds one in each."""


def java_int(text: str) -> int | None:
    """Return the number as Integer.parseInt reads it, None where that throws NumberFormatException."""
    return _number(text, INT_MIN, INT_MAX)


def java_long(text: str) -> int | None:
    """Return the number as Long.parseLong reads it, None where that throws NumberFormatException."""
    return _number(text, LONG_MIN, LONG_MAX)


def wrapped(number: int, bits: int) -> int:
    """Return what an int (32 bits) or a long (64) of Java holds after a computation gave this number."""
    half = 1 << (bits - 1)
    return (number + half) % (2 * half) - half


def java_lines(text: str) -> Iterator[str]:
    """Yield the lines of BufferedReader.readLine: ended by LF, CR or CR LF, and by nothing else."""
    return (match[1] for match in _LINE.finditer(text) if match.start() < len(text))


def java_fields(line: str, most: int = 0) -> list[str]:
    r"""Return the fields of split("\\s+"): a leading empty field counts, trailing ones do not, an empty line is one.

    With `most` a line of more fields gives `most` + 1 of them, the last with all that is left: a line may be anything.
    """
    fields = _WHITE_SPACE.split(line, maxsplit=most)
    while len(fields) > 1 and not fields[-1]:
        fields.pop()
    return fields


class Utf8Lines(NamedTuple):
    """The lines that BufferedReader.readLine gives, once, and whether it throws MalformedInputException after them."""

    lines: Iterator[str]
    malformed: bool = False


def utf8_lines(data: bytes) -> Utf8Lines:
    """Return the lines of a file read by Files.newBufferedReader, whose decoder reports what is no UTF-8.

    The error hides every line that ends in the same fill of the reader's buffer. Bytes that the end of the file cuts
    short are noticed only at that end, after all lines.
    """
    try:
        return Utf8Lines(java_lines(data.decode("utf-8")))
    except UnicodeDecodeError as error:
        seen = _seen_before(data, error.start)
    whole = max(seen.rfind("\n"), seen.rfind("\r")) + 1
    return Utf8Lines(java_lines(seen[:whole]), malformed=True)


def utf8_lines_replaced(data: bytes) -> Iterator[str]:
    """Yield the lines of a file read by an InputStreamReader, whose decoder puts U+FFFD for what is no UTF-8."""
    return java_lines(java_text(data))


def java_text(data: bytes) -> str:
    """Return the text of new String(bytes, UTF_8), with U+FFFD for what is no UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return _SURROGATE.sub("\ufffd".encode(), data).decode("utf-8", "replace")


def _seen_before(data: bytes, position: int) -> str:
    """Return the text of the fills that succeed, `position` being that of the first bytes that are no UTF-8."""
    text = data[:position].decode("utf-8")
    units = text.encode("utf-16-le")
    start, count = 0, len(units) // 2
    while count - start > _FILL_SIZE:
        start += _FILL_SIZE
        if 0xD8 <= units[2 * start - 1] < 0xDC:
            start -= 1  # A pair does not fit into one unit: it begins the next fill.
    room = _FILL_SIZE - (count - start)
    available = _buffer_end(data, position) - position
    while not _malformed(data[position : position + available], room):
        # Not seen yet. A full fill ends well; else more bytes are read, if there are any.
        if room == 0 or available >= _sequence_size(data[position]) or position + available == len(data):
            return text
        available = min(_FILL_SIZE, len(data) - position)
    return units[: 2 * start].decode("utf-16-le")


def _buffer_end(data: bytes, position: int) -> int:
    """Return how far the bytes reach that the decoder holds when it comes to `position`; all before is UTF-8."""
    end = min(_FILL_SIZE, len(data))
    while end < position:
        start = end
        while data[start] & 0xC0 == 0x80:
            start -= 1  # The first bytes of a sequence that the end cuts stay for the next read.
        end = min(start + _FILL_SIZE, len(data))
    return end


def _sequence_size(lead: int) -> int:
    return 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4


def _malformed(held: bytes, room: int) -> bool:
    """Whether UTF_8.Decoder reports the bytes that begin an ill-formed sequence, of which it holds `held`.

    Where the sequence is not there whole, or its units have no room, it looks at fewer bytes.
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
