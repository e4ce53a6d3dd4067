"""Reads JSON as Kafka does: Jackson's ObjectMapper with its defaults, which ignores text after the first value."""

import json

from kcheck.model.parsed import FOUND_SIZE_MAX

_WHITE_SPACE = " \t\r\n"
_DIGITS_MAX = 1000
"""Jackson refuses a number with more characters (StreamReadConstraints)."""


def read_json(text: str) -> object:
    """Return the first JSON value of a text; raise ValueError if the text does not begin with one."""
    decoder = json.JSONDecoder(parse_constant=_refuse, parse_int=_int)
    try:
        return decoder.raw_decode(text.lstrip(_WHITE_SPACE))[0]
    except (ValueError, RecursionError) as error:
        raise ValueError("the text does not begin with JSON") from error


def _refuse(constant: str) -> float:
    raise ValueError(constant)


def _int(digits: str) -> int:
    if len(digits) > _DIGITS_MAX:
        raise ValueError(digits[:FOUND_SIZE_MAX])
    return int(digits)
