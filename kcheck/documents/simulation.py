"""A simulated history as JSON, with every step, its replicas and messages, and the verdict."""

from collections.abc import Iterable, Sequence

from kcheck.model.cluster import NO_LEADER
from kcheck.model.entries import EpochEntries
from kcheck.model.report import Row
from kcheck.simulation.decisions import Decision, rule_of
from kcheck.simulation.replay import HistoryStep, Replay
from kcheck.simulation.search import SearchEnd
from kcheck.simulation.state import (
    AlterIsr,
    EpochQuestion,
    EpochReply,
    Fetched,
    NetworkMessage,
    Node,
    PartitionState,
    Registered,
    Registration,
    ReplicaFetch,
    ReplicaMode,
    StopReplica,
    TruncationDue,
    names_of,
)
from kcheck.simulation.verdict import Verdict

ROLES = {
    ReplicaMode.NONE: "none",
    ReplicaMode.LEADER: "leader",
    ReplicaMode.TRUNCATING: "truncating",
    ReplicaMode.FETCHING: "follower",
    ReplicaMode.FAILED: "failed",
    ReplicaMode.STARTING: "starting",
}
"""The role of a replica, as an answer calls it."""


def replay_body(replay: Replay) -> dict[str, object]:
    """Return the body of the document of one history under one release."""
    names = replay.script.names
    return {
        "brokers": names,
        "controller": "kraft" if replay.rules.election.kraft else "zookeeper",
        "mutant": replay.rules.mutant,
        "steps": tuple(_step_row(step, names) for step in replay.steps),
        "verdict": verdict_row(replay.verdict, names),
        "failed_expectations": tuple({"line": fail.line, "message": fail.message} for fail in replay.failed),
    }


def releases_body(replays: Iterable[Replay], changes: Iterable[Sequence[str]]) -> dict[str, object]:
    """Return the body of the document of one history under many releases.

    `changes` are for each release the rules that change its outcome, compared with the release before.
    """
    return {
        "releases": tuple(
            {
                "kafka": replay.rules.release.name,
                "controller": "kraft" if replay.rules.election.kraft else "zookeeper",
                "verdict": verdict_row(replay.verdict, replay.script.names),
                "changed_by": tuple(changed_by),
                "failed_expectations": len(replay.failed),
            }
            for replay, changed_by in zip(replays, changes, strict=True)
        )
    }


def search_body(end: SearchEnd, scenario: str | None) -> dict[str, object]:
    """Return the body of the document of a search."""
    return {
        "found": scenario,
        "promise": None if end.violation is None else end.violation.promise,
        "states": end.states,
        "depth": end.depth,
        "complete": end.complete,
    }


def searches_body(searches: Iterable[tuple[str, bool, SearchEnd, str | None]]) -> dict[str, object]:
    """Return the body of the document of one search under many releases (name, KRaft or not, and its results)."""
    return {
        "searches": tuple(
            {"kafka": kafka, "controller": "kraft" if kraft else "zookeeper", **search_body(end, scenario)}
            for kafka, kraft, end, scenario in searches
        )
    }


def verdict_row(verdict: Verdict, names: Sequence[str]) -> Row:
    """Return a verdict."""
    return {
        "lost": tuple({"from": start, "to": end} for start, end in verdict.lost),
        "withdrawn": tuple({"from": start, "to": end} for start, end in verdict.withdrawn),
        "diverged": tuple(
            {"replicas": tuple(names_of(pair.replicas, names)), "at": pair.at, "detected": pair.detected}
            for pair in verdict.diverged
        ),
        "stuck": tuple(names_of(verdict.stuck, names)),
        "offline": verdict.offline,
    }


def _step_row(step: HistoryStep, names: Sequence[str]) -> Row:
    controller = step.state.controller
    leader = controller.seats.leader
    return {
        "line": step.line,
        "event": step.event,
        "decided_by": tuple(str(decision) for decision in step.decided_by),
        "rules": tuple(map(_rule_row, step.decided_by)),
        "notes": step.notes,
        "replicas": {name: _replica_row(node) for name, node in zip(names, step.state.nodes, strict=True)},
        "leader": None if leader == NO_LEADER else names[leader],
        "leader_epoch": controller.leader_epoch,
        "isr": tuple(names_of(controller.seats.isr, names)),
        "elr": tuple(names_of(controller.seats.elr, names)),
        "messages": tuple(_message_row(*sent, names) for sent in step.messages),
    }


def _rule_row(decision: Decision) -> Row:
    rule = rule_of(decision)
    return {"rule": str(decision), "methods": rule.methods, "reference": rule.reference, "link": rule.link}


def _replica_row(node: Node) -> Row:
    return {
        "log_end_offset": node.log_end_offset,
        "high_watermark": node.high_watermark,
        "log_start_offset": node.log_start_offset,
        "leader_epochs": _epoch_rows(node.epochs),
        "role": ROLES[node.mode],
        "running": node.running,
        "log": _log_rows(node),
    }


def _epoch_rows(epochs: EpochEntries) -> tuple[Row, ...]:
    return tuple({"epoch": entry.epoch, "start_offset": entry.start_offset} for entry in epochs)


def _log_rows(node: Node) -> tuple[Row, ...]:
    """Return the log as ranges of records, with the append of the history that wrote them, and the epoch."""
    return tuple(
        {"from": batch.base_offset, "to": batch.end_offset, "epoch": batch.epoch, "append": batch.append}
        for batch in node.batches
    )


def _message_row(source: int, target: int, message: NetworkMessage, names: Sequence[str]) -> Row:
    kind, text = message_words(message, names)
    return {
        "from": names_of([source], names)[0],
        "to": names_of([target], names)[0],
        "kind": kind,
        "text": text,
    }


def message_words(message: NetworkMessage, names: Sequence[str]) -> tuple[str, str]:
    """Return the kind of a message, and what it says."""
    match message:
        case PartitionState():
            leader = "none" if message.leader < 0 else names[message.leader]
            return (
                "state",
                f"leader {leader}, epoch {message.leader_epoch}, ISR {','.join(names_of(message.isr, names))}",
            )
        case StopReplica():
            return "stop-replica", "delete the replica"
        case AlterIsr():
            return "alter-isr", f"ISR {','.join(names_of(message.isr, names))}"
        case EpochQuestion():
            return "epoch-request", f"end of epoch {message.epoch}?"
        case EpochReply():
            epoch = "" if message.epoch is None else f"epoch {message.epoch} "
            return "epoch-reply", message.error if message.error != "NONE" else f"{epoch}ends at {message.end_offset}"
        case ReplicaFetch():
            epoch = "" if message.last_epoch is None else f", last epoch {message.last_epoch}"
            return "fetch", f"fetch {message.offset}{epoch}"
        case Fetched():
            return "fetched", _fetched_in_words(message)
        case Registration():
            return "registration", "registers" if message.clean else "registers, unclean"
        case Registered():
            return "registered", "registered"
        case TruncationDue():
            return "truncation", "truncates next"


def _fetched_in_words(message: Fetched) -> str:
    if message.error != "NONE":
        return message.error
    if message.diverging is not None:
        return f"diverging epoch {message.diverging[0]}, end {message.diverging[1]}"
    if not message.batches:
        return f"no records, HW {message.high_watermark}"
    first, last = message.batches[0].base_offset, message.batches[-1].end_offset
    return f"records {first}..{last}, HW {message.high_watermark}"
