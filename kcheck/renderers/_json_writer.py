"""Writes JSON as Kafka's tools do: Jackson's shortest form, with numbers formatted as Java formats them."""

import re
from json.encoder import encode_basestring
from typing import Any

_ESCAPED = re.compile('[\x00-\x1f"\\\\]')
_SHORT = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", '"': '\\"', "\\": "\\\\"}
_PLAIN_LEAST, _PLAIN_MOST = -3, 7
"""Double.toString writes an exponent for numbers below 10^-3, and from 10^7 on."""


def jackson(value: Any) -> str:
    """Return the JSON of a value; the only control characters it escapes are those below the space."""
    kind = type(value)
    if kind is int:
        return str(value)
    if kind is str:
        quick: str = encode_basestring(value)
        return f'"{_ESCAPED.sub(_escape, value)}"' if "\\u" in quick else quick
    if kind is dict:
        return "{" + ",".join([f'"{name}":{jackson(item)}' for name, item in value.items()]) + "}"
    if kind is float:
        return java_double(value)
    if value is None or kind is bool:
        return {None: "null", True: "true", False: "false"}[value]
    return "[" + ",".join(map(jackson, value)) + "]"


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


class PrintableJson:
    """The JSON of values, with unprintable characters escaped; a value that comes again is written once."""

    def __init__(self) -> None:
        """Begin without any."""
        self._texts: dict[int, tuple[object, str]] = {}

    def of(self, value: object) -> str:
        """Return the JSON of a value; it is kept, so that no other value gets its id."""
        if id(value) not in self._texts:
            self._texts[id(value)] = value, printable_json(jackson(value))
        return self._texts[id(value)][1]


def java_double(number: float) -> str:
    """Return a number as Double.toString of JDK 19 and later, with the fewest distinguishing digits, at least two."""
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
