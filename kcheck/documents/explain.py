"""The explanation of a broker's log as rows."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from kcheck.messages.catalogue import Catalogue, LogRule
from kcheck.messages.comparison import LogComparison
from kcheck.messages.lines import LogEvent
from kcheck.messages.timeline import Cause, PlaceTimeline, Step, severity_of
from kcheck.messages.values import LogPlace
from kcheck.model.report import Block, Row
from kcheck.words import partition_name, shell_word

_PART = re.compile(r"\[([^\]]*)\]")
_NAME = re.compile(r"\{([a-z_]+)\}")
_LINE = (
    "file", "line", "time", "level", "class", "rule", "severity", "broker_id", "log_dir", "topic", "partition",
    "values", "means", "next", "look", "findings", "releases", "since", "message",
)  # fmt: skip


class _LookPart(NamedTuple):
    """A part of a command, with texts around the names of values; an optional one needs all its values."""

    texts: tuple[str, ...]
    names: tuple[str, ...]
    is_optional: bool


def look(rule: LogRule | None, where: LogPlace, values: Mapping[str, object]) -> str | None:
    """Return the command to type, with the values of the line, and the rest in capitals; None without one."""
    if rule is None or not rule.look:
        return None
    pieces: list[str] = []
    for part in _look_parts(rule.look):
        known = [_known(name, where, values) for name in part.names]
        if part.is_optional and None in known:
            continue
        pieces.append(part.texts[0])
        for name, value, text in zip(part.names, known, part.texts[1:], strict=True):
            pieces += (name.upper() if value is None else shell_word(value), text)
    # A message about a log dir names no partition, and one about the broker no log dir.
    return "".join(pieces).replace(" --partition PARTITION", "")


@cache
def _look_parts(text: str) -> tuple[_LookPart, ...]:
    parts = ((_NAME.split(piece), number % 2 == 1) for number, piece in enumerate(_PART.split(text)))
    return tuple(_LookPart(tuple(split[::2]), tuple(split[1::2]), optional) for split, optional in parts)


def _known(name: str, where: LogPlace, values: Mapping[str, object]) -> str | None:
    """Return the value of a name in a command; None if the message does not say it."""
    if name == "partition":
        return None if where.topic is None else partition_name(where.topic, where.partition)
    value = getattr(where, name) if name in LogPlace._fields else None
    if value is None:
        value = values.get(name)
    return str(value) if isinstance(value, (int, str)) else None


def line_block(numbered: Iterable[tuple[int, LogEvent]], paths: Sequence[str | None], catalogue: Catalogue) -> Block:
    """Return messages, each with the number of its log, as rows of `lines`; there is at least one."""
    rows = [(*_line(event, paths[number], catalogue), _candidate_rows(event)) for number, event in numbered]
    return Block(dict(zip((*_LINE, "candidates"), zip(*rows, strict=True), strict=True)))


def line_row(event: LogEvent, path: str | None, catalogue: Catalogue) -> Row:
    """Return a message as a row of the table log_events."""
    return dict(zip(_LINE, _line(event, path, catalogue), strict=True))


def _line(event: LogEvent, path: str | None, catalogue: Catalogue) -> tuple[object, ...]:
    rule, where = event.rule, event.place
    of_place = (where.broker, where.log_dir, where.topic, where.partition)
    before = (path, event.line, event.time, event.level, event.logger)
    if rule is None:
        return (
            *before, None, severity_of(event), *of_place, dict(event.values), None, None, None, (), None, None,
            event.message,
        )  # fmt: skip
    return (
        *before, rule.id, rule.severity, *of_place, dict(event.values), rule.means, rule.next or None,
        look(rule, where, event.values), rule.findings, None if event.wording is None else event.wording.releases,
        catalogue.since.get(rule.id), event.message,
    )  # fmt: skip


def _candidate_rows(event: LogEvent) -> tuple[Row, ...]:
    return tuple(
        {"rule": one.rule.id, "severity": one.rule.severity, "releases": one.releases, "pattern": one.pattern}
        for one in event.candidates
    )


def cause_row(cause: Cause, path: str | None) -> Row:
    """Return a message that began others."""
    event = cause.event
    assert event.rule is not None
    return {
        "file": path,
        "line": event.line,
        "last_line": cause.last_line,
        "time": event.time,
        "rule": event.rule.id,
        "severity": severity_of(event),
        "log_dir": event.place.log_dir,
        "topic": event.place.topic,
        "partition": event.place.partition,
        "means": event.rule.means,
        "consequences": cause.followers,
    }


def place_row(place: PlaceTimeline, paths: tuple[str | None, ...], catalogue: Catalogue) -> Row:
    """Return the events at one place."""
    topic, partition, log_dir = place.key
    log_dirs = (step.first.place.log_dir for step in place.steps)
    return {
        "topic": topic,
        "partition": partition,
        "log_dir": log_dir or next((path for path in log_dirs if path is not None), None),
        "severity": place.severity,
        "steps": tuple(_step_row(step, paths, catalogue) for step in place.steps),
    }


def _step_row(step: Step, paths: tuple[str | None, ...], catalogue: Catalogue) -> Row:
    row = line_row(step.first, paths[step.file], catalogue)
    return {
        **{name: value for name, value in row.items() if name not in ("topic", "partition", "log_dir")},
        "candidates": _candidate_rows(step.first),
        "count": step.count,
        "last_line": step.last_line,
        "last_time": step.last_time,
        "caused_by": None if step.cause is None else step.cause.event.line,
    }


def rule_row(rule: LogRule, catalogue: Catalogue) -> Row:
    """Return a rule with its wordings, for `kcheck explain L008`."""
    wordings = catalogue.of_rule(rule)
    return {
        "id": rule.id,
        "group": rule.group,
        "severity": rule.severity,
        "means": rule.means,
        "next": rule.next or None,
        "look": rule.look or None,
        "findings": rule.findings,
        "wordings": tuple(
            {"releases": wording.releases, "level": ",".join(wording.levels), "pattern": wording.pattern}
            for wording in wordings
        ),
        "docs": f"log-messages.html#{rule.id.lower()}",
    }


def comparison_row(comparison: LogComparison) -> Row:
    """Return a statement of a log next to the facts on disk."""
    event = comparison.event
    assert event.rule is not None
    return {
        "line": event.line,
        "time": event.time,
        "rule": event.rule.id,
        "topic": event.place.topic,
        "partition": event.place.partition,
        "log_dir": event.place.log_dir,
        "says": comparison.says,
        "now": comparison.now,
        "agrees": comparison.agrees,
    }
