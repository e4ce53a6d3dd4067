"""A history as text, with one event a line, `expect` lines, and comments.

Errors name the line, the column and the expected words. `event_text` writes the line of an event that `parse` reads.
"""

import re
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import NamedTuple

from kcheck.core.releases.releases import NEWEST_TESTED
from kcheck.core.releases.releases import release as release_of
from kcheck.errors import UsageError
from kcheck.simulation.events import LINKS, ONE_BROKER, Event, EventKind
from kcheck.simulation.json_script import json_lines, text_lines
from kcheck.simulation.state import CONTROLLER, Acks, names_of
from kcheck.simulation.topic_line import ACKS, TopicSettings, with_setting
from kcheck.simulation.words import Words

BROKER_COUNT_MAX = 9
RECORD_COUNT_MAX = 1_000_000
LINE_COUNT_MAX = 10_000
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,20}")
_TIME = re.compile(r"([0-9]{1,12})(ms|s|m|h|)")
_UNITS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000}
_RESERVED = ("controller", "all", "nothing", "lost", "withdrawn", "diverged", "stuck", "leader", "isr", "elr", "none")
_SYNONYMS = {"kill": "crash", "produce": "append", "shutdown": "stop", "powerloss": "power-loss"}
ANYWHERE = -1
"""The place where two replicas diverge, if a line does not give it."""


class Expected(NamedTuple):
    """The content of an `expect` line. Which fields count depends on `what`."""

    what: str
    """replica, partition, lost, withdrawn, diverged, stuck or nothing."""
    broker: int = -1
    other: int = -1
    start: int = 0
    end: int = 0
    values: tuple[tuple[str, object], ...] = ()
    """Fields of a replica or of the partition, with the values they should have."""
    nothing: str = ""
    """The kind of harm that must not happen."""


class ScriptLine(NamedTuple):
    """A line that does something."""

    number: int
    """From 1 on."""
    text: str
    """Without its comment."""
    action: Event | Expected


class Script(NamedTuple):
    """A history, ready to run."""

    names: tuple[str, ...]
    """The brokers, in the order of the assignment."""
    topic: TopicSettings
    leader: int
    """The first leader."""
    leader_epoch: int
    isr: tuple[int, ...]
    lines: tuple[ScriptLine, ...]
    kafka: str | None = None
    """The release that the script names."""


def parse(text: str, path: str) -> Script:
    """Return the history in a text or in its JSON twin; UsageError where it cannot be understood."""
    text = text.removeprefix("\ufeff")  # Notepad begins a file with it.
    lines = json_lines(text, path) if text.lstrip()[:1] in ("{", "[") else text_lines(text)
    if len(lines) > LINE_COUNT_MAX:
        raise UsageError(f"{path}: more than {LINE_COUNT_MAX} lines")
    parser = _Parser(path)
    for number, line in enumerate(lines, 1):
        parser.line(number, line.text, line.place)
    return parser.script()


class _Parser:
    """Reads a history line by line."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._names: tuple[str, ...] = ()
        self._topic = TopicSettings()
        self._leader: int | None = None
        self._epoch = 0
        self._isr: tuple[int, ...] | None = None
        self._lines: list[ScriptLine] = []
        self._kafka: str | None = None

    def script(self) -> Script:
        """Return the script."""
        if self._leader is None:
            raise UsageError(f"{self._path}: expected a line that begins the history: A leads")
        replicas = self._replicas()
        isr = replicas if self._isr is None else self._isr
        return Script(
            names=self._names,
            topic=self._topic,
            leader=self._leader,
            leader_epoch=self._epoch,
            isr=tuple(sorted({*isr, self._leader})),
            lines=tuple(self._lines),
            kafka=self._kafka,
        )

    def _replicas(self) -> tuple[int, ...]:
        return tuple(range(len(self._names) if self._topic.rf is None else self._topic.rf))

    def line(self, number: int, line: str, place: str) -> None:
        """Read a line."""
        text = line.partition("#")[0].rstrip()
        words = Words(text, f"{self._path}: {place}")
        if not words.more():
            return
        first = words.take("an event")
        verb = _SYNONYMS.get(first.lower(), first.lower())
        if not self._names:
            if verb != "brokers":
                words.fail("'brokers', which comes first")
            self._brokers(words)
        elif first in self._names:
            if words.peek() not in ("leads", "leader"):
                words.fail(f"the event before the broker, such as 'crash {first}', or '{first} leads'")
            self._leads(self._names.index(first), words, number, text)
        elif verb in _SETTINGS:
            _SETTINGS[verb](self, words)
        else:
            if self._leader is None:
                words.fail("the first leader, such as 'A leads', before the first event")
            self._lines.append(ScriptLine(number, text.strip(), self._action(verb, words)))
        words.end()

    def _brokers(self, words: Words) -> None:
        names: list[str] = []
        for name in words.listed("a broker"):
            if not _NAME.fullmatch(name) or name in _RESERVED or name in names:
                words.fail("a new name of a broker: letters, digits, '.', '_' or '-'")
            if len(names) == BROKER_COUNT_MAX:
                words.fail(f"at most {BROKER_COUNT_MAX} brokers")
            names.append(name)
        self._names = tuple(names)

    def _leads(self, broker: int, words: Words, number: int, text: str) -> None:
        words.take("'leads'")
        epoch = words.number("a leader epoch", 0, (1 << 31) - 1) if words.accept("epoch") else None
        if self._leader is None:
            self._leader, self._epoch = broker, epoch or 0
            if broker not in self._replicas():
                words.fail("a leader among the replicas")
        elif epoch is not None:
            words.fail("an epoch with the first leader alone", back=2)
        else:
            self._lines.append(ScriptLine(number, text.strip(), Event(EventKind.ELECT, broker)))

    def topic_line(self, words: Words) -> None:
        """Read settings."""
        while words.more():
            self._topic = with_setting(self._topic, words)
        if self._topic.rf is not None and not 1 <= self._topic.rf <= len(self._names):
            words.fail(f"rf from 1 to {len(self._names)}")

    def isr_line(self, words: Words) -> None:
        """Read the first ISR."""
        if self._lines:
            words.fail("'isr' before the first event")
        self._isr = tuple(self._all(words))

    def kafka_line(self, words: Words) -> None:
        """Read the release."""
        self._kafka = words.take("a release such as 3.9")
        try:
            release_of(self._kafka)
        except UsageError:
            words.fail(f"a release such as {NEWEST_TESTED}")

    def _all(self, words: Words) -> list[int]:
        return [self._number(name, words) for name in words.listed(self._a_broker)]

    def _broker(self, words: Words, *, controller: bool = False) -> int:
        return self._number(words.take(self._a_broker), words, controller=controller)

    @property
    def _a_broker(self) -> str:
        return f"a broker: {', '.join(self._names)}"

    def _number(self, name: str, words: Words, *, controller: bool = False) -> int:
        if controller and name == "controller":
            return CONTROLLER
        if name not in self._names:
            words.fail(f"a broker: {', '.join((*self._names, *(['controller'] if controller else ())))}")
        return self._names.index(name)

    def _action(self, verb: str, words: Words) -> Event | Expected:
        if verb in ONE_BROKER:
            return Event(EventKind(verb), self._broker(words))
        if verb in LINKS:
            return self._link(EventKind(verb), words)
        if verb not in _ACTIONS:
            known = sorted((*ONE_BROKER, *LINKS, *_ACTIONS))
            near = get_close_matches(verb, known, 1)
            words.fail(f"{near[0]!r}, or another event" if near else f"an event: {', '.join(known)}")
        return _ACTIONS[verb](self, words)

    def _link(self, kind: EventKind, words: Words) -> Event:
        source, arrow, target = words.take("a link such as A->B").replace("→", "->").partition("->")
        if not arrow and (words.accept("->") or words.accept("→")):
            arrow, target = "->", words.take("the other end of the link")
        if not arrow:  # `delay B`: what the controller tells B
            return Event(kind, CONTROLLER, target=self._number(source, words))
        ends = [self._number(name, words, controller=True) for name in (source, target)]
        if ends == [CONTROLLER, CONTROLLER]:
            words.fail("a link with a broker")
        return Event(kind, ends[0], target=ends[1])

    def append(self, words: Words) -> Event:
        """Read what a producer sends."""
        count = words.number("a number of records", 1, RECORD_COUNT_MAX)
        _ = words.accept("records") or words.accept("record")
        acks, broker = self._topic.acks, -1
        while words.more():
            word = words.take("acks= or to")
            if word == "to":
                broker = self._broker(words)
            elif word.startswith("acks=") and word[5:] in ACKS:
                acks = ACKS[word[5:]]
            else:
                words.fail("acks=0, acks=1, acks=all or 'to BROKER'")
        return Event(EventKind.APPEND, broker, amount=count, acks=acks)

    def fetch(self, words: Words) -> Event:
        """Read a fetch."""
        if words.accept("all"):
            return Event(EventKind.FETCH_ALL)
        broker = self._broker(words)
        times = 1
        if words.more():
            word = words.take("xN")
            if not re.fullmatch(r"x[1-9][0-9]{0,2}", word):
                words.fail("a number of requests such as x2")
            times = int(word[1:])
        return Event(EventKind.FETCH, broker, amount=times)

    def power_loss(self, words: Words) -> Event:
        """Read a power loss."""
        broker = self._broker(words)
        offset = words.number("an offset") if words.accept("from") else None
        return Event(EventKind.POWER_LOSS, broker, offset=offset, torn=words.accept("torn"))

    def elect(self, words: Words) -> Event:
        """Read an election."""
        return Event(EventKind.ELECT, self._broker(words), unclean=words.accept("unclean"))

    def controller(self, words: Words) -> Event:
        """Read a failover of the controller."""
        words.need("new")
        return Event(EventKind.CONTROLLER)

    def wait(self, words: Words) -> Event:
        """Read a time."""
        time = words.take("a time such as 30s")
        match = _TIME.fullmatch(time + words.take("a unit") if words.peek() in _UNITS else time)
        if match is None:
            words.fail("a time such as 30s or 500ms")
        return Event(EventKind.WAIT, amount=int(match[1]) * _UNITS[match[2] or "s"])

    def read(self, words: Words) -> Event:
        """Read what a consumer reads: `B 0..5` or `0..5 from B`."""
        if ".." in words.peek() and words.peek() not in self._names:
            start, end = words.range()
            words.need("from")
            broker = self._broker(words)
        else:
            broker = self._broker(words)
            start, end = words.range()
        return Event(EventKind.READ, broker, offset=start, end=end)

    def reassign(self, words: Words) -> Event:
        """Read new replicas."""
        return Event(EventKind.REASSIGN, brokers=tuple(dict.fromkeys(self._all(words))))

    def trim(self, words: Words) -> Event:
        """Read a deletion of old records."""
        broker = self._broker(words)
        words.need("to")
        return Event(EventKind.TRIM, broker, offset=words.number("an offset"))

    def expect(self, words: Words) -> Expected:
        """Read an expectation."""
        if words.accept("nothing"):
            what = words.take("'lost', 'withdrawn', 'diverged' or 'stuck'")
            if what not in ("lost", "withdrawn", "diverged", "stuck"):
                words.fail("'lost', 'withdrawn', 'diverged' or 'stuck'")
            return Expected("nothing", nothing=what)
        for what in ("lost", "withdrawn"):
            if words.accept(what):
                if words.accept("none"):
                    return Expected("nothing", nothing=what)
                start, end = words.range()
                words.accept("acked")
                return Expected(what, start=start, end=end)
        if words.accept("diverged"):
            broker, other = self._broker(words), self._broker(words)
            start = words.number("an offset") if words.accept("at") else ANYWHERE
            return Expected("diverged", broker, other, start=start)
        if words.accept("stuck"):
            return Expected("stuck", self._broker(words))
        if words.peek() in ("leader", "isr", "elr", "epoch"):
            return Expected("partition", values=self._values(words))
        return Expected("replica", self._broker(words), values=self._values(words))

    def _values(self, words: Words) -> tuple[tuple[str, object], ...]:
        values: list[tuple[str, object]] = []
        while words.more() or not values:
            field = words.take("leo, hw, start, epochs, isr, elr, leader, epoch, running or stopped")
            values.append((field, self._value(field, words)))
        return tuple(values)

    def _value(self, field: str, words: Words) -> object:
        if field in ("leo", "hw", "start", "epoch"):
            return words.number("a number")
        if field in ("isr", "elr"):
            names = words.take("brokers such as A,B")
            return () if names == "none" else tuple(sorted(self._number(name, words) for name in names.split(",")))
        if field == "leader":
            name = words.take("a broker or 'none'")
            return -1 if name == "none" else self._number(name, words)
        if field == "epochs":
            return self._epochs(words)
        if field in ("running", "stopped"):
            return field == "running"
        return words.fail("leo, hw, start, epochs, isr, elr, leader, epoch, running or stopped")

    def _epochs(self, words: Words) -> tuple[tuple[int, int], ...]:
        text = words.take("epochs such as 0@0,2@8, or none")
        if text == "none":
            return ()
        if not re.fullmatch(r"[0-9]{1,10}@[0-9]{1,18}(,[0-9]{1,10}@[0-9]{1,18})*", text):
            words.fail("epochs such as 0@0,2@8")
        pairs = (entry.split("@") for entry in text.split(","))
        return tuple((int(epoch), int(offset)) for epoch, offset in pairs)


_SETTINGS: dict[str, Callable[[_Parser, Words], None]] = {
    "topic": _Parser.topic_line,
    "isr": _Parser.isr_line,
    "kafka": _Parser.kafka_line,
}
_ACTIONS: dict[str, Callable[[_Parser, Words], Event | Expected]] = {
    "append": _Parser.append,
    "fetch": _Parser.fetch,
    "power-loss": _Parser.power_loss,
    "lose": _Parser.power_loss,
    "elect": _Parser.elect,
    "controller": _Parser.controller,
    "wait": _Parser.wait,
    "read": _Parser.read,
    "reassign": _Parser.reassign,
    "trim": _Parser.trim,
    "expect": _Parser.expect,
}


def event_text(event: Event, names: Sequence[str]) -> str:
    """Return the line of an event, as `parse` reads it."""
    broker = names_of([event.broker], names)[0] if event.broker >= CONTROLLER else ""
    match event.kind:
        case EventKind.APPEND:
            acks = "all" if event.acks is Acks.ALL else str(int(event.acks))
            return f"append {event.amount} acks={acks}" + (f" to {broker}" if event.broker >= 0 else "")
        case EventKind.FETCH:
            return f"fetch {broker}" + (f" x{event.amount}" if event.amount > 1 else "")
        case EventKind.POWER_LOSS:
            lost = "" if event.offset is None else f" from {event.offset}"
            return f"power-loss {broker}{lost}" + (" torn" if event.torn else "")
        case kind if kind in LINKS:
            return f"{event.kind} {broker}->{names_of([event.target], names)[0]}"
        case EventKind.ELECT:
            return f"elect {broker}" + (" unclean" if event.unclean else "")
        case _:
            return f"{event.kind} {broker}"
