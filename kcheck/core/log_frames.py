"""The frame of a line of a broker's log: time, level and logger around the message, in any usual layout.

Layouts: Kafka's own, Strimzi's, Confluent's, logback's and several JSON ones; in front of them what kubectl, a
container runtime, journald, docker compose or grep writes.
"""

import json
import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import lru_cache
from typing import NamedTuple

LEVELS = ("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL")
_LEVEL = r"\[?(TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL|SEVERE)\b *\]?"
_USUAL = re.compile(
    r"\[(\d\d\d\d-\d\d-\d\d \d\d:\d\d:\d\d,\d\d\d)\] (INFO|WARN|ERROR|FATAL|DEBUG|TRACE)\s+(.*)", re.DOTALL
)
_TIME = r"\d\d\d\d[-/]\d\d[-/]\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?: ?(?:Z|UTC|GMT|[+-]\d\d:?\d\d))?"
_GAP = r"[ \t]*(?:[-|][ \t]+)?"
_ANY = re.compile(rf"\[?({_TIME})\]?{_GAP}(?:\[(?!\d{{4}}-)[^\]]{{1,200}}\]{_GAP})?{_LEVEL}\s*(.*)", re.DOTALL)
_LEVEL_FIRST = re.compile(rf"{_LEVEL}[ \t]+\[?({_TIME})\]?{_GAP}(.*)", re.DOTALL)
_TIME_OF_DAY = re.compile(rf"(\d\d:\d\d:\d\d[.,]\d\d\d) \[[^\]]{{1,200}}\] {_LEVEL}\s*(.*)", re.DOTALL)
"""What log4j2 and logback write without a configuration."""
_LEVEL_ALONE = re.compile(rf"{_LEVEL} +(.*)", re.DOTALL)
_FRAME_SPAN = 400
"""A frame begins within these characters: before it are the prefixes of what collects logs."""
_OUTER = re.compile(
    r"(?:\[pod/[^\]]{1,300}\] "
    r"|\d{4}-\d\d-\d\dT[\d:.]{8,20}(?:Z|[+-]\d\d:?\d\d) (?:std(?:out|err) [FP] )?"
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d "
    r"|[\w.-]{1,100} [\w./@-]{1,100}\[\d{1,10}\]: "
    r"|[\w.-]{1,100} +\| )"
)
_ANSI = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")
_LOGGER_LAST = re.compile(r" \(([\w.$]{1,200})(?::\d{1,6})?\)(?: \[[^\]]{0,200}\])?$")
_LOGGER_FIRST = re.compile(
    r"(?:- +)?(?:\[[^\]]{1,200}\] +)?\[?([\w.$]{1,200})(?![\w.$])\]?"
    r"(?::\d+)?(?: \[[^\]]{0,200}\])?(?: -|:| \([^)]{1,200}\)) "
)
_BEFORE_LOGGER = ("[", "-")
_AFTER_LOGGER = ("- ", "[")
_LOGGER_SIZE_MAX = 450
_BRACKET_MAX = 3

_MESSAGE = ("message", "msg", "event.original", "@message", "short_message")
_LEVEL_KEYS = ("level", "log.level", "severity", "levelname", "loglevel", "log_level")
_LOGGER_KEYS = ("loggerName", "logger", "logger_name", "log.logger", "class", "category", "source", "_logger")
_TIME_KEYS = ("@timestamp", "timestamp", "time", "ts", "date", "datetime", "asctime", "timeMillis")
_THROWN_KEYS = ("stack_trace", "exception", "thrown", "throwable", "stacktrace", "error.stack_trace")
_WRAPPED = ("log", "line", "MESSAGE")


class LogFrame(NamedTuple):
    """A message and what its layout says of it."""

    message: str
    level: str | None = None
    time: str | None = None
    """As it is written."""
    logger: str | None = None
    thrown: tuple[str, ...] = ()
    """The lines of an exception in a JSON layout."""
    outer: str = ""
    """What a collector of logs wrote in front of it."""


def frame(line: str) -> LogFrame | None:
    """Return the frame of a line; None if it has none: it continues the message before it."""
    usual = _USUAL.match(line)
    if usual is not None:
        time, level, message = usual.groups()
        return LogFrame(message, level, time)
    if line.startswith("\t"):
        return None
    if "\x1b" in line:
        line = _ANSI.sub("", line)
    if "{" in line and line.rstrip().endswith("}"):
        of_json = _of_json(line[line.index("{") :])
        if of_json is not None:
            return of_json
    framed = _ANY.search(line, 0, min(len(line), _FRAME_SPAN)) or _TIME_OF_DAY.match(line)
    if framed is None:
        first = _LEVEL_FIRST.match(without_outer(line))
        return None if first is None else LogFrame(first[3], _level(first[1]), first[2])
    time, level, _ = framed.groups()
    return LogFrame(line[framed.start(3) :], _level(level), time, outer=line[: framed.start()])


def bare(text: str) -> LogFrame:
    """Return the frame of a message that was copied without one, or with its level alone."""
    framed = _LEVEL_ALONE.match(text)
    return LogFrame(text) if framed is None else LogFrame(framed[2], _level(framed[1]))


def unwrapped(line: str) -> str:
    """Return the line that a collector of logs wrapped in JSON; any other line as it is."""
    if line[:1] != "{" or not any(f'"{name}"' in line for name in _WRAPPED):
        return line
    try:
        row: dict[str, object] = json.loads(line)
    except (ValueError, RecursionError):
        return line
    inner = _wrapped(row)
    return line if inner is None else inner.rstrip("\r\n")


def _wrapped(row: Mapping[str, object]) -> str | None:
    """Return the line in a row of a collector; journald writes one with unprintable characters as its bytes."""
    if any(isinstance(row.get(key), str) for key in _MESSAGE):
        return None
    for name in _WRAPPED:
        inner = row.get(name)
        if isinstance(inner, str):
            return inner
        if isinstance(inner, list) and inner and all(type(byte) is int and 0 <= byte <= _BYTE_MAX for byte in inner):
            return bytes(inner).decode("utf-8", "replace")
    return None


def without_outer(line: str, outer: str = "") -> str:
    """Return a line without what a collector of logs wrote in front of it; `outer` is what it wrote before."""
    line, at = line.removeprefix(outer), 0
    while (prefix := _OUTER.match(line, at)) is not None:
        at = prefix.end()
    return _ANSI.sub("", line[at:])


def with_logger(framed: LogFrame) -> LogFrame:
    """Return the frame with its logger apart from the message."""
    message = without_logger(framed.message)
    if len(message) < len(framed.message.rstrip()):
        last = _LOGGER_LAST.search(framed.message.rstrip()[len(message) :])
        assert last is not None
        return framed._replace(message=message, logger=last[1])
    end = logger_end(message)
    first = _LOGGER_FIRST.match(message) if end else None
    return framed._replace(message=message[end:], logger=framed.logger if first is None else first[1])


def without_logger(message: str) -> str:
    """Return a message without the logger in parentheses that most layouts write last."""
    message = message.rstrip()
    if not message.endswith((")", "]")):
        return message
    begin = max(0, len(message) - _LOGGER_SIZE_MAX)
    last = _LOGGER_LAST.search(message, begin)
    return message if last is None else message[: last.start()]


def logger_end(message: str) -> int:
    """Return where the message begins in a layout that writes the logger before it; 0 if there is none."""
    if message[:1] not in _BEFORE_LOGGER:
        word, _, rest = message.partition(" ")
        if "." not in word and not rest.startswith(_AFTER_LOGGER):
            return 0  # Most lines: the pattern costs more.
    first = _LOGGER_FIRST.match(message)
    return first.end() if first is not None and ("." in first[1] or first[0].endswith(" - ")) else 0


def bodies(message: str) -> tuple[tuple[str, str], ...]:
    """Return the message, and the same without its prefixes in brackets, each with the prefixes that it leaves out."""
    if message[:1] != "[":
        old = _OLD_PREFIX.match(message) if message[:1] in _OLD_INITIALS else None
        return (("", message),) if old is None else ((old[0], message[old.end() :]), ("", message))
    some = [("", message)]
    at = 0
    while len(some) <= _BRACKET_MAX and message.startswith("[", at):
        bracket = _BRACKET_END.search(message, at)
        if bracket is None:
            break
        at = bracket.end()
        some.append((message[:at], message[at:]))
    some.reverse()
    return tuple(some)


_BRACKET_END = re.compile(r"\][:,]? ")
_OLD_PREFIX = re.compile(r"(?:Partition \[[^\]]{1,300}\] on broker \d+|Cleaner \d+|Replica Manager on Broker \d+): ")
"""Up to 0.11 prefixes had no brackets."""
_OLD_INITIALS = ("P", "C", "R")


def milliseconds(time: str) -> int | None:
    """Return a time as ms since 1970, UTC unless it names a zone; None if it is not one."""
    since = _SINCE_1970.fullmatch(time)
    if since is not None:
        digits, fraction = since.groups()
        if len(digits) < _MS_DIGITS_MIN:
            return int(digits) * 1000 + int((fraction or "0")[:3].ljust(3, "0"))
        return int(digits[: len(digits) - (len(digits) - _MS_DIGITS_MIN) // 3 * 3])
    second = _second(time[:19].replace("/", "-"))
    rest = _REST_OF_TIME.fullmatch(time, 19) if second is not None else None
    if second is None or rest is None:
        return None
    fraction, sign, hours, minutes = rest.groups()
    shift = 0 if sign is None else (int(hours) * 3600 + int(minutes) * 60) * (-1 if sign == "-" else 1)
    return (second - shift) * 1000 + int((fraction or "0")[:3].ljust(3, "0"))


@lru_cache(maxsize=64)
def _second(text: str) -> int | None:
    """Return a time without a zone as seconds since 1970; None if it is not one."""
    try:
        return (datetime.fromisoformat(text) - _EPOCH) // timedelta(seconds=1)
    except (ValueError, TypeError):
        return None


_SINCE_1970 = re.compile(r"([0-9]{1,19})(?:\.([0-9]{1,9}))?")
"""In s, ms, us or ns: by the number of its digits."""
_MS_DIGITS_MIN = 12
_REST_OF_TIME = re.compile(r"(?:[.,](\d{1,9}))?(?: ?(?:Z|UTC|GMT|([+-])(\d\d):?(\d\d)))?")
_EPOCH = datetime.fromisoformat("1970-01-01T00:00:00")


def _level(text: str) -> str:
    return _LEVELS.get(text, text)


_LEVELS = {"WARNING": "WARN", "SEVERE": "ERROR", "2": "FATAL", "3": "ERROR", "4": "WARN", "6": "INFO", "7": "DEBUG"}
"""Those of java.util.logging, and of syslog."""
_BYTE_MAX = 255


def _of_json(text: str) -> LogFrame | None:
    """Return the frame of a line of JSON; None if it is none, or has no message."""
    try:
        row: dict[str, object] = json.loads(text)
    except (ValueError, RecursionError):
        return None
    inner = _wrapped(row)
    if inner is not None:
        return frame(inner.rstrip("\n")) or LogFrame(inner.rstrip("\n"), None, _text(row, _TIME_KEYS))
    message = _text(row, _MESSAGE)
    if message is None:
        return None
    level = (_text(row, _LEVEL_KEYS) or "").upper()
    inner_frame = frame(message) if not level or _ANY.match(message) else None
    if inner_frame is not None:
        return inner_frame
    return LogFrame(message, _level(level) if level else None, _json_time(row), _text(row, _LOGGER_KEYS), _thrown(row))


def _text(row: Mapping[str, object], names: tuple[str, ...]) -> str | None:
    """Return the first of these fields that is a text or number; a dot in a name leads into an object."""
    for name in names:
        value = row.get(name)
        if value is None and "." in name:
            outer, inner = name.split(".", 1)
            parent = row.get(outer)
            value = parent.get(inner) if isinstance(parent, Mapping) else None
        if isinstance(value, (str, int, float)) and not isinstance(value, bool):
            return str(value)
    return None


def _json_time(row: Mapping[str, object]) -> str | None:
    instant = row.get("instant")
    if isinstance(instant, Mapping) and isinstance(instant.get("epochSecond"), int):
        nanoseconds = instant.get("nanoOfSecond")
        part = nanoseconds // 1_000_000 if isinstance(nanoseconds, int) else 0
        return str(instant["epochSecond"] * 1000 + part)
    return _text(row, _TIME_KEYS)


def _thrown(row: Mapping[str, object]) -> tuple[str, ...]:
    """Return the lines of the exception of a JSON layout."""
    thrown = row.get("thrown", row.get("exception"))
    if isinstance(thrown, Mapping):
        name = _text(thrown, ("name", "exception_class", "type", "class")) or ""
        message = _text(thrown, ("message", "exception_message")) or ""
        stack = _text(thrown, ("extendedStackTrace", "stacktrace", "stack_trace")) or ""
        return (f"{name}: {message}", *stack.splitlines())
    return tuple((_text(row, _THROWN_KEYS) or "").splitlines())
