"""A JSON text as Jackson's ObjectMapper reads it with its defaults: what follows the first value is not looked at."""

import json

from kcheck.model.parsed import FOUND_SIZE_MAX

_WHITE_SPACE = " \t\r\n"
_DIGITS_MAX = 1000
"""Jackson refuses a number of more characters (StreamReadConstraints)."""


def tree(text: str) -> object:
    """Return the value that a text begins with; ValueError where there is none."""
    decoder = json.JSONDecoder(parse_constant=_refuse, parse_int=_int)
    try:
        return decoder.raw_decode(text.lstrip(_WHITE_SPACE))[0]
    except (ValueError, RecursionError) as error:
        raise ValueError("it begins with no JSON") from error


def _refuse(constant: str) -> float:
    raise ValueError(constant)


def _int(digits: str) -> int:
    if len(digits) > _DIGITS_MAX:
        raise ValueError(digits[:FOUND_SIZE_MAX])
    return int(digits)
