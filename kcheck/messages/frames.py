"""The frame of a line of a broker's log (time, level and logger around the message), in usual layouts.

The layouts are from Kafka, Strimzi, Confluent, logback, java.util.logging and Spring, also JSON and logfmt. In front of
them can be output of kubectl, a container runtime, journald, syslog, docker compose or grep. A head is read as a row of
parts. These are a time, a level, a logger, threads in brackets, and the separators.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from kcheck.messages.rows import LogRow, row_of_json, row_of_pairs, wrapped_line
from kcheck.messages.times import ANY_TIME, CLOCK

_NAMES = "TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL|SEVERE"
_LEVEL = rf"(\[? *+(?:{_NAMES})\b(?: *+\])?|\[ *+(?i:{_NAMES}) *+\])(?::(?= ))?"
_USUAL = re.compile(
    r"\[(\d\d\d\d-\d\d-\d\d \d\d:\d\d:\d\d,\d\d\d)\] (INFO|WARN|ERROR|FATAL|DEBUG|TRACE)\s+(.*)", re.DOTALL
)
_GAP = r"[ \t]*+(?:(?:-{1,3}|[|;:,])[ \t]*+)?"
"""A gap of blanks without backtracking, so that a line of blanks takes time linear in its length."""
_BRACKETS = r"(?:\[(?!\d{4}-)[^\]]{0,200}\]|\([^)]{1,200}\))"
_BETWEEN = (
    rf"{_GAP}(?:(?:{_BRACKETS}|[\w.$@/-]{{1,200}}(?=[ \t]*+(?:-{{1,3}}|[|;:])[ \t])|\d{{1,10}}(?= )){_GAP}){{0,3}}"
)
_ANY = re.compile(rf"\[?({ANY_TIME})\]?{_BETWEEN}{_LEVEL}\s*(.*)", re.DOTALL)
_LEVEL_FIRST = re.compile(rf"{_LEVEL}[ \t]+(?:{_BRACKETS} )?\[?({ANY_TIME}|{CLOCK})\]?{_GAP}(.*)", re.DOTALL)
_TIME_OF_LINE = re.compile(rf"({CLOCK}|\d{{10}}(?:\.\d{{1,9}})?|\d{{13}}) {_BETWEEN}{_LEVEL}\s*(.*)", re.DOTALL)
"""Lines of log4j2 and logback without a configuration, and times since 1970."""
_NO_TIME = re.compile(rf"(?:\d{{1,9}} )?{_BETWEEN}{_LEVEL}[ \t]+(.*)", re.DOTALL)
_GLOG = re.compile(
    r"([TDIWEF])\d{4,8} \d\d:\d\d:\d\d\.\d{6} +\d{1,10} ([\w$]{1,100})\.\w{1,10}:\d{1,6}\] (.*)", re.DOTALL
)
"""glog's; it names no year."""
_FIRST_OF_TWO = re.compile(rf"({ANY_TIME}) ([\w.$]{{1,200}}) [\w$<>]{{1,100}}")
"""The line of java.util.logging above a message."""
_FRAME_SPAN = 400
"""Maximum position of a frame. Prefixes of log collectors are before it."""
_OUTER = re.compile(
    r"(?:\[pod/[^\]]{1,300}\] "
    r"|<\d{1,3}>(?:\d (\d{4}-\d\d-\d\dT[\w:.+-]{8,30}) [\w.-]{1,100} [\w./@-]{1,100} [\w-]{1,60} [\w-]{1,60}"
    r" (?:-|(?:\[[^\]]{0,500}\]){1,5}) )?"
    r"|(\d{4}-\d\d-\d\dT[\d:.]{8,20}(?:Z|[+-]\d\d:?\d\d)) (?:std(?:out|err) [FP] )?"
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d "
    r"|[\w.-]{1,100} [\w./@-]{1,100}\[\d{1,10}\]: "
    r"|[\w.-]{1,100} +\| )"
)
_ANSI = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")
_LOGGER_LAST = re.compile(r" \(([\w.$]{1,200})(?::\d{1,6})?\)(?: \[[^\]]{0,200}\])?$")
_LOGGER_SIZE_MAX = 450
_NO_ERROR = r"(?![\w.$-]*(?:Exception|Error)\b)"
_CLASS = rf"{_NO_ERROR}(?:[\w$-]{{1,100}}\.){{1,12}}[A-Z][\w$]{{0,100}}(?:\.[a-z]\w{{0,60}})?"
_HEAD_PART = re.compile(
    r"(?P<prefix>\[(?:[^\]]|\](?![:,]? |\[)){0,1200}\](?:[:,]? |(?=\[)))[ \t]*"
    r"|(?P<gap>(?:-{1,3}|[|:])[ \t]+|[|;][ \t]*)"
    r"|\d{1,10}[ \t]+---[ \t]+"
    r"|\([\w.:$/ -]{1,200}\)[ \t]+"
    rf"|(?P<logger>{_CLASS}(?::\d{{1,6}})?(?=[ \t]|;)"
    r"|[A-Za-z][\w.$-]{0,200}(?::\d{1,6})?(?=[ \t]*(?:-|\||;)[ \t]|\||;)"
    rf"|{_NO_ERROR}[A-Za-z][\w$-]{{0,100}}(?:\.[\w$-]{{1,100}}){{1,12}}(?=:? ?:[ \t]))[ \t]*"
)
"""A part of the text between the level and the message."""
_LOGGER_IN_BRACKETS = re.compile(rf"\[({_CLASS}|[a-z]\w+(?:\.\w+)+)\] *")
_LOGGER_BEFORE = re.compile(rf"({_CLASS})")
"""A logger before the level."""
_THREAD = re.compile(r"\[[^\] ]{1,200}\] *|\[ +[^\] ]{1,200}\] *")
_HEAD_PARTS_MAX = 8
_BRACKET_MAX = 3
_OLD_PREFIX = re.compile(r"(?:Partition \[[^\]]{1,300}\] on broker \d+|Cleaner \d+|Replica Manager on Broker \d+): ")
"""Up to 0.11 prefixes had no brackets."""
_PLAIN = re.compile(r"[A-Za-z']+ [A-Za-z<\d]")
"""Messages that begin with words, as most do, and have no head."""
_USUAL_PREFIX = re.compile(r"(\[[^\]\[]{0,1200}\][:,]? )[A-Za-z']+ [A-Za-z<\d]")
"""One prefix in brackets, and words."""
_ENDS = (")", "]")
"""The last characters of a logger, and of a thread after it."""
_OLD_INITIALS = ("P", "C", "R")


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
    """The prefixes of a log collector in front of it."""


def frame(line: str) -> LogFrame | None:
    """Return the frame of a line; None without one, as in a continued message."""
    usual = _USUAL.match(line)
    if usual is not None:
        time, level, message = usual.groups()
        return LogFrame(message, level, time)
    if line.startswith("\t"):
        return None
    if "\x1b" in line:
        line = _ANSI.sub("", line)
    if "{" in line and line.rstrip().endswith("}"):
        row = row_of_json(line[line.index("{") :])
        if row is not None:
            return _of_row(row)
    framed = _ANY.search(line, 0, min(len(line), _FRAME_SPAN)) or _TIME_OF_LINE.match(line)
    if framed is None:
        return _without_time(line)
    between = _LOGGER_BEFORE.search(line, framed.end(1), framed.start(2))
    logger = None if between is None else between[1]
    return LogFrame(line[framed.start(3) :], _level(framed[2]), framed[1], logger, outer=line[: framed.start()])


def of_two_lines(line: str, framed: LogFrame) -> LogFrame:
    """Return the frame of a message, with the facts of the line above it, as java.util.logging writes it."""
    first = _FIRST_OF_TWO.fullmatch(line) if framed.time is None else None
    return framed if first is None else framed._replace(time=first[1], logger=framed.logger or first[2])


def _without_time(line: str) -> LogFrame | None:
    """Return the frame of a line that begins with its level, or of fields, perhaps with a collector's time."""
    end, time = _outer_end(line, 0)
    inner = line[end:]
    first = _LEVEL_FIRST.match(inner)
    if first is not None:
        return LogFrame(first[3], _level(first[1]), first[2])
    glog = _GLOG.match(inner)
    if glog is not None:
        return LogFrame(glog[3], _level(glog[1]), time, glog[2], outer=line[:end])
    alone = _NO_TIME.match(inner)
    if alone is not None:
        between = _LOGGER_BEFORE.search(inner, 0, alone.start(1))
        return LogFrame(alone[2], _level(alone[1]), time, None if between is None else between[1], outer=line[:end])
    row = row_of_pairs(inner) if "msg=" in inner or "message=" in inner else None
    return None if row is None else _of_row(row)


def _of_row(row: LogRow) -> LogFrame:
    """Return the frame of a line of fields; a line that a collector wrapped has its own."""
    message = row.message.rstrip("\r\n")
    inner = frame(message) if row.is_wrapped or _ANY.match(message) else None
    if inner is not None:
        return inner
    level = None if row.level is None else _level(row.level)
    return LogFrame(message, level, row.time, row.logger, row.thrown)


def unwrapped(line: str) -> str:
    """Return the line that a collector of logs wrapped in JSON; any other line as it is."""
    if line[:1] != "{":
        return line
    return wrapped_line(line) or line


def without_outer(line: str, outer: str = "") -> str:
    """Return a line without the prefixes of a log collector; `outer` are the prefixes of the line before."""
    line = line.removeprefix(outer)
    end, _ = _outer_end(line, 0)
    return _ANSI.sub("", line[end:])


def _outer_end(line: str, at: int) -> tuple[int, str | None]:
    """Return the end of the collectors' prefixes, and the last time with a date in them."""
    time = None
    while (prefix := _OUTER.match(line, at)) is not None:
        at, time = prefix.end(), prefix[1] or prefix[2] or time
    return at, time


def with_logger(framed: LogFrame) -> LogFrame:
    """Return the frame with its logger apart from the message."""
    message, last = _last_logger(framed.message)
    if last is not None:
        return LogFrame(message, framed.level, framed.time, last, framed.thrown, framed.outer)
    if not message.startswith("[") and _PLAIN.match(message):
        return framed if message == framed.message else framed._replace(message=message)
    logger, end = _head_logger(message)
    return framed._replace(message=message[end:], logger=logger or framed.logger)


def logger_of(message: str) -> str | None:
    """Return the logger that is in a message, after it or in front of it; None without one."""
    message, last = _last_logger(message)
    return last or _head_logger(message)[0]


def without_logger(message: str) -> str:
    """Return a message without the logger in parentheses that most layouts write last."""
    return _last_logger(message)[0]


@lru_cache(maxsize=4)
def _last_logger(message: str) -> tuple[str, str | None]:
    """Return a message without the logger that is last in it, and that logger."""
    message = message.rstrip()
    if message[-1:] not in _ENDS:
        return message, None
    last = _LOGGER_LAST.search(message, max(0, len(message) - _LOGGER_SIZE_MAX))
    return (message, None) if last is None else (message[: last.start()].rstrip(), last[1])


def _head_logger(message: str) -> tuple[str | None, int]:
    """Return the logger in front of a message, and where the message begins."""
    logger, end = None, 0
    for part in _head(message):
        named = part["logger"] or ((inner := _LOGGER_IN_BRACKETS.fullmatch(part[0])) and inner[1])
        if named:
            logger, end = named, part.end()
        elif logger is not None and part["prefix"] is not None and not _THREAD.fullmatch(part[0]):
            break
        elif logger is not None:
            end = part.end()
    return (None, 0) if logger is None else (logger.partition(":")[0], end)


def _head(message: str) -> list[re.Match[str]]:
    """Return the parts in front of a message; the message may have begun before the last ones."""
    parts: list[re.Match[str]] = []
    at = brackets = 0
    while len(parts) < _HEAD_PARTS_MAX and (part := _HEAD_PART.match(message, at)) is not None:
        brackets += part["prefix"] is not None
        if brackets > _BRACKET_MAX:
            break
        parts.append(part)
        at = part.end()
    return parts


def bodies(message: str) -> tuple[tuple[str, str], ...]:
    """Return the message without its possible head, and then with parts of it, each with the left out text."""
    old = _OLD_PREFIX.match(message) if message[:1] in _OLD_INITIALS else None
    if old is not None:
        return (old[0], message[old.end() :]), ("", message)
    if _PLAIN.match(message):
        return (("", message),)
    first = _USUAL_PREFIX.match(message)
    if first is not None:
        end = first.end(1)
        return (message[:end], message[end:]), ("", message)
    ends = [part.end() for part in _head(message)]
    return *((message[:end], message[end:]) for end in reversed(ends)), ("", message)


def _level(text: str) -> str:
    name = text.strip("[] ").upper()
    return _LEVELS.get(name, name)


_LEVELS = {
    "WARNING": "WARN", "SEVERE": "ERROR", "2": "FATAL", "3": "ERROR", "4": "WARN", "6": "INFO", "7": "DEBUG",
    "T": "TRACE", "D": "DEBUG", "I": "INFO", "W": "WARN", "E": "ERROR", "F": "FATAL",
}  # fmt: skip
"""Those of java.util.logging, of syslog, and of glog."""
