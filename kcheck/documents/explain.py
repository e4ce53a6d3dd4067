"""The explanation of a broker's log as rows."""

import re
import shlex
from collections.abc import Mapping

from kcheck.core.log_catalogue import Catalogue, LogRule
from kcheck.core.log_comparison import LogComparison
from kcheck.core.log_lines import LogEvent
from kcheck.core.log_timeline import Cause, PlaceTimeline, Step, severity_of
from kcheck.core.log_values import LogPlace
from kcheck.model.report import Row

_PART = re.compile(r"\[([^\]]*)\]")
_NAME = re.compile(r"\{([a-z_]+)\}")


def look(rule: LogRule | None, where: LogPlace, values: Mapping[str, object]) -> str | None:
    """Return the command to type, with what the line says filled in and the rest in capitals; None if none helps."""
    if rule is None or not rule.look:
        return None
    known = {name: str(value) for name, value in values.items() if isinstance(value, (int, str))}
    known |= {name: str(value) for name, value in zip(LogPlace._fields, where, strict=True) if value is not None}
    known.pop("partition", None)
    known.pop("log", None)
    if where.topic is not None:
        known["partition"] = f"{where.topic}-{where.partition}"
    text = _PART.sub(lambda part: part[1] if all(name in known for name in _NAME.findall(part[1])) else "", rule.look)
    text = _NAME.sub(lambda name: shlex.quote(known[name[1]]) if name[1] in known else name[1].upper(), text)
    # A message about a log dir names no partition, and one about the broker no log dir.
    return text.replace(" --partition PARTITION", "")


def line_row(event: LogEvent, path: str | None, catalogue: Catalogue) -> Row:
    """Return a message as a row of `lines` and of the table log_events."""
    rule, where = event.rule, event.place
    return {
        "file": path,
        "line": event.line,
        "time": event.time,
        "level": event.level,
        "class": event.logger,
        "rule": None if rule is None else rule.id,
        "severity": severity_of(event),
        "broker_id": where.broker,
        "log_dir": where.log_dir,
        "topic": where.topic,
        "partition": where.partition,
        "values": dict(event.values),
        "means": None if rule is None else rule.means,
        "next": None if rule is None else rule.next or None,
        "look": look(rule, where, event.values),
        "findings": () if rule is None else rule.findings,
        "releases": None if event.wording is None else event.wording.releases,
        "since": None if rule is None else catalogue.since.get(rule.id),
        "message": event.message,
    }


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
    """Return what happened at one place."""
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
    }


def comparison_row(comparison: LogComparison) -> Row:
    """Return a statement of a log beside what is on disk."""
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
