"""The layout of pasted lines, and of the timeline of a log."""

from collections.abc import Iterable, Sequence
from itertools import islice

from kcheck.disk.package_data import log_catalogue
from kcheck.documents.explain import look
from kcheck.messages.catalogue import Wording
from kcheck.messages.comparison import LogComparison
from kcheck.messages.lines import LogEvent
from kcheck.messages.timeline import Cause, PlaceTimeline, Step, severity_of
from kcheck.model.report import Report
from kcheck.renderers._text_explain import meaning
from kcheck.screen.page import STYLES, Page
from kcheck.verbs.explain_log import LogExplanation
from kcheck.words import counted, moment, partition_name, some_of

_CAUSES_SHOWN = 5
_STEPS_SHOWN = 12
_PLACES_SHOWN = 10
_VALUE_SIZE_MAX = 120
_HARMLESS = "info"


def explained_log(report: Report, page: Page) -> None:
    """Write the meaning of messages of brokers."""
    answer = report.answer
    assert isinstance(answer, LogExplanation)
    if report.checked:
        answer.read_all()
        timeline, software = answer.reading.timeline, answer.software
        brokers = ", ".join(f"broker {number}" for number in answer.broker_ids)
        _log([*timeline.causes()], [*timeline.places()], [brokers, f"Kafka {software.version or '?'}"], page)
    else:
        for number, (_, event) in enumerate(answer.messages):
            page.line() if number else None
            _line(event, page)
    _compared([*answer.compared()], page)


def _line(event: LogEvent, page: Page) -> None:
    """Write all that is known of one message."""
    rule = event.rule
    if rule is None:
        page.wrapped(f"? {event.message}", hanging="  ", style="bold")
        _unknown(event.candidates, page)
        return
    page.wrapped(f"{rule.id} {rule.severity} {event.message}", hanging="  ", style=STYLES[rule.severity])
    meaning(rule, look(rule, event.place, event.values), page)
    values = [f"{name} {_short(value)}" for name, value in event.values.items()]
    if values:
        page.wrapped(f"Values: {' · '.join(values)}", indent="  ", hanging="    ")
    since = log_catalogue().since.get(rule.id)
    if since is not None:
        releases = None if event.wording is None else event.wording.releases
        wording = f"; this wording: {releases}" if releases else ""
        page.wrapped(f"Since: Kafka {since}{wording}", indent="  ", hanging="    ")


def _unknown(candidates: Sequence[Wording], page: Page) -> None:
    """Write what a message without a rule can be."""
    if not candidates:
        page.wrapped("kcheck does not know this message, because no wording of its catalog matches.", indent="  ")
        return
    page.wrapped(f"The line is too short to say which of these {len(candidates)} messages it is:", indent="  ")
    for one in candidates:
        page.wrapped(f"{one.rule.id} {one.rule.severity} {one.pattern}", indent="    ", hanging="      ")
    page.wrapped(f"kcheck explain {' '.join(one.rule.id for one in candidates)} explains each.", indent="  ")


def _short(value: object) -> str:
    text = ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
    return text if len(text) <= _VALUE_SIZE_MAX else f"{text[: _VALUE_SIZE_MAX - 3]}..."


def _log(causes: Sequence[Cause], places: Sequence[PlaceTimeline], facts: Iterable[str], page: Page) -> None:
    """Write the causes, then what happened at each place, the worst one first."""
    count = sum(step.count for place in places for step in place.steps)
    page.line(" · ".join(filter(None, [counted(count, "message"), *facts])), "bold")
    if not count:
        page.line("No line is a message of a broker that kcheck knows.")
    for cause in causes if page.every else causes[:_CAUSES_SHOWN]:
        _cause(cause, page)
    if len(causes) > _CAUSES_SHOWN and not page.every:
        page.line(f"{len(causes) - _CAUSES_SHOWN} more causes: --all shows them")
    groups = _alike(place for place in places if page.every or place.severity != _HARMLESS)
    explained: set[str] = set()
    for alike in groups if page.every else groups[:_PLACES_SHOWN]:
        page.line()
        _places(alike, page, explained)
    hidden = [] if page.every else groups[_PLACES_SHOWN:]
    harmless = 0 if page.every else sum(place.severity == _HARMLESS for place in places)
    if hidden:
        page.wrapped(f"{counted(sum(map(len, hidden)), 'more place')} with warnings or errors: --all shows each")
    if harmless:
        page.line()
        page.wrapped(f"{counted(harmless, 'place')} with information only: --all shows each")


def _cause(cause: Cause, page: Page) -> None:
    event, rule = cause.event, cause.event.rule
    assert rule is not None
    name = _name(event.place.topic, event.place.partition, event.place.log_dir)
    place = "" if name == _BROKER else f"{name}, "
    place_of_last = "line" if cause.followers == 1 else "up to line"
    more = f"It led to {counted(cause.followers, 'more message')}, {place_of_last} {cause.last_line}."
    text = f"line {event.line}{_at(event.time)}, {place}{rule.id}: {rule.means} {more}"
    page.wrapped(text, hanging="  ", style=STYLES[rule.severity])


def _alike(places: Iterable[PlaceTimeline]) -> list[list[PlaceTimeline]]:
    """Return the places to show, grouped by equal dangerous messages."""
    groups: dict[tuple[object, ...], list[PlaceTimeline]] = {}
    for place in places:
        firsts = (step.first for step in place.steps if step.severity != _HARMLESS)
        key = tuple(event.message if event.rule is None else event.rule.id for event in firsts)
        kind = "partition" if place.key[0] is not None else _log_dir(place)
        groups.setdefault((kind, *key), []).append(place)
    return [*groups.values()]


def _log_dir(place: PlaceTimeline) -> str | None:
    """Return the log dir of a place; for a partition it is in some of its messages."""
    named = (step.first.place.log_dir for step in place.steps)
    return place.key[2] or next((log_dir for log_dir in named if log_dir is not None), None)


def _places(alike: Sequence[PlaceTimeline], page: Page, explained: set[str]) -> None:
    """Write the first of places with the same messages, and the names of the others; explain each rule once."""
    first = alike[0]
    page.wrapped(f"{first.severity} {_place_name(first)}", hanging="  ", style=STYLES[first.severity])
    steps = [step for step in first.steps if page.every or step.severity != _HARMLESS]
    for step in islice(steps, None if page.every else _STEPS_SHOWN):
        _step(step, page, explained)
    if len(steps) > _STEPS_SHOWN and not page.every:
        page.line(f"  {len(steps) - _STEPS_SHOWN} more: --all shows them")
    if len(alike) > 1:
        names = some_of([_place_name(place) for place in alike[1:]])
        page.wrapped(f"The same at {names}", indent="  ", hanging="    ")


def _step(step: Step, page: Page, explained: set[str]) -> None:
    event, rule = step.first, step.first.rule
    times = "" if step.count == 1 else f", {step.count} times up to line {step.last_line}"
    after = "" if step.cause is None else f", caused by line {step.cause.event.line}"
    name = "?" if rule is None else rule.id
    text = f"line {event.line}{_at(event.time)} {severity_of(event)} {name}{times}{after}"
    page.wrapped(text, indent="  ", hanging="    ", style=STYLES[severity_of(event)])
    page.wrapped(event.message, indent="    ")
    if event.candidates:
        names = ", ".join(one.rule.id for one in event.candidates)
        page.wrapped(f"The line is too short. It can be {names}.", indent="    ")
    if rule is not None and (rule.id not in explained or page.every):
        explained.add(rule.id)
        for words in (rule.means, rule.next):
            page.wrapped(words, indent="    ")
        command = look(rule, event.place, event.values)
        if command:
            page.wrapped(f"Look: {command}", indent="    ", hanging="      ")


def _compared(comparisons: Sequence[LogComparison], page: Page) -> None:
    """Write where the log and the directories differ, and how often they agree."""
    if not comparisons:
        return
    page.line()
    agree = sum(comparison.agrees is True for comparison in comparisons)
    page.line(f"The log and the directories agree {counted(agree, 'time')} of {len(comparisons)}", "bold")
    for comparison in comparisons:
        if comparison.agrees is not True or page.every:
            event, now = comparison.event, f"says: {comparison.says}; now: {comparison.now}"
            text = f"{partition_name(event.place.topic, event.place.partition)}: line {event.line} {now}"
            style = "yellow" if comparison.agrees is False else None
            page.wrapped(text, indent="  ", hanging="    ", style=style)


_BROKER = "the broker"


def _place_name(place: PlaceTimeline) -> str:
    topic, partition, _ = place.key
    return _name(topic, partition, _log_dir(place))


def _name(topic: str | None, partition: int | None, log_dir: str | None) -> str:
    if topic is not None:
        return partition_name(topic, partition) + ("" if log_dir is None else f" in {log_dir}")
    return _BROKER if log_dir is None else log_dir


def _at(time: int | None) -> str:
    return "" if time is None else f" {moment(time)}"
