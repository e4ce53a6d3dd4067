"""A log in brief, with the events of each partition and log dir, and the messages that caused others.

Memory does not grow with the log. Messages of one meaning at one place are one step, and places are limited.
"""

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet

from kcheck.messages.catalogue import LogRule
from kcheck.messages.lines import LogEvent
from kcheck.messages.values import LogPlace

_PLACES_MAX = 2_000
_CAUSES_MAX = 1_000
_DIRECTORIES_MAX = 20_000
_RESTART = ("L001", "L140")
"""Rules of a restart. Earlier problems cause nothing after it."""
_OF_PROCESS = frozenset(("exit",))
"""Kinds of causes that end a process. Nothing follows from them in another log."""
_OF_BROKER = frozenset(("abort", "exit"))
"""Kinds of causes that end a broker, wherever they are."""
_RANKS = {"info": 0, "warning": 1, "error": 2, "fatal": 3}
UNKNOWN_SEVERITY = {"WARN": "warning", "ERROR": "error", "FATAL": "fatal"}
"""The severity of a message without a rule, by its level."""

PlaceKey = tuple[str | None, int | None, str | None]
"""The topic and partition, or the log dir; three times None for the broker."""


class Cause:
    """A message that began something, and how much it began."""

    __slots__ = ("event", "file", "followers", "kinds", "last_line")

    def __init__(self, event: LogEvent, file: int, kinds: Iterable[str]) -> None:
        self.event: LogEvent = event
        self.file: int = file
        self.kinds: set[str] = {*kinds}
        self.followers: int = 0
        self.last_line: int = event.line


class Step:
    """Messages of one meaning at one place, with one cause."""

    __slots__ = ("cause", "count", "file", "first", "last_line", "last_time")

    def __init__(self, event: LogEvent, file: int, cause: Cause | None) -> None:
        self.first: LogEvent = event
        self.last_line: int = event.line
        self.last_time: int | None = event.time
        self.file: int = file
        self.cause: Cause | None = cause
        self.count: int = 1

    @property
    def severity(self) -> str:
        """Its severity."""
        return severity_of(self.first)


class PlaceTimeline:
    """The events at one place, in the order of the log."""

    __slots__ = ("key", "steps")

    def __init__(self, key: PlaceKey, steps: tuple[Step, ...]) -> None:
        self.key: PlaceKey = key
        self.steps: tuple[Step, ...] = steps

    @property
    def severity(self) -> str:
        """The worst of its steps."""
        return max((step.severity for step in self.steps), key=_RANKS.__getitem__)


class Timeline:
    """Takes the messages of logs, in order."""

    def __init__(self) -> None:
        """Begin without any."""
        self._places: dict[PlaceKey, dict[tuple[str, int], Step]] = {}
        self._harmless: dict[PlaceKey, None] = {}
        """The places where nothing went wrong yet."""
        self._open: list[Cause] = []
        self._causes: list[Cause] = []
        self._directories: dict[tuple[str, int], str] = {}
        self.left_out: int = 0
        """The messages at places beyond the limit."""
        self.counts: dict[str, int] = dict.fromkeys(_RANKS, 0)
        """The messages by how dangerous they are."""

    def add(self, event: LogEvent, file: int = 0) -> None:
        """Take the next message; `file` is the number of its log."""
        severity = severity_of(event)
        self.counts[severity] += 1
        rule, where = event.rule, event.place
        if rule is not None and rule.id in _RESTART:
            self._open.clear()
        if where.topic is not None and where.partition is not None:
            partition = where.topic, where.partition
            if where.log_dir is None:
                log_dir = self._directories.get(partition)
                event = event if log_dir is None else event._replace(place=where._replace(log_dir=log_dir))
            elif len(self._directories) < _DIRECTORIES_MAX:
                self._directories[partition] = where.log_dir
        cause = self._cause(rule, event, file)
        self._step(event, file, cause, severity)

    def _cause(self, rule: LogRule | None, event: LogEvent, file: int) -> Cause | None:
        """Return the cause of the message; open a new cause if it is one."""
        if rule is None:
            return None
        for cause in self._open:
            kinds = cause.kinds.intersection(rule.causes if cause.event.rule is rule else rule.follows)
            if cause.file != file:
                kinds -= _OF_PROCESS  # It may be another broker's.
            if kinds and _reaches(kinds, cause.event.place, event.place):
                cause.followers += 1
                cause.last_line = event.line
                cause.kinds.update(rule.causes)
                return cause
        if rule.causes and len(self._causes) < _CAUSES_MAX:
            opened = Cause(event, file, rule.causes)
            self._open.append(opened)
            self._causes.append(opened)
        return None

    def _step(self, event: LogEvent, file: int, cause: Cause | None, severity: str) -> None:
        where = event.place
        key: PlaceKey = (where.topic, where.partition, None)
        if where.topic is None:
            key = (None, None, where.log_dir)
        steps = self._places.get(key)
        if steps is None:
            if len(self._places) >= _PLACES_MAX and not self._make_room(severity):
                self.left_out += 1
                return
            steps = self._places[key] = {}
            self._harmless[key] = None
        if severity != "info":
            self._harmless.pop(key, None)
        name = (event.rule.id if event.rule is not None else event.message[:40], 0 if cause is None else id(cause))
        step = steps.get(name)
        if step is not None:
            step.count += 1
            step.last_line, step.last_time = event.line, event.time
        elif len(steps) < _PLACES_MAX:
            steps[name] = Step(event, file, cause)
        else:
            self.left_out += 1

    def _make_room(self, severity: str) -> bool:
        """Forget a place where nothing went wrong, for one where something did."""
        if severity == "info" or not self._harmless:
            return False
        key = next(iter(self._harmless))
        del self._harmless[key]
        self.left_out += sum(step.count for step in self._places.pop(key).values())
        return True

    def causes(self) -> tuple[Cause, ...]:
        """Return the causes with followers, first the worst one with the most followers."""
        some = [cause for cause in self._causes if cause.followers]
        return tuple(sorted(some, key=lambda cause: (-_RANKS[severity_of(cause.event)], -cause.followers)))

    def places(self) -> tuple[PlaceTimeline, ...]:
        """Return the events at each place, the worst place first, then the earliest."""
        some = [PlaceTimeline(key, tuple(steps.values())) for key, steps in self._places.items()]
        return tuple(
            sorted(some, key=lambda place: (-_RANKS[place.severity], place.steps[0].file, place.steps[0].first.line))
        )


def severity_of(event: LogEvent) -> str:
    """Return how dangerous a message is."""
    if event.rule is None:
        return UNKNOWN_SEVERITY.get(event.level or "", "info")
    return event.rule.severity


def _reaches(kinds: AbstractSet[str], one: LogPlace, other: LogPlace) -> bool:
    """Return whether what follows from a message at one place can happen at the other."""
    if not kinds.isdisjoint(_OF_BROKER):
        return True
    if one.log_dir is not None and other.log_dir is not None and ("disk" in kinds or None in (one.topic, other.topic)):
        return one.log_dir == other.log_dir
    if one.topic is not None and other.topic is not None:
        return (one.topic, one.partition) == (other.topic, other.partition)
    return other.topic is None and other.log_dir is None


def worst(severities: Mapping[str, int]) -> str | None:
    """Return the worst severity that has a count; None if none has."""
    return max((name for name, count in severities.items() if count), key=_RANKS.__getitem__, default=None)
