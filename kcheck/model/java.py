"""How Java reads numbers, lines and fields: Integer.parseInt, BufferedReader.readLine, String.split on white space."""

import re

INT_MIN, INT_MAX = -(2**31), 2**31 - 1
LONG_MIN, LONG_MAX = -(2**63), 2**63 - 1

_SHORT = 20
"""Digits of a file name and of every number that a broker writes: read without looking at each."""
_LINE_ENDS = re.compile(r"\r\n|\n|\r")
_WHITE_SPACE = re.compile(r"[ \t\n\x0b\f\r]+")


def java_int(text: str) -> int | None:
    """Return the number as Integer.parseInt reads it, None where that throws NumberFormatException."""
    return _number(text, INT_MIN, INT_MAX)


def java_long(text: str) -> int | None:
    """Return the number as Long.parseLong reads it, None where that throws NumberFormatException."""
    return _number(text, LONG_MIN, LONG_MAX)


def java_lines(text: str) -> list[str]:
    """Return the lines of BufferedReader.readLine: ended by LF, CR or CR LF, and by nothing else."""
    lines = _LINE_ENDS.split(text)
    if not lines[-1]:
        lines.pop()
    return lines


def java_fields(line: str) -> list[str]:
    """Return the fields of split on runs of ASCII white space: a leading empty field counts, trailing ones do not."""
    fields = _WHITE_SPACE.split(line)
    while len(fields) > 1 and not fields[-1]:
        fields.pop()
    return fields


def _number(text: str, least: int, most: int) -> int | None:
    """Read an optional sign, then decimal digits of any script of the Basic Multilingual Plane; nothing else."""
    if text.isascii() and text.isdigit() and len(text) <= _SHORT:
        value = int(text)
        return value if value <= most else None
    digits = text[1:] if text[:1] in ("+", "-") else text
    if not digits or not all(c.isdecimal() and ord(c) < 0x10000 for c in digits):
        return None
    value = 0
    for digit in digits:
        value = value * 10 + int(digit)
        if value > most + 1:
            return None
    value = -value if text[0] == "-" else value
    return value if least <= value <= most else None
