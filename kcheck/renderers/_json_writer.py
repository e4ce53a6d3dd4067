"""Writes JSON as Kafka's tools do: Jackson's shortest form, with numbers formatted as Java formats them."""

import json
import re
from typing import Any

_ESCAPED = re.compile('[\x00-\x1f"\\\\]')
_SHORT = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", '"': '\\"', "\\": "\\\\"}
_encode = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":")).encode
_OTHERWISE = re.compile(r"\\u|\.\d|e[+-]\d")
"""Texts that Python may write differently from Jackson: numeric escapes and fractions."""
_PLAIN_LEAST, _PLAIN_MOST = -3, 7
"""Double.toString writes an exponent for numbers below 10^-3, and from 10^7 on."""


def jackson(value: Any) -> str:
    """Return the JSON of a value; the only control characters it escapes are those below the space."""
    text = _encode(value)
    return text if _OTHERWISE.search(text) is None else _exactly(value)


def _exactly(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return f'"{_ESCAPED.sub(_escape, value)}"'
    if isinstance(value, float):
        return java_double(value)
    if isinstance(value, dict):
        return "{" + ",".join(f"{_exactly(name)}:{_exactly(item)}" for name, item in value.items()) + "}"
    return str(value) if isinstance(value, int) else "[" + ",".join(map(_exactly, value)) + "]"


def _escape(match: re.Match[str]) -> str:
    return _SHORT.get(match[0], f"\\u{ord(match[0]):04X}")


def printable_json(text: str) -> str:
    """Return the same JSON with unprintable characters escaped."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _units(c) for c in text)


def _units(character: str) -> str:
    """Return the escapes of a character, one per UTF-16 unit."""
    units = character.encode("utf-16-be")
    return "".join(f"\\u{units[at]:02X}{units[at + 1]:02X}" for at in range(0, len(units), 2))


def java_double(number: float) -> str:
    """Return a number as Double.toString writes it from JDK 19 on: the fewest digits that identify it, at least two."""
    sign, digits, exponent = _decimal(number)
    if _PLAIN_LEAST <= exponent < _PLAIN_MOST:
        padded = "0" * -exponent + digits
        integer_width = max(exponent, 0) + 1
        padded = padded.ljust(integer_width + 1, "0")
        return f"{sign}{padded[:integer_width]}.{padded[integer_width:]}"
    return f"{sign}{digits[0]}.{digits[1:] or '0'}E{exponent}"


def _decimal(number: float) -> tuple[str, str, int]:
    """Return the sign, the significant digits, and the power of ten of the first digit."""
    text = repr(number)
    if len(text.lstrip("-").partition("e")[0]) == 1:
        text = f"{number:.1e}"  # the nearest two-digit number may begin with another digit
    sign = "-" if text.startswith("-") else ""
    mantissa, _, power = text.removeprefix("-").partition("e")
    integer, _, fraction = mantissa.partition(".")
    digits = integer + fraction
    leading = len(digits) - len(digits.lstrip("0"))
    significant = digits.strip("0")
    if not significant:
        return sign, "0", 0
    return sign, significant, int(power or 0) + len(integer) - 1 - leading
