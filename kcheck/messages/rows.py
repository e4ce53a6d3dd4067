"""Lines of JSON and logfmt, with the message, its level, time and logger, or a wrapped line."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

_MESSAGE = ("message", "msg", "event.original", "@message", "short_message")
_WRAPPED = ("log", "line", "textpayload", "_raw", "raw", "body")
"""Fields in which collectors keep a line as it was written."""
_LEVEL = (
    "level", "log.level", "severity", "severitytext", "severity_text", "levelname", "loglevel", "log_level", "lvl",
    "priority",
)  # fmt: skip
_LOGGER = (
    "loggername", "logger", "logger_name", "log.logger", "class", "category", "source", "_logger", "scope.name",
    "scope", "name",
)  # fmt: skip
_TIME = (
    "@timestamp", "timestamp", "time", "ts", "date", "datetime", "asctime", "timemillis", "timeunixnano",
)  # fmt: skip
_THROWN = ("stack_trace", "exception", "thrown", "throwable", "stacktrace", "error.stack_trace")
_DEPTH_MAX = 3
"""Fields can be in an object of a collector."""
_BYTE_MAX = 255
_PAIR = re.compile(r'([A-Za-z_@][\w.@-]{0,60})=("(?:[^"\\]|\\.)*"|[^\s"]*)(?:\s+|$)')
_PAIRS_MAX = 100
_ESCAPED = re.compile(r"\\(.)")
_ESCAPES = {"n": "\n", "t": "\t", "r": ""}

FieldsOfLine = Mapping[str, object]


class LogRow(NamedTuple):
    """The contents of a line of fields."""

    message: str
    level: str | None
    time: str | None
    logger: str | None
    thrown: tuple[str, ...]
    """The lines of its exception."""
    is_wrapped: bool
    """True if the message is a line as a broker wrote it, perhaps with its own level and time."""


def row_of_json(text: str) -> LogRow | None:
    """Return the contents of an object of JSON; None if it is not one, or has no message."""
    try:
        fields: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return _row(fields, 0) if isinstance(fields, dict) else None


def row_of_pairs(text: str) -> LogRow | None:
    """Return the contents of a line of logfmt, such as `level=warn msg="..."`; None if it is not one."""
    fields: dict[str, object] = {}
    at = 0
    while len(fields) < _PAIRS_MAX and (pair := _PAIR.match(text, at)) is not None:
        name, value = pair.groups()
        fields[name] = _ESCAPED.sub(_unescaped, value[1:-1]) if value.startswith('"') else value
        at = pair.end()
    row = _row(fields, 0) if at == len(text) else None
    return None if row is None or row.level is None else row


def _unescaped(escaped: re.Match[str]) -> str:
    return _ESCAPES.get(escaped[1], escaped[1])


def wrapped_line(text: str) -> str | None:
    """Return the line that a collector of logs wrapped in JSON; None without one."""
    row = row_of_json(text)
    if row is None or not row.is_wrapped or None not in (row.level, row.logger):
        return None
    return row.message.rstrip("\r\n")


def _row(fields: FieldsOfLine, depth: int) -> LogRow | None:
    of_journal = _line({"log": fields.get("MESSAGE")})
    fields = {name.lower(): value for name, value in fields.items()}
    level = None if of_journal is not None else _level(fields)
    message = of_journal or _first(fields, _MESSAGE)
    is_wrapped = message is None or level is None
    if message is None:
        message = _line(fields)
    if message is not None:
        logger = _first(fields, _LOGGER)
        return LogRow(message, level, _time(fields), logger, _thrown(fields), is_wrapped)
    inner = (value for value in fields.values() if depth < _DEPTH_MAX and isinstance(value, Mapping))
    return next((row for value in inner if (row := _row(value, depth + 1)) is not None), None)


def _line(fields: FieldsOfLine) -> str | None:
    """Return the line in a row of a collector; journald writes a line with unprintable characters as bytes."""
    for name in _WRAPPED:
        value = fields.get(name)
        if isinstance(value, str):
            return value
        if isinstance(value, list) and value and all(type(byte) is int and 0 <= byte <= _BYTE_MAX for byte in value):
            return bytes(value).decode("utf-8", "replace")
        if name == "body" and isinstance(value, Mapping):
            return _first(value, ("stringValue",))
    return None


def _level(fields: FieldsOfLine) -> str | None:
    """Return the level, in capitals."""
    level = _first(fields, _LEVEL)
    return None if level is None else level.upper()


def _first(fields: FieldsOfLine, names: tuple[str, ...]) -> str | None:
    """Return the first of these fields that is a text or number; a dot means a nested field."""
    return next(_texts(fields, names), None)


def _texts(fields: FieldsOfLine, names: tuple[str, ...]) -> Iterator[str]:
    for name in names:
        value = fields.get(name)
        if value is None and "." in name:
            outer, inner = name.split(".", 1)
            parent = fields.get(outer)
            value = parent.get(inner) if isinstance(parent, Mapping) else None
        if isinstance(value, (str, int, float)) and not isinstance(value, bool):
            yield str(value)


def _time(fields: FieldsOfLine) -> str | None:
    instant = fields.get("instant")
    if isinstance(instant, Mapping) and isinstance(instant.get("epochSecond"), int):
        nanoseconds = instant.get("nanoOfSecond")
        part = nanoseconds // 1_000_000 if isinstance(nanoseconds, int) else 0
        return str(instant["epochSecond"] * 1000 + part)
    return _first(fields, _TIME)


def _thrown(fields: FieldsOfLine) -> tuple[str, ...]:
    """Return the lines of the exception."""
    thrown = fields.get("thrown", fields.get("exception"))
    if isinstance(thrown, Mapping):
        name = _first(thrown, ("name", "exception_class", "type", "class")) or ""
        message = _first(thrown, ("message", "exception_message")) or ""
        stack = _first(thrown, ("extendedStackTrace", "stacktrace", "stack_trace")) or ""
        return (f"{name}: {message}", *stack.splitlines())
    return tuple((_first(fields, _THROWN) or "").splitlines())
