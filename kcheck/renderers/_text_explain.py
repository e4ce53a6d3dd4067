"""The layout of `kcheck explain`: the pages of rules, pasted lines, and the timeline of a log."""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from kcheck.model.report import Report, Row
from kcheck.screen.page import STYLES, Page, moment
from kcheck.words import counted, partition_name, some_of

_CAUSES_SHOWN = 5
_STEPS_SHOWN = 12
_PLACES_SHOWN = 10
_VALUE_SIZE_MAX = 120
_HARMLESS = "info"


def explain(report: Report, page: Page) -> None:
    """Write the pages of rules, or what the messages say."""
    body: Any = report.body
    _rules(body.get("rules", ()), page)
    _messages(body.get("log_rules", ()), page)
    if "timeline" not in body:
        return
    if report.checked:
        _log(body, page)
        return
    for number, row in enumerate(body["lines"]):
        page.line() if number else None
        _line(row, page)
    _compared([*body["compared"]], page)


def _rules(rules: Iterable[Row], page: Page) -> None:
    for number, rule in enumerate(rules):
        page.line() if number else None
        page.line(f"{rule['id']} {rule['name']} ({rule['severity']}, {rule['scope']})", "bold")
        page.line()
        for at, paragraph in enumerate(str(rule["page"]).split("\n\n")):
            page.line() if at else None
            for item in re.split(r"\n(?=- )", paragraph):
                page.wrapped(" ".join(item.split()), hanging="  " if item.startswith("- ") else "")


def _messages(rules: Iterable[Any], page: Page) -> None:
    """Write what messages of brokers mean, with their wordings."""
    for number, rule in enumerate(rules):
        page.line() if number else None
        page.line(f"{rule['id']} ({rule['severity']}, a message of a broker: {rule['group']})", "bold")
        _meaning(rule, page)
        page.line("  Wordings:")
        for wording in rule["wordings"]:
            page.wrapped(
                f"{wording['level']} {wording['releases']}: {wording['pattern']}", indent="    ", hanging="      "
            )


def _line(row: Row, page: Page) -> None:
    """Write all that is known of one message."""
    if row["rule"] is None:
        page.wrapped(f"? {row['message']}", hanging="  ", style="bold")
        _unknown(row, page)
        return
    severity = str(row["severity"])
    page.wrapped(f"{row['rule']} {severity} {row['message']}", hanging="  ", style=STYLES[severity])
    _meaning(row, page)
    values = [f"{name} {_short(value)}" for name, value in _dict(row["values"]).items()]
    if values:
        page.wrapped(f"Values: {' · '.join(values)}", indent="  ", hanging="    ")
    if row["since"] is not None:
        wording = f"; this wording: {row['releases']}" if row["releases"] else ""
        page.wrapped(f"Since: Kafka {row['since']}{wording}", indent="  ", hanging="    ")


def _unknown(row: Row, page: Page) -> None:
    """Write what a message without a rule can be."""
    candidates: Any = row["candidates"]
    if not candidates:
        page.wrapped("kcheck does not know this message: no wording of its catalogue matches.", indent="  ")
        return
    page.wrapped(f"The line was cut too early to say which of these {len(candidates)} messages it is:", indent="  ")
    for one in candidates:
        page.wrapped(f"{one['rule']} {one['severity']} {one['pattern']}", indent="    ", hanging="      ")
    page.wrapped(f"kcheck explain {' '.join(one['rule'] for one in candidates)} says what each means.", indent="  ")


def _meaning(row: Row, page: Page) -> None:
    page.wrapped(str(row["means"]), indent="  ")
    for title, value in (("Kafka next", row["next"]), ("Look", row["look"])):
        if value:
            page.wrapped(f"{title}: {value}", indent="  ", hanging="    ")
    findings: Any = row["findings"]
    if findings:
        page.wrapped(f"On disk: {', '.join(findings)}", indent="  ", hanging="    ")


def _dict(value: Any) -> dict[str, object]:
    return dict(value)


def _short(value: object) -> str:
    text = ",".join(map(str, value)) if isinstance(value, (tuple, list)) else str(value)
    return text if len(text) <= _VALUE_SIZE_MAX else f"{text[: _VALUE_SIZE_MAX - 3]}..."


def _log(body: Any, page: Page) -> None:
    """Write the causes, then what happened at each place, the worst one first."""
    causes, places = [*body["causes"]], [*body["timeline"]]
    release = body["release"]
    brokers = ", ".join(f"broker {number}" for number in release["broker_ids"])
    count = sum(step["count"] for place in places for step in place["steps"])
    words = [counted(count, "message"), *([brokers] if brokers else []), f"Kafka {release['version'] or '?'}"]
    page.line(" · ".join(words), "bold")
    for row in causes if page.every else causes[:_CAUSES_SHOWN]:
        began = f"line {row['line']}{_at(row['time'])}, {_place(row)}{row['rule']}: {row['means']}"
        page.wrapped(f"{began} It began {counted(row['consequences'], 'more message')} up to line {row['last_line']}.",
                     hanging="  ", style=STYLES[row["severity"]])  # fmt: skip
    if len(causes) > _CAUSES_SHOWN and not page.every:
        page.line(f"{len(causes) - _CAUSES_SHOWN} more causes: --all shows them")
    groups = [*_alike(places, lambda place: place["severity"] == _HARMLESS and not page.every)]
    explained: set[str] = set()
    for alike in groups if page.every else groups[:_PLACES_SHOWN]:
        page.line()
        _places(alike, page, explained)
    hidden = [] if page.every else groups[_PLACES_SHOWN:]
    harmless = 0 if page.every else sum(place["severity"] == _HARMLESS for place in places)
    if hidden:
        page.wrapped(f"{counted(sum(map(len, hidden)), 'more place')} with warnings or errors: --all shows each")
    if harmless:
        page.line()
        page.wrapped(f"{counted(harmless, 'place')} with information only: --all shows each")
    _compared([*body["compared"]], page)


def _alike(places: Iterable[Any], is_hidden: Callable[[Any], bool]) -> Iterator[list[Any]]:
    """Yield the places to show, those with the same dangerous messages together."""
    groups: dict[tuple[object, ...], list[Any]] = {}
    for place in places:
        if not is_hidden(place):
            steps = (step for step in place["steps"] if step["severity"] != _HARMLESS)
            key = tuple(step["rule"] or step["message"] for step in steps)
            kind = "partition" if place["topic"] is not None else place["log_dir"]
            groups.setdefault((kind, *key), []).append(place)
    yield from groups.values()


def _places(alike: list[Any], page: Page, explained: set[str]) -> None:
    """Write the first of places with the same messages, and the names of the others; explain each rule once."""
    first = alike[0]
    page.wrapped(f"{first['severity']} {_name(first)}", hanging="  ", style=STYLES[first["severity"]])
    steps = [step for step in first["steps"] if page.every or step["severity"] != _HARMLESS]
    for step in islice(steps, None if page.every else _STEPS_SHOWN):
        _step(step, page, explained)
    if len(steps) > _STEPS_SHOWN and not page.every:
        page.line(f"  {len(steps) - _STEPS_SHOWN} more: --all shows them")
    if len(alike) > 1:
        page.wrapped(f"The same at {some_of([_name(place) for place in alike[1:]])}", indent="  ", hanging="    ")


def _step(step: Any, page: Page, explained: set[str]) -> None:
    times = "" if step["count"] == 1 else f", {step['count']} times up to line {step['last_line']}"
    after = "" if step["caused_by"] is None else f", after line {step['caused_by']}"
    rule = "?" if step["rule"] is None else step["rule"]
    text = f"line {step['line']}{_at(step['time'])} {step['severity']} {rule}{times}{after}"
    page.wrapped(text, indent="  ", hanging="    ", style=STYLES[step["severity"]])
    page.wrapped(str(step["message"]), indent="    ")
    if step["candidates"]:
        names = ", ".join(one["rule"] for one in step["candidates"])
        page.wrapped(f"The line was cut too early: it can be {names}.", indent="    ")
    if step["rule"] is not None and (step["rule"] not in explained or page.every):
        explained.add(step["rule"])
        for words in (step["means"], step["next"]):
            page.wrapped(str(words or ""), indent="    ")
        if step["look"]:
            page.wrapped(f"Look: {step['look']}", indent="    ", hanging="      ")


def _compared(rows: list[Any], page: Page) -> None:
    """Write where the log and the directories differ, and how often they agree."""
    if not rows:
        return
    page.line()
    agree = sum(row["agrees"] is True for row in rows)
    page.line(f"The log and the directories agree {counted(agree, 'time')} of {len(rows)}", "bold")
    for row in rows:
        if row["agrees"] is not True or page.every:
            name = partition_name(row["topic"], row["partition"])
            text = f"{name}: line {row['line']} says: {row['says']}; now: {row['now']}"
            page.wrapped(text, indent="  ", hanging="    ", style=None if row["agrees"] is not False else "yellow")


def _name(place: Any) -> str:
    if place["topic"] is not None:
        inside = "" if place["log_dir"] is None else f" in {place['log_dir']}"
        return f"{partition_name(place['topic'], place['partition'])}{inside}"
    return "the broker" if place["log_dir"] is None else str(place["log_dir"])


def _place(row: Row) -> str:
    name = _name(row)
    return "" if name == "the broker" else f"{name}, "


def _at(time: object) -> str:
    return "" if time is None else f" {moment(time)}"
