"""`kcheck simulate`: replays a history of one partition, under one release or all of them."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from itertools import pairwise
from typing import NamedTuple

from kcheck.core.releases.releases import NEWEST_TESTED, lines
from kcheck.disk.new_files import write_tree
from kcheck.disk.tree import tree_of
from kcheck.documents.answer import Answer
from kcheck.documents.simulation import releases_body, replay_body, search_body, searches_body
from kcheck.errors import UsageError, why_not_text
from kcheck.jobs.workers import SharedWork
from kcheck.model.report import Report, Row
from kcheck.model.unreadable import UnreadableCause, UnreadableError
from kcheck.simulation.directories import files_after
from kcheck.simulation.history import ShippedHistory, parse_history
from kcheck.simulation.promises import PROMISES, WATCHED
from kcheck.simulation.replay import Replay, replay, rules_of
from kcheck.simulation.script import Script, event_text, parse
from kcheck.simulation.search import DEPTH_MAX, STATES_MAX, Budget, Search, SearchEnd, SearchPart, silent
from kcheck.simulation.search import search as find
from kcheck.words import near, some_of

ALL = "all"
"""`--kafka all`: a row for each line of releases."""
_SIZE_MAX = 1 << 20
_ENDING = ".history"


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulation(Answer):
    """A history under one release."""

    replay: Replay

    @property
    def holds(self) -> bool:
        """True if every expectation of the history holds."""
        return not self.replay.failed

    def report(self) -> Report:
        """Return the answer as rows."""
        return self.as_report(
            "simulate",
            self.replay.rules.release.name,
            body=replay_body(self.replay),
            table="steps",
            kinds={"steps": "step", "failed_expectations": "failed-expectation"},
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasesCompared(Answer):
    """A history under every line of releases that can run it."""

    replays: tuple[Replay, ...]

    def changes(self) -> Iterable[tuple[str, ...]]:
        """Yield for each release the rules by which its outcome differs from the previous release, if any."""
        yield ()
        for before, now in pairwise(self.replays):
            if before.verdict == now.verdict:
                yield ()
                continue
            old, new = _decisions(before), _decisions(now)
            gone = (f"not {rule}" for rule in old if rule not in new)
            yield (*(rule for rule in new if rule not in old), *gone)

    def report(self) -> Report:
        """Return the answer as rows."""
        return self.as_report(
            "simulate",
            self.replays[-1].rules.release.name,
            body=releases_body(self.replays, self.changes()),
            table="releases",
            kinds={"releases": "release"},
        )


def _decisions(run: Replay) -> dict[str, None]:
    return dict.fromkeys(str(decision) for step in run.steps for decision in step.decided_by)


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryList(Answer):
    """The histories that kcheck ships."""

    histories: tuple[ShippedHistory, ...]

    def report(self) -> Report:
        """Return the answer as rows."""
        return self.as_report(
            "simulate",
            NEWEST_TESTED,
            body={"histories": tuple(map(_history_row, self.histories))},
            table="histories",
            kinds={"histories": "history"},
        )


def _history_row(history: ShippedHistory) -> Row:
    outcomes = tuple({"kafka": kafka, "outcome": outcome} for kafka, outcome in history.outcomes)
    return {"name": history.name, "title": history.title, "page": history.page, "outcomes": outcomes}


class Configuration(NamedTuple):
    """The cluster that a search is about."""

    brokers: int = 2
    rf: int | None = None
    min_isr: int = 1
    acks: str = "all"
    unclean: bool = False
    elr: bool | None = None
    kraft: bool | None = None

    def beginning(self) -> str:
        """Return how its histories begin."""
        settings = {
            "rf": self.rf,
            "min.isr": self.min_isr,
            "acks": self.acks,
            "unclean": str(self.unclean).lower(),
            "elr": None if self.elr is None else str(self.elr).lower(),
            "mode": None if self.kraft is None else "kraft" if self.kraft else "zookeeper",
        }
        names = "ABCDEFGHI"[: self.brokers]
        topic = " ".join(f"{name}={value}" for name, value in settings.items() if value is not None)
        return f"brokers {' '.join(names)}\ntopic {topic}\nA leads\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Searched(Answer):
    """The result of a search."""

    kafka: str
    kraft: bool
    found: SearchEnd
    scenario: str | None
    """The history that breaks a promise, as `kcheck simulate` reads it."""

    def report(self) -> Report:
        """Return the answer as rows."""
        return self.as_report("simulate", self.kafka, body=search_body(self.found, self.scenario))


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchesCompared(Answer):
    """The same search under every line of releases that has these settings."""

    searches: tuple[Searched, ...]

    @property
    def holds(self) -> bool:
        """True if no release breaks a promise, as far as was searched."""
        return all(searched.scenario is None for searched in self.searches)

    def report(self) -> Report:
        """Return the answer as rows."""
        rows = ((searched.kafka, searched.kraft, searched.found, searched.scenario) for searched in self.searches)
        return self.as_report(
            "simulate",
            self.searches[-1].kafka,
            body=searches_body(rows),
            table="searches",
            kinds={"searches": "search"},
        )


class SearchBounds(NamedTuple):
    """The bounds of a search."""

    budget: Budget = Budget()
    depth_max: int = DEPTH_MAX
    states_max: int = STATES_MAX
    promises: tuple[str, ...] = WATCHED
    """The promises that count; keys of PROMISES."""
    jobs: int = 1
    """Number of processes that share the work; the answer is the same."""


def search(
    beginning: str,
    name: str,
    bounds: SearchBounds,
    *,
    kafka: str | None = None,
    mutant: str | None = None,
    progress: Callable[[int, int], None] = silent,
) -> Searched:
    """Return the shortest way to break a promise of Kafka from where a history ends; it may have no event.

    `name` is the name of the history in errors. UsageError for an unknown promise or mutant, or an unreadable history.
    """
    for promise in bounds.promises:
        if promise not in PROMISES:
            raise UsageError(f"no promise is called {promise[:40]!r}; use {', '.join(PROMISES)}")
    script = parse(beginning, name)
    chosen = kafka or script.kafka or NEWEST_TESTED
    begun = replay(script, chosen, mutant=mutant)
    task = Search(
        first=begun.steps[-1].state,
        rules=begun.rules,
        budget=bounds.budget,
        acks=script.topic.acks,
        depth_max=bounds.depth_max,
        states_max=bounds.states_max,
        promises=tuple(promise for promise in PROMISES if promise in bounds.promises),
    )
    with SharedWork(bounds.jobs, lambda: SearchPart(task)) as parts:
        result = find(task, parts, progress)
    scenario = None
    if result.violation is not None:
        events = [event_text(event, script.names) for event in result.violation.events]
        title = f"# {PROMISES[result.violation.promise]}: Kafka {chosen}"
        scenario = "\n".join([title, *beginning.rstrip().splitlines(), *events]) + "\n"
    return Searched(kafka=chosen, kraft=begun.rules.election.kraft, found=result, scenario=scenario)


def search_all(
    beginning: str,
    name: str,
    bounds: SearchBounds,
    *,
    mutant: str | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> SearchesCompared:
    """Return the results of `search` under every line of releases, oldest first; `progress` gets the release too.

    UsageError as from `search`, and if no release has these settings.
    """
    script = parse(beginning, name)
    return SearchesCompared(
        searches=tuple(
            search(
                beginning,
                name,
                bounds,
                kafka=line,
                mutant=mutant,
                progress=silent if progress is None else partial(progress, line),
            )
            for line in _releases_of(script, name)
        )
    )


def _releases_of(script: Script, name: str) -> list[str]:
    """Return the lines of releases that have the mode and the message format of a history, at least one."""
    releases = []
    for line in lines():
        with suppress(UsageError):
            rules_of(script, line)
            releases.append(line)
    if not releases:
        raise UsageError(f"{name}: no release has these settings")
    return releases


def histories() -> tuple[ShippedHistory, ...]:
    """Return the histories that kcheck ships, by name."""
    shipped = sorted(files("kcheck.histories").iterdir(), key=lambda file: file.name)
    return tuple(
        parse_history(file.name.removesuffix(_ENDING), file.read_text("utf-8"))
        for file in shipped
        if file.name.endswith(_ENDING)
    )


def text_at(path: str) -> str:
    """Return the text of a history from a file, or of a shipped history; UsageError if there is neither."""
    try:
        data = tree_of(path).read_whole(path, follow=True, size_max=_SIZE_MAX)
    except UnreadableError as error:
        known = {history.name: history for history in histories()}
        if path in known:
            return known[path].text
        if error.cause is UnreadableCause.MISSING:
            similar = near(path, known)
            instead = f"did you mean {some_of(similar)}?" if similar else "kcheck simulate list names the histories"
            raise UsageError(f"{path}: no such file or history; {instead}") from error
        raise UsageError(f"{path}: {error}") from error
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: {why_not_text(error)}") from error


def write_directories(run: Replay, out: str, step: int | None = None) -> None:
    """Write the log dirs of all brokers after `step` events of a history, by default after the last one.

    UsageError: the history has fewer events; `out` is not an empty directory.
    """
    last = len(run.steps) - 1
    if step is not None and not 0 <= step <= last:
        raise UsageError(f"--after {step}: the history has {last} events; use 0 to {last}")
    write_tree(out, files_after(run, last if step is None else step))


def simulate(
    path: str, *, kafka: str | None = None, ibp: str | None = None, mutant: str | None = None
) -> Simulation | ReleasesCompared:
    """Return the course of a history under a release; with `all` under every line of releases.

    `mutant` switches off a condition of Kafka; UsageError if it is not known.
    """
    script = parse(text_at(path), path)
    if kafka != ALL:
        return Simulation(replay=replay(script, kafka or script.kafka or NEWEST_TESTED, ibp=ibp, mutant=mutant))
    return ReleasesCompared(replays=tuple(replay(script, line, mutant=mutant) for line in _releases_of(script, path)))
