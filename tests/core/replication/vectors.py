"""The recorded truncation vectors as values. Keys of `expect` name a lookup, a group of releases, or a profile."""

import json
from pathlib import Path
from typing import Any

from kcheck.core.releases.releases import release
from kcheck.core.replication.dialogue import (
    DialogueStep,
    EpochRequest,
    FetchRequest,
    Leader,
    OutOfRangeStep,
    Replica,
    TruncateToHighWatermark,
)
from kcheck.model.entries import EpochEndOffset, EpochEntries, EpochEntry
from kcheck.model.release import Release

VECTORS: dict[str, list[dict[str, Any]]] = json.loads(
    (Path(__file__).parent / "truncation-vectors.json").read_text(encoding="utf-8")
)

RELEASES: dict[str, Release] = {
    "P0": release("0.10.2"),
    "P1a": release("1.1.0"),
    "P1b": release("1.1.1"),
    "P2": release("2.0.0"),
    "P3": release("2.6.0"),
    "P4": release("2.7"),
    "P4v0": release("2.7", ibp="1.0"),
    "P5": release("4.3"),
    "P5_280": release("2.8.0"),
}


def every(section: str) -> list[tuple[dict[str, Any], str]]:
    """Return (vector, key of its expectation) for each expectation of a section."""
    return [(vector, key) for vector in VECTORS[section] for key in vector["expect"]]


def name(value: object) -> str:
    """Return the id that pytest shows."""
    return str(value["id"]) if isinstance(value, dict) else str(value)


def cache(entries: list[list[int]]) -> EpochEntries:
    """Return a cache of [epoch, start offset] pairs."""
    return tuple(EpochEntry(*entry) for entry in entries)


def pairs(entries: EpochEntries) -> list[list[int]]:
    """Return a cache as [epoch, start offset] pairs."""
    return [[entry.epoch, entry.start_offset] for entry in entries]


def leader(vector: dict[str, Any]) -> Leader:
    """Return the leader of a truncation vector before its election."""
    state = vector["leader"]
    return Leader(cache=cache(state["cache"]), log_end_offset=state["leo"], log_start_offset=state["log_start"])


def follower(vector: dict[str, Any]) -> Replica:
    """Return the follower of a truncation vector."""
    state = vector["follower"]
    return Replica(
        cache=cache(state["cache"]),
        log_end_offset=state["leo"],
        high_watermark=state["hw"],
        log_start_offset=state["log_start"],
        first_segment=state["first_segment"],
    )


def as_row(step: DialogueStep) -> dict[str, Any]:
    """Return a step as the vectors write it."""
    match step:
        case TruncateToHighWatermark(to):
            return {"kind": "truncate_hw", "to": to}
        case OutOfRangeStep(action, to):
            return {"kind": "out_of_range", "action": str(action), "to": to}
        case EpochRequest(sent, reply, branch, to, completed):
            row: dict[str, Any] = {"kind": "epoch_request", "sent_epoch": sent, "completed": completed}
            return row | {"reply": [reply.epoch, reply.end_offset], "branch": str(branch), "truncate_to": to}
        case FetchRequest(offset, epoch, reply, branch, to):
            answer = {"diverging": [reply.epoch, reply.end_offset]} if isinstance(reply, EpochEndOffset) else str(reply)
            row = {"kind": "fetch", "offset": offset, "last_fetched_epoch": epoch, "reply": answer}
            return row | ({"branch": str(branch), "truncate_to": to} if branch else {})
