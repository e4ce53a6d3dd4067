"""The contents of a history's drawings, with the messages of each step, and the changes on the replicas."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kcheck.documents.simulation import message_words
from kcheck.errors import UsageError
from kcheck.model.report import Report
from kcheck.renderers._text_simulation import UNCHANGED, cell
from kcheck.simulation.replay import HistoryStep, Replay
from kcheck.simulation.state import Node, names_of
from kcheck.verbs.simulate import Simulation
from kcheck.words import bare_range

CONTROLLER = "controller"


class Moment(NamedTuple):
    """A step of a history."""

    title: str
    messages: tuple[tuple[str, str, str], ...]
    """From, to, text."""
    changes: dict[str, str]
    """Changed replicas and their changes."""
    cut: dict[str, tuple[int, int, bool]]
    """By replica, the range `[start, end)` of removed offsets, and whether the history ends with a loss of some."""
    step: HistoryStep


def history(report: Report, form: str) -> Replay:
    """Return the replay of the answer; UsageError if it is not one history under one release."""
    if not isinstance(report.answer, Simulation):
        raise UsageError(f"--format {form} draws a history under one release; use text or json")
    return report.answer.replay


def moments(replay: Replay) -> Iterator[Moment]:
    """Yield the steps of a history."""
    names = replay.script.names
    before: tuple[Node, ...] | None = None
    for step in replay.steps:
        nodes = step.state.nodes
        former = (None,) * len(nodes) if before is None else before
        cells = dict(zip(names, map(cell, nodes, former), strict=True))
        cut = {}
        for name, was, node in zip(names, former, nodes, strict=True):
            start = None if was is None else _cut_from(was, node)
            if was is not None and start is not None:
                end = was.log_end_offset
                lost = any(first < end and start < after for first, after in replay.verdict.lost)
                cut[name] = (start, end, lost)
        yield Moment(
            title=f"{step.line}: {step.event}" if step.line else step.event,
            messages=tuple(_sent(step, names)),
            changes={name: text for name, text in cells.items() if text != UNCHANGED},
            cut=cut,
            step=step,
        )
        before = nodes


def _sent(step: HistoryStep, names: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Yield what a node sends to another one."""
    for source, target, message in step.messages:
        if source != target:
            sender, receiver = names_of((source, target), names)
            yield sender, receiver, message_words(message, names)[1]


def _cut_from(before: Node, now: Node) -> int | None:
    """Return the first offset whose record a replica has no longer at its tail; None if it keeps all."""
    known = {(batch.base_offset, batch.epoch, batch.append): batch.end_offset for batch in now.batches}
    for batch in before.batches:
        end = known.get((batch.base_offset, batch.epoch, batch.append), batch.base_offset)
        if end < batch.end_offset and batch.end_offset > now.log_start_offset:
            return max(end, now.log_start_offset)
    return None


def cut_in_words(cut: tuple[int, int, bool]) -> str:
    """Return the words for the records that a replica removes."""
    start, end, lost = cut
    return f"✗ {bare_range(start, end)} dropped{', lost' if lost else ''}"


def lanes(replay: Replay) -> tuple[str, ...]:
    """Return the columns: the controller if it sends or is sent anything, and the replicas."""
    names = replay.script.names
    ends = {name for step in replay.steps for *pair, _ in step.messages for name in names_of(pair, names)}
    return (*([CONTROLLER] if CONTROLLER in ends else []), *names)
