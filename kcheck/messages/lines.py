"""The meaning of a line of a broker's log (its rule, the values in it, and its place)."""

import re
from collections.abc import Iterable, Iterator, Mapping
from html import unescape
from typing import NamedTuple

from kcheck.messages.catalogue import Catalogue, LogRule, Wording
from kcheck.messages.frames import (
    LogFrame,
    bodies,
    frame,
    of_two_lines,
    unwrapped,
    with_logger,
    without_outer,
)
from kcheck.messages.matching import CALM, MESSAGE_SIZE_MAX, Match, match, match_or_candidates
from kcheck.messages.times import milliseconds
from kcheck.messages.values import LogPlace, Value, place, typed

OF_CONFIGURATION = "L142"
"""The rule of a line of the configuration that names the broker; it has no wording."""
_SHOWN_SIZE_MAX = 500
_ALARMING = ("WARN", "ERROR", "FATAL")
_THROWN = re.compile(
    r"\s*(?:Caused by: |Suppressed: )?"
    r"([\w.$]{1,300}(?:Exception|Error|Fault|Throwable)\w{0,20}|org\.apache\.kafka\.common\.errors\.\w{1,60})"
    r"(?:: (.*))?",
    re.DOTALL,
)
_SAYS_WHY_BELOW = frozenset(("L143", "L152", "L242", "L243"))
"""Rules of messages that only the exception below them explains. It is shown even without a wording."""
_OF_REMOTE_STORAGE = ("RemoteStorageException", "RemoteResourceNotFoundException")
"""Exceptions with causes outside of the disk."""
_EXCEPTION_ENDS = ("Exception: ", "Error: ")
_BROKER_CONFIG = re.compile(r"\s*(?:broker|node)\.id = (\d{1,10})\s*")
_CALM_HEAD = re.compile(
    r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}\] (?:INFO|DEBUG|TRACE) "
    r"(?:\[[^\]\[]*\][:,]? )?(?!Partition |Cleaner |Replica )([A-Za-z']+) ([A-Za-z0-9][^ ]*) "
)
"""A line in Kafka's own layout whose message begins with two words, after one prefix in brackets at most."""
_CALM_FRAME = LogFrame("", "INFO")
_MARKUP_BEFORE = re.compile(r"\ufeff?(?:(?:[`>|]|\{(?:code|noformat|quote|panel)[^}]{0,200}\}|<(?:pre|code|p)>) *+)++")
_MARKUP_AFTER = re.compile(r"(?: *(?:[`|]|\{(?:code|noformat|quote|panel)\}|</(?:pre|code|p)>|<br ?/?>))++ *+$")
"""Markup of tickets and pages around a line."""
_MARKUP_SIZE_MAX = 100
"""Characters at the end of a line in which markup is looked for."""
_TRIED_MAX = 100
"""Lines of a text without frames in which a known message is looked for."""
_BREAKS_MAX = 8
"""Maximum number of lines into which a message was split."""
_FramedLine = tuple[int, str, LogFrame | None]
"""A line with its number, and its frame if it begins a message."""


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
    """None if the catalog does not have it."""
    wording: Wording | None
    values: Mapping[str, Value]
    place: LogPlace
    candidates: tuple[Wording, ...] = ()
    """Possible wordings of an incomplete message without a rule, one of each rule that begins like it."""


def events(catalogue: Catalogue, numbered: Iterable[tuple[int, str]]) -> Iterator[LogEvent]:
    """Yield the messages of a log that the catalog has, and further messages of WARN, ERROR and FATAL.

    A stack trace belongs to the message before it. If only its exceptions are in the catalog, they explain the message.
    Otherwise they are messages of their own. So are known exceptions before the first message.
    """
    return _events(catalogue, _framed(catalogue, numbered))


def _framed(catalogue: Catalogue, numbered: Iterable[tuple[int, str]]) -> Iterator[_FramedLine]:
    """Yield each line with its frame; `_CALM_FRAME` for a line of INFO without a wording, as most lines are."""
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
    numbered = [(number, _without_markup(line)) for number, line in enumerate(plain.splitlines(), 1) if line.strip()]
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
        _of_match(catalogue, number, framed, _matched(catalogue, framed))
        for (number, framed), end in zip(begins, ends, strict=False)
        if not any(number <= event.line < end for event in known)
    ]
    yield from sorted((*known, *unknown), key=lambda event: event.line)


def _without_markup(line: str) -> str:
    before = _MARKUP_BEFORE.match(line)
    line = line if before is None else line[before.end() :]
    after = _MARKUP_AFTER.search(line, max(0, len(line) - _MARKUP_SIZE_MAX))
    return line if after is None else line[: after.start()]


def _is_known(catalogue: Catalogue, line: str) -> bool:
    return match(catalogue, without_outer(line)) is not None or _continued(catalogue, 0, line, None) is not None


def _rejoined(catalogue: Catalogue, framed_lines: list[_FramedLine]) -> list[_FramedLine]:
    """Return lines with split messages joined again, if that adds meaning."""
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
    """Return the amount of a message's known facts (rule, values, place and logger); 0 without a wording."""
    event = _event(catalogue, 0, framed)
    if event is None or event.wording is None:
        return 0
    return 1 + len(event.values) + sum(value is not None for value in (*event.place, event.logger))


def _events(catalogue: Catalogue, framed_lines: Iterable[_FramedLine]) -> Iterator[LogEvent]:
    pending: LogEvent | None = None
    thrown: LogEvent | None = None
    last: LogFrame | None = None
    calm_line = above = ""
    for number, line, framed in framed_lines:
        if framed is None:
            above = line
            if last is _CALM_FRAME:
                last = frame(calm_line)
            is_explained = last is not None and (
                last.level in CALM or (pending is not None and pending.rule is not None)
            )
            continued = None
            if last is not None or _THROWN.fullmatch(line[:MESSAGE_SIZE_MAX]) is not None:
                continued = _continued(catalogue, number, line, last, is_explained=is_explained)
            if continued is not None and not _is_remote(pending, continued):
                if pending is not None and pending.rule is not None:
                    yield pending
                pending, thrown = continued, None
            elif last is not None and pending is not None:
                thrown = _unknown_thrown(number, line, last, pending) or thrown
            continue
        yield from filter(None, (pending, thrown))
        thrown = None
        if framed is _CALM_FRAME:
            last, calm_line, pending = framed, line, None
            continue
        last, above = of_two_lines(above, framed) if above else framed, ""
        before, pending = _of_frame(catalogue, number, last)
        yield from before
    yield from filter(None, (pending, thrown))


def _unknown_thrown(number: int, line: str, framed: LogFrame, above: LogEvent) -> LogEvent | None:
    """Return an exception of no wording below a message that only it explains; None for any other line."""
    if above.rule is None or above.rule.id not in _SAYS_WHY_BELOW or line.startswith("\t"):
        return None
    text = without_outer(line[:MESSAGE_SIZE_MAX], framed.outer).strip()
    if _THROWN.fullmatch(text) is None:
        return None
    shown, of_broker = text[:_SHOWN_SIZE_MAX], LogPlace(broker=above.place.broker)
    return above._replace(line=number, message=shown, rule=None, wording=None, values={}, place=of_broker)


def _of_frame(catalogue: Catalogue, number: int, framed: LogFrame) -> tuple[tuple[LogEvent, ...], LogEvent | None]:
    """Return the exceptions in the text and layout of a message, and its event; the last exception apart."""
    event = _event(catalogue, number, framed)
    # The exception in a message is the cause of what it says.
    inner = None if event is None else _inside(catalogue, event, framed)
    if inner is None and not framed.thrown:
        return (), event  # Most lines of a log.
    own = None if event is not None and event.rule is None and inner is not None else event
    is_explained = framed.level in CALM or (event is not None and (inner or event).rule is not None)
    thrown = [
        continued
        for text in framed.thrown
        if (continued := _continued(catalogue, number, text, framed, is_explained=is_explained))
        and not _is_remote(event, continued)
    ]
    inner = None if inner is not None and _is_remote(event, inner) else inner
    if thrown and own is not None and own.rule is None:
        own = None
    some = [*filter(None, (inner, own, *thrown))]
    return tuple(some[:-1]), some[-1] if some else None


def _is_remote(above: LogEvent | None, thrown: LogEvent) -> bool:
    """Return whether an exception of the file system belongs to remote storage, by the message above it.

    Then no disk fails.
    """
    groups = (None if event is None or event.rule is None else event.rule.group for event in (above, thrown))
    return [*groups] == ["tiered", "disk"]


def _event(catalogue: Catalogue, number: int, framed: LogFrame) -> LogEvent | None:
    matched = _matched(catalogue, framed)
    if not isinstance(matched, Match) and framed.level not in _ALARMING:
        return None
    return _of_match(catalogue, number, framed, matched)


def _matched(catalogue: Catalogue, framed: LogFrame) -> Match | tuple[Wording, ...]:
    return match_or_candidates(catalogue, framed.message, level=framed.level, logger=framed.logger)


def _of_match(catalogue: Catalogue, number: int, framed: LogFrame, matched: Match | tuple[Wording, ...]) -> LogEvent:
    plain = with_logger(framed)
    time = None if framed.time is None else milliseconds(framed.time)
    shown = plain.message[:_SHOWN_SIZE_MAX]
    if not isinstance(matched, Match):
        prefix = next((prefix for prefix, _ in bodies(plain.message)), "")
        rule = catalogue.of_logger(plain.logger)
        some = matched if rule is None else ()
        return LogEvent(number, time, framed.level, plain.logger, shown, rule, None, {}, place({}, prefix), some)
    values = typed(matched.wording.names, matched.values)
    where = place(values, matched.prefix)
    return LogEvent(
        number, time, framed.level, plain.logger, shown, matched.wording.rule, matched.wording, values, where
    )


def _continued(
    catalogue: Catalogue, number: int, line: str, framed: LogFrame | None, *, is_explained: bool = False
) -> LogEvent | None:
    """Return the facts of a line that belongs to the message before it (an exception, or the broker's id).

    An exception with only a known name counts if nothing else explains the message.
    """
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
    matched = _thrown(catalogue, line, by_name=not is_explained)
    if matched is None:
        return None
    return _of_match(catalogue, number, framed._replace(message=line.strip(), thrown=()), matched)._replace(
        logger=framed.logger
    )


def _thrown(catalogue: Catalogue, line: str, *, by_name: bool) -> Match | None:
    """Return the wording of the innermost exception in a line; its name alone counts only `by_name`."""
    thrown = inner = _THROWN.fullmatch(line)
    while inner is not None and not inner[1].endswith(_OF_REMOTE_STORAGE):
        thrown, inner = inner, None if inner[2] is None else _THROWN.fullmatch(inner[2])
    thrown = inner or thrown
    if thrown is None:
        return None
    simple = thrown[1].rpartition(".")[2]
    texts = () if thrown[2] is None else (thrown[2], f"{simple}: {thrown[2]}")
    some = (match(catalogue, text, is_thrown=True) for text in (*texts, *((simple,) if by_name else ())))
    return next(filter(None, some), None)


def _inside(catalogue: Catalogue, event: LogEvent, framed: LogFrame) -> LogEvent | None:
    """Return the event of an exception whose text is in a message."""
    if not any(name in framed.message for name in _EXCEPTION_ENDS):
        return None  # Most messages have none.
    text = with_logger(framed).message
    ends = [at + len(name) for name in _EXCEPTION_ENDS if (at := text.find(name, 0, MESSAGE_SIZE_MAX)) >= 0]
    if not ends:
        return None
    end = min(ends)
    matched = match(catalogue, text[end:], is_thrown=True)
    if matched is None or matched.wording is event.wording or not matched.wording.is_thrown:
        return None
    begin = text.rfind(" ", 0, end - 1) + 1
    return _of_match(catalogue, event.line, framed._replace(message=text[begin:]), matched)
