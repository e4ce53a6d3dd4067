"""The layout of `kcheck simulate`: a column for each replica, time from top to bottom, then the verdict."""

from collections.abc import Sequence

from kcheck.model.report import Report
from kcheck.screen.page import Page
from kcheck.simulation.promises import PROMISES
from kcheck.simulation.replay import HistoryStep, Replay
from kcheck.simulation.state import Node, names_of
from kcheck.simulation.verdict import Verdict
from kcheck.verbs.simulate import HistoryList, ReleasesCompared, Searched, SearchesCompared, Simulation
from kcheck.words import counted, offset_range

UNCHANGED = "\u00b7"

_RAISE = "raise --max-states or --max-events, or lower the budget"


def simulate(report: Report, page: Page) -> None:
    """Write the table of a history, the releases of a comparison, or the histories that kcheck ships."""
    match report.answer:
        case Searched() as answer:
            _search(answer, page)
        case SearchesCompared(searches=searches):
            _searches(searches, page)
        case HistoryList() as answer:
            _histories(answer, page)
        case ReleasesCompared() as answer:
            _releases(answer, page)
        case answer:
            assert isinstance(answer, Simulation)
            _history(answer.replay, page)


def _search(search: Searched, page: Page) -> None:
    end = search.found
    visited = f"{end.states} states, {end.depth} events deep"
    if search.scenario is not None:
        promise = PROMISES[_promise(search)]
        page.wrapped(f"{promise[0].upper()}{promise[1:]}, after {visited}. The shortest history:", style="bold")
        page.line()
        for line in search.scenario.splitlines():
            page.line(line)
        return
    scope = "within the budget" if end.complete else f"up to {end.depth} events"
    page.wrapped(f"Kafka {search.kafka} breaks no promise {scope}: {visited}.", style="bold")
    if not end.complete:
        page.wrapped(f"The search ended before every state was visited: {_RAISE}.")


def _promise(search: Searched) -> str:
    assert search.found.violation is not None
    return search.found.violation.promise


def _searches(searches: Sequence[Searched], page: Page) -> None:
    page.table(
        ("Kafka", "controller", "broken promise", "events", "states"),
        [
            (search.kafka, _controller(kraft=search.kraft), _broken(search), search.found.depth, search.found.states)
            for search in searches
        ],
    )
    page.line()
    promises = (search.found.violation.promise for search in searches if search.found.violation is not None)
    for promise in dict.fromkeys(promises):
        page.wrapped(f"{promise}: {PROMISES[promise]}", hanging="    ")
    if not all(search.scenario is not None or search.found.complete for search in searches):
        page.wrapped(f"Not all states were visited where it says so: {_RAISE}.")


def _broken(search: Searched) -> str:
    if search.scenario is not None:
        return _promise(search)
    return "none" if search.found.complete else f"none up to {search.found.depth} events"


def _controller(*, kraft: bool) -> str:
    return "kraft" if kraft else "zookeeper"


def _histories(answer: HistoryList, page: Page) -> None:
    for number, history in enumerate(answer.histories):
        page.line() if number else None
        page.wrapped(f"{history.name}: {history.title}", hanging="    ", style="bold")
        for kafka, words in history.outcomes:
            page.wrapped(f"{kafka}: {words}", indent="  ", hanging="    ")


def _releases(answer: ReleasesCompared, page: Page) -> None:
    page.table(
        ("Kafka", "controller", "outcome"),
        [
            (replay.rules.release.name, _controller(kraft=replay.rules.election.kraft), outcome_of(replay))
            for replay in answer.replays
        ],
    )
    for replay, changed_by in zip(answer.replays, answer.changes(), strict=True):
        if changed_by:
            page.wrapped(f"{replay.rules.release.name}: {'; '.join(changed_by)}", hanging="    ")


def _history(replay: Replay, page: Page) -> None:
    rules, names = replay.rules, replay.script.names
    mutant = f", mutant {rules.mutant}" if rules.mutant else ""
    controller = f"{_controller(kraft=rules.election.kraft)} controller"
    page.line(f"Kafka {rules.release.name}{mutant}, {controller}: log end/high watermark, new epochs", "bold")
    before: HistoryStep | None = None
    rows = []
    for step in replay.steps:
        former = [None] * len(names) if before is None else before.state.nodes
        cells = map(cell, step.state.nodes, former)
        known = (None, None) if before is None else _partition(before, names)
        shown = (UNCHANGED if now == was else now for now, was in zip(_partition(step, names), known, strict=True))
        rows.append((step.line or "", step.event, *cells, *shown))
        before = step
    page.table(("line", "event", *names, "leader", "ISR"), rows)
    for step in replay.steps:
        for note in step.notes:
            page.wrapped(f"line {step.line}: {note}", hanging="    ")
    page.line()
    page.wrapped(outcome_of(replay), style="bold")
    for failed in replay.failed:
        page.wrapped(f"line {failed.line}: {failed.message}", hanging="    ", style="red")


def _partition(step: HistoryStep, names: Sequence[str]) -> tuple[str, str]:
    """Return the leader with its epoch, and the ISR."""
    isr = ",".join(names_of(step.state.controller.seats.isr, names))
    return f"{leader_of(step, names) or 'none'} e{step.state.controller.leader_epoch}", isr or "none"


def leader_of(step: HistoryStep, names: Sequence[str]) -> str | None:
    """Return the name of the leader; None without one."""
    leader = step.state.controller.seats.leader
    return None if leader < 0 else names[leader]


def cell(node: Node, before: Node | None) -> str:
    """Return the changes of a step on a replica (log end and high watermark, and changed epochs)."""
    if not node.running:
        return "down" if before is None or before.running else UNCHANGED
    if before is not None and _seen(node) == _seen(before):
        return UNCHANGED
    text = f"{node.log_end_offset}/{node.high_watermark}"
    epochs, known = epochs_of(node), [] if before is None else epochs_of(before)
    if epochs == known:
        return text
    if known and epochs[: len(known)] == known:
        return f"{text} +{',+'.join(epochs[len(known) :])}"
    return f"{text} {','.join(epochs) or 'none'}"


def epochs_of(node: Node) -> list[str]:
    """Return the leader epochs of a replica as `3@1500`."""
    return [f"{entry.epoch}@{entry.start_offset}" for entry in node.epochs]


def _seen(node: Node) -> tuple[object, ...]:
    """Return the visible state of a replica, as its process remembers more."""
    log = [(batch.base_offset, batch.end_offset, batch.epoch, batch.append) for batch in node.batches]
    ends = (node.log_start_offset, node.log_end_offset, node.high_watermark)
    return (*ends, node.epochs, node.mode, node.running, log)


def outcome_of(replay: Replay) -> str:
    """Return the verdict on a history in words."""
    return outcome(replay.verdict, replay.script.names)


def outcome(verdict: Verdict, names: Sequence[str]) -> str:
    """Return a verdict in words."""
    words = [f"lost: {_records(*lost, 'acknowledged record')}" for lost in verdict.lost]
    words += [f"withdrawn: {_records(*read, 'record')} that consumers read" for read in verdict.withdrawn]
    for pair in verdict.diverged:
        notice = "" if pair.detected else ", and nothing notices"
        words.append(f"{' and '.join(names_of(pair.replicas, names))} differ from offset {pair.at}{notice}")
    words += [f"{name} is stuck" for name in names_of(verdict.stuck, names)]
    words += ["no leader runs"] if verdict.offline else []
    return "; ".join(words) or "nothing lost, nothing diverged"


def _records(start: int, end: int, noun: str) -> str:
    return f"{counted(end - start, noun)} ({offset_range(start, end)})"
