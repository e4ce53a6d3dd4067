"""What the drawings of a history show: for each step the messages, and what changes on the replicas."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from kcheck.errors import UsageError
from kcheck.model.report import Report
from kcheck.renderers._text_simulation import UNCHANGED, cell
from kcheck.words import bare_range

CONTROLLER = "controller"


class Moment(NamedTuple):
    """A step of a history."""

    title: str
    messages: tuple[tuple[str, str, str], ...]
    """From, to, text."""
    changes: dict[str, str]
    """By replica, those that change only."""
    cut: dict[str, tuple[int, int, bool]]
    """By replica: from which offset to which it drops records, and whether the history ends with the loss of some."""
    step: Any


def history(report: Report, form: str) -> Any:
    """Return the body of the answer; UsageError if it is not one history under one release."""
    body: Any = report.body
    if "steps" not in body:
        raise UsageError(f"--format {form} draws a history under one release; use text or json")
    return body


def moments(body: Any) -> Iterator[Moment]:
    """Yield the steps of a history."""
    before: dict[str, Any] = {}
    for step in body["steps"]:
        replicas = step["replicas"]
        cells = {name: cell(replica, before.get(name)) for name, replica in replicas.items()}
        cut = {}
        for name, replica in replicas.items():
            start = _cut_from(before.get(name, replica), replica)
            if start is not None:
                end = before[name]["log_end_offset"]
                lost = any(gone["from"] < end and start < gone["to"] for gone in body["verdict"]["lost"])
                cut[name] = (start, end, lost)
        yield Moment(
            title=f"{step['line']}: {step['event']}" if step["line"] else step["event"],
            messages=tuple(
                (sent["from"], sent["to"], sent["text"]) for sent in step["messages"] if sent["from"] != sent["to"]
            ),
            changes={name: text for name, text in cells.items() if text != UNCHANGED},
            cut=cut,
            step=step,
        )
        before = replicas


def _cut_from(before: Any, now: Any) -> int | None:
    """Return the first offset whose record a replica has no longer at its tail; None if it keeps all."""
    known = {(batch["from"], batch["epoch"], batch["append"]): batch["to"] for batch in now["log"]}
    for batch in before["log"]:
        end = known.get((batch["from"], batch["epoch"], batch["append"]), batch["from"])
        if end < batch["to"] and batch["to"] > now["log_start_offset"]:
            return int(max(end, now["log_start_offset"]))
    return None


def cut_in_words(cut: tuple[int, int, bool]) -> str:
    """Return which records a replica drops."""
    start, end, lost = cut
    return f"✗ {bare_range(start, end)} dropped{', lost' if lost else ''}"


def lanes(body: Any) -> tuple[str, ...]:
    """Return the columns: the controller if it sends or is sent anything, and the replicas."""
    ends = {sent[end] for step in body["steps"] for sent in step["messages"] for end in ("from", "to")}
    return (*([CONTROLLER] if CONTROLLER in ends else []), *body["brokers"])
