"""What a line of a broker's log says: its rule, the values in it, and the place that it belongs to.

Matching takes time linear in the length of a line: the first words choose the candidates, and the texts between the
values are searched one after the other.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import unescape
from typing import NamedTuple

from kcheck.core.log_catalogue import Catalogue, LogRule, Wording, can_write
from kcheck.core.log_frames import (
    LogFrame,
    bodies,
    frame,
    logger_of,
    of_two_lines,
    unwrapped,
    with_logger,
    without_logger,
    without_outer,
)
from kcheck.core.log_times import milliseconds
from kcheck.core.log_values import LogPlace, Value, place, typed

MESSAGE_SIZE_MAX = 16_384
"""Characters of a message that are looked at."""
OF_CONFIGURATION = "L142"
"""The rule of a line of the configuration that names the broker; it has no wording."""
_SHOWN_SIZE_MAX = 500
_ALARMING = ("WARN", "ERROR", "FATAL")
_CALM = ("TRACE", "DEBUG", "INFO")
_THROWN = re.compile(
    r"\s*(?:Caused by: |Suppressed: )?([\w.$]{1,300}(?:Exception|Error|Fault|Throwable)\w{0,20})(?:: (.*))?", re.DOTALL
)
_EXCEPTION_ENDS = ("Exception: ", "Error: ")
_BROKER_CONFIG = re.compile(r"\s*(?:broker|node)\.id = (\d{1,10})\s*")
_TAIL_MIN = 4
"""A message may go on after its last text, if that is at least this long."""
_CALM_HEAD = re.compile(
    r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}\] (?:INFO|DEBUG|TRACE) "
    r"(?:\[[^\]\[]*\][:,]? )?(?!Partition |Cleaner |Replica )([A-Za-z']+) ([A-Za-z0-9][^ ]*) "
)
"""A line in Kafka's own layout whose message begins with two words, after one prefix in brackets at most."""
_CALM_FRAME = LogFrame("", "INFO")
_CUT = ("...", "…")
"""They end a text that was cut: its last value is not complete."""
_CUT_MIN = 10
"""Characters of the last text that must be there if the end of a message is missing."""
_REQUIRED = "requirement failed: "
"""Scala writes it before the text of a failed precondition."""
_MARKUP = re.compile(
    r"^\ufeff?(?:(?:[`>|]+|\{(?:code|noformat|quote|panel)[^}]*\}|<(?:pre|code|p)>) *)+"
    r"|(?: *(?:[`|]+|\{(?:code|noformat|quote|panel)\}|</(?:pre|code|p)>|<br ?/?>))+ *$"
)
"""What tickets and pages put around a line."""

_WHOLE_MIN = 20
"""Or, without values, if it is at least this long."""


_TRIED_MAX = 100
"""Lines of a text without frames in which a known message is looked for."""
_BREAKS_MAX = 8
"""Lines that a message was broken into."""
_FramedLine = tuple[int, str, LogFrame | None]
"""A line with its number, and its frame if it begins a message."""


class Match(NamedTuple):
    """A wording that a message has."""

    wording: Wording
    values: tuple[str, ...]
    prefix: str
    """What stands before the message, in brackets."""


class LogEvent(NamedTuple):
    """One message of a broker."""

    line: int
    """The number of its line, from 1."""
    time: int | None
    """In ms since 1970; a log that names no zone counts as UTC."""
    level: str | None
    logger: str | None
    message: str
    rule: LogRule | None
    """None if the catalogue does not have it."""
    wording: Wording | None
    values: Mapping[str, Value]
    place: LogPlace


def match(
    catalogue: Catalogue, message: str, *, level: str | None = None, logger: str | None = None, is_thrown: bool = False
) -> Match | None:
    """Return the wording that a message, or the text of an exception, has without prefixes and logger; None if none.

    `level`, `logger`: those of the message, if they are known; the logger may be in the message too.
    """
    message = message[:MESSAGE_SIZE_MAX]
    if is_thrown:
        return _match(catalogue, message.removeprefix(_REQUIRED), None, catalogue.thrown_by_value)
    by_value = catalogue.calm_by_value if level in _CALM else catalogue.by_value
    return _match(catalogue, message, logger, by_value)


def _match(
    catalogue: Catalogue, message: str, logger: str | None, by_value: tuple[tuple[str, Wording], ...]
) -> Match | None:
    texts: tuple[str, ...] = ()
    may_be_cut = False
    for prefix, body in bodies(message):
        some = _candidates(catalogue, body, by_value)
        if some and not texts:
            plain = without_logger(message)
            # What looks like a logger can be the end of the message.
            texts = (plain, message) if len(plain) < len(message) else (plain,)
            may_be_cut = plain == message.rstrip()
        for text in texts if some else ():
            rest = text[len(prefix) :]
            for is_exact in (True, False):
                for wording in some:
                    values = _values(wording, rest, is_exact=is_exact, may_be_cut=may_be_cut)
                    if values is None:
                        continue
                    if not wording.is_short or can_write(wording.classes, logger or logger_of(message)):
                        return Match(wording, values, prefix)
    return None


def _candidates(catalogue: Catalogue, body: str, by_value: tuple[tuple[str, Wording], ...]) -> Sequence[Wording]:
    """Return the wordings with the first words of a message: most messages have none."""
    first = body.find(" ")
    second = body.find(" ", first + 1) if first >= 0 else -1
    by_words = catalogue.by_words
    some: Sequence[Wording] = by_words.get(body if second < 0 else body[:second], ())
    if first >= 0 and (of_first := by_words.get(body[:first], ())):
        some = (*some, *of_first)
    for text, wording in by_value:
        if text in body:
            some = (*some, wording)
    return some


def _values(wording: Wording, text: str, *, is_exact: bool, may_be_cut: bool) -> tuple[str, ...] | None:
    """Return the values of a wording in a text, the first ones if it was cut; None if it has another one.

    An exact match ends where the wording does; else a longer text may follow, as that of an exception. A message before
    a logger was not cut.
    """
    literals = wording.literals
    if not text.startswith(literals[0]):
        return None
    if len(literals) == 1:
        may_go_on = wording.is_open or (not is_exact and len(literals[0]) >= _WHOLE_MIN)
        return () if may_go_on or len(text) == len(literals[0]) else None
    at, values = len(literals[0]), []
    for literal in literals[1:-1]:
        if _is_empty(text, at, literal):
            values.append("")
            at += len(literal) - 1
            continue
        end = text.find(literal, at)
        if end < 0:
            end = _cut_end(text, at, literal) if may_be_cut and not is_exact else -1
            return None if end < 0 else (*values, text[at:end])
        values.append(text[at:end])
        at = end + len(literal)
    last = literals[-1]
    if not last:
        rest = text[at:]
        if not rest.endswith(_CUT):
            values.append(rest.partition(" ")[0].rstrip(",;") if wording.is_open else rest)
        return tuple(values)
    if is_exact and not wording.is_open:
        end = len(text) - len(last)
        if end < at or not text.endswith(last):
            return None
    else:
        end = at - 1 if _is_empty(text, at, last) else text.find(last, at)
        if end < 0 and may_be_cut:
            end = _cut_end(text, at, last)
        if end < 0 or (len(last) < _TAIL_MIN and not wording.is_open):
            return None
    values.append(text[at:end] if end > at else "")
    return tuple(values)


def _is_empty(text: str, at: int, literal: str) -> bool:
    """Whether a value is empty where two spaces around it have become one, as on pages."""
    return literal[:1] == " " != literal and text[at - 1 : at] == " " and text.startswith(literal[1:], at)


def _cut_end(text: str, at: int, last: str) -> int:
    """Return where a value ends before a text within which the message was cut; -1 if it was not."""
    begin = text.rfind(last[:_CUT_MIN], at) if len(last) > _CUT_MIN else -1
    return begin if begin >= 0 and last.startswith(text[begin:].rstrip(">.… ")) else -1


def events(catalogue: Catalogue, numbered: Iterable[tuple[int, str]]) -> Iterator[LogEvent]:
    """Yield the messages of a log that the catalogue has, and those of WARN, ERROR and FATAL that it has not.

    A stack trace belongs to the message before it. If its exceptions are in the catalogue and the message is not, they
    explain it; else they are messages of their own.
    """
    return _events(catalogue, _framed(catalogue, numbered))


def _framed(catalogue: Catalogue, numbered: Iterable[tuple[int, str]]) -> Iterator[_FramedLine]:
    """Yield each line with its frame; `_CALM_FRAME` for one of INFO that no wording has: most lines of a log."""
    for number, line in numbered:
        head = _CALM_HEAD.match(line)
        if head is not None and not catalogue.may_have(head[1], head[2], line):
            yield number, line, _CALM_FRAME
            continue
        inner = unwrapped(line)
        yield number, inner, frame(inner)


def pasted(catalogue: Catalogue, text: str) -> Iterator[LogEvent]:
    """Yield the messages in a text that was pasted, unknown ones too; without a frame it is one message."""
    plain = unescape(text).replace("\xa0", " ")
    numbered = [(number, _MARKUP.sub("", line)) for number, line in enumerate(plain.splitlines(), 1) if line.strip()]
    inner = [(number, unwrapped(line)) for number, line in numbered]
    if any(frame(line) for _, line in inner):
        numbered = inner
    framed_lines = [(number, line, frame(line)) for number, line in numbered]
    if numbered and not any(framed for _, _, framed in framed_lines):
        # It was copied without its frame.
        first = next((at for at, (_, line) in enumerate(numbered[:_TRIED_MAX]) if _is_known(catalogue, line)), 0)
        framed_lines = [(number, line, None) for number, line in numbered[first:]]
        number, line, _ = framed_lines[0]
        framed_lines[0] = number, line, LogFrame(without_outer(line))
    framed_lines = _rejoined(catalogue, framed_lines)
    known = [*_events(catalogue, framed_lines)]
    if not known and framed_lines and (thrown := _continued(catalogue, *framed_lines[0])) is not None:
        known = [thrown]
    begins = [(number, framed) for number, _, framed in framed_lines if framed is not None]
    ends = [*(number for number, _ in begins[1:]), len(text) + 1]
    unknown = [
        _of_match(catalogue, number, framed, None)
        for (number, framed), end in zip(begins, ends, strict=False)
        if not any(number <= event.line < end for event in known)
    ]
    yield from sorted((*known, *unknown), key=lambda event: event.line)


def _is_known(catalogue: Catalogue, line: str) -> bool:
    return match(catalogue, without_outer(line)) is not None or _continued(catalogue, 0, line, None) is not None


def _rejoined(catalogue: Catalogue, framed_lines: list[_FramedLine]) -> list[_FramedLine]:
    """Return lines with each message together that a page or a terminal has broken, if that says more of it."""
    whole: list[_FramedLine] = []
    below = 0
    for at, (number, line, framed) in enumerate(framed_lines):
        if at < below:
            continue
        whole.append((number, line, framed))
        if framed is None:
            continue
        said = _said(catalogue, framed)
        parts = [framed.message.rstrip()]
        for end in range(at + 1, min(at + 1 + _BREAKS_MAX, len(framed_lines))):
            part = framed_lines[end][1].strip()
            if framed_lines[end][2] is not None or part.startswith("at ") or _THROWN.fullmatch(part):
                break
            parts.append(part)
            for gap in ("", " "):  # A terminal breaks within words.
                joined = framed._replace(message=gap.join(parts))
                if (more := _said(catalogue, joined)) > said:
                    whole[-1] = number, line, joined
                    below, said = end + 1, more
    return whole


def _said(catalogue: Catalogue, framed: LogFrame) -> int:
    """Return how much a message says: its rule, values, place and logger; 0 if it has no wording."""
    event = _event(catalogue, 0, framed)
    if event is None or event.wording is None:
        return 0
    return 1 + len(event.values) + sum(value is not None for value in (*event.place, event.logger))


def _events(catalogue: Catalogue, framed_lines: Iterable[_FramedLine]) -> Iterator[LogEvent]:
    pending: LogEvent | None = None
    last: LogFrame | None = None
    calm_line = above = ""
    for number, line, framed in framed_lines:
        if framed is None:
            above = line
            if last is _CALM_FRAME:
                last = frame(calm_line)
            continued = None if last is None else _continued(catalogue, number, line, last)
            if continued is not None:
                if pending is not None and pending.rule is not None:
                    yield pending
                pending = continued
            continue
        if pending is not None:
            yield pending
        if framed is _CALM_FRAME:
            last, calm_line, pending = framed, line, None
            continue
        last, above = of_two_lines(above, framed) if above else framed, ""
        before, pending = _of_frame(catalogue, number, last)
        yield from before
    if pending is not None:
        yield pending


def _of_frame(catalogue: Catalogue, number: int, framed: LogFrame) -> tuple[tuple[LogEvent, ...], LogEvent | None]:
    """Return the exceptions in the text and layout of a message with what it says; the last one of them apart."""
    event = _event(catalogue, number, framed)
    # The exception in a message is the cause of what it says.
    inner = None if event is None else _inside(catalogue, event, framed)
    if inner is None and not framed.thrown:
        return (), event  # Most lines of a log.
    own = None if event is not None and event.rule is None and inner is not None else event
    thrown = [continued for text in framed.thrown if (continued := _continued(catalogue, number, text, framed))]
    if thrown and own is not None and own.rule is None:
        own = None
    some = [*filter(None, (inner, own, *thrown))]
    return tuple(some[:-1]), some[-1] if some else None


def _event(catalogue: Catalogue, number: int, framed: LogFrame) -> LogEvent | None:
    found = match(catalogue, framed.message, level=framed.level, logger=framed.logger)
    if found is None and framed.level not in _ALARMING:
        return None
    return _of_match(catalogue, number, framed, found)


def _of_match(catalogue: Catalogue, number: int, framed: LogFrame, found: Match | None) -> LogEvent:
    plain = with_logger(framed)
    time = None if framed.time is None else milliseconds(framed.time)
    shown = plain.message[:_SHOWN_SIZE_MAX]
    if found is None:
        prefix = next((prefix for prefix, _ in bodies(plain.message)), "")
        rule = catalogue.of_logger(plain.logger)
        return LogEvent(number, time, framed.level, plain.logger, shown, rule, None, {}, place({}, prefix))
    values = typed(found.wording.names, found.values)
    where = place(values, found.prefix)
    return LogEvent(number, time, framed.level, plain.logger, shown, found.wording.rule, found.wording, values, where)


def _continued(catalogue: Catalogue, number: int, line: str, framed: LogFrame | None) -> LogEvent | None:
    """Return what a line says that belongs to the message before it: an exception, or the id of the broker."""
    framed = framed or LogFrame(line)
    if line.startswith("\tat ") or (len(line) > 1 and line[0] == "\t" and line[1] not in "CSbn"):
        return None
    line = without_outer(line[:MESSAGE_SIZE_MAX], framed.outer).rstrip()
    config = _BROKER_CONFIG.fullmatch(line)
    if config is not None:
        rule = catalogue.rules[OF_CONFIGURATION]
        values: dict[str, Value] = {"broker": int(config[1])}
        time = None if framed.time is None else milliseconds(framed.time)
        where = LogPlace(broker=int(config[1]))
        return LogEvent(number, time, framed.level, None, line.strip(), rule, None, values, where)
    thrown = _THROWN.fullmatch(line)
    if thrown is None or thrown[2] is None:
        return None
    while (inner := _THROWN.fullmatch(thrown[2])) is not None and inner[2] is not None:
        thrown = inner
    simple = thrown[1].rpartition(".")[2]
    found = match(catalogue, thrown[2], is_thrown=True) or match(catalogue, f"{simple}: {thrown[2]}", is_thrown=True)
    if found is None:
        return None
    return _of_match(catalogue, number, framed._replace(message=line.strip(), thrown=()), found)._replace(
        logger=framed.logger
    )


def _inside(catalogue: Catalogue, event: LogEvent, framed: LogFrame) -> LogEvent | None:
    """Return what the exception says whose text is in a message."""
    if not any(name in framed.message for name in _EXCEPTION_ENDS):
        return None  # Most messages have none.
    text = with_logger(framed).message
    ends = [at + len(name) for name in _EXCEPTION_ENDS if (at := text.find(name, 0, MESSAGE_SIZE_MAX)) >= 0]
    if not ends:
        return None
    end = min(ends)
    found = match(catalogue, text[end:], is_thrown=True)
    if found is None or found.wording is event.wording or not found.wording.is_thrown:
        return None
    begin = text.rfind(" ", 0, end - 1) + 1
    return _of_match(catalogue, event.line, framed._replace(message=text[begin:]), found)
