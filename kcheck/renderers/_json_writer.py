"""Writes JSON as Kafka's tools do: Jackson's shortest form, with numbers formatted as Java formats them."""

import json
import re
from typing import Any

_ESCAPED = re.compile('[\x00-\x1f"\\\\]')
_SHORT = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", '"': '\\"', "\\": "\\\\"}
_encode = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":")).encode
_OTHERWISE = re.compile(r"\\u|\.\d|e[+-]\d")
"""Python writes escapes by number and fractions in another way; a text may look like one of them."""
_PLAIN_LEAST, _PLAIN_MOST = -3, 7
"""Double.toString writes an exponent outside of 10^-3 up to 10^7."""


def jackson(value: Any) -> str:
    """Return the text of a value: of control characters those below the space are escaped, and no others."""
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
        return "{" + ",".join(f"{_exactly(name)}:{_exactly(each)}" for name, each in value.items()) + "}"
    return str(value) if isinstance(value, int) else "[" + ",".join(map(_exactly, value)) + "]"


def _escape(match: re.Match[str]) -> str:
    return _SHORT.get(match[0], f"\\u{ord(match[0]):04X}")


def printable_json(text: str) -> str:
    """Return the same JSON without a character that moves the cursor."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _units(c) for c in text)


def _units(character: str) -> str:
    """Return the escape of a character: one for each UTF-16 unit."""
    units = character.encode("utf-16-be")
    return "".join(f"\\u{units[at]:02X}{units[at + 1]:02X}" for at in range(0, len(units), 2))


def java_double(number: float) -> str:
    """Return what Double.toString writes for a number, from JDK 19 on: the fewest digits that tell it, two at least."""
    sign, digits, exponent = _decimal(number)
    if _PLAIN_LEAST <= exponent < _PLAIN_MOST:
        padded = "0" * -exponent + digits
        whole = max(exponent, 0) + 1
        padded = padded.ljust(whole + 1, "0")
        return f"{sign}{padded[:whole]}.{padded[whole:]}"
    return f"{sign}{digits[0]}.{digits[1:] or '0'}E{exponent}"


def _decimal(number: float) -> tuple[str, str, int]:
    """Return the sign, the significant digits, and the power of ten of the first of them."""
    text = repr(number)
    if len(text.lstrip("-").partition("e")[0]) == 1:
        text = f"{number:.1e}"  # of two digits the nearest to the number, which need not begin with the one
    sign = "-" if text.startswith("-") else ""
    mantissa, _, power = text.removeprefix("-").partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = whole + fraction
    leading = len(digits) - len(digits.lstrip("0"))
    significant = digits.strip("0")
    if not significant:
        return sign, "0", 0
    return sign, significant, int(power or 0) + len(whole) - 1 - leading
