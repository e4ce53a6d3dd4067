"""Finds the reasons why a broker should not start (losses, failures to load, and replicas no longer served)."""

from collections.abc import Iterator
from enum import StrEnum

from kcheck.core.start.predictions import LogDirPrediction, PartitionPrediction
from kcheck.core.start.startup import Outcome


class ReasonKind(StrEnum):
    """The reason why a broker should not start. Answers use the value."""

    ABORT = "abort"
    """The broker does not start."""
    OFFLINE = "offline"
    """A log dir goes offline."""
    LOSS = "loss"
    """A partition loses records that are in its files."""
    STRAY = "stray"
    """The broker stops serving a partition, and renames the directory to -stray or deletes it."""
    ELR = "elr"
    """The controller removes the broker from ELRs after an unclean shutdown, and partitions have no leader."""
    UNKNOWN = "unknown"
    """kcheck cannot predict the next start."""


ALLOWED = (ReasonKind.LOSS, ReasonKind.STRAY, ReasonKind.ELR, ReasonKind.OFFLINE)
"""The kinds of reasons that a user may accept."""


_OF_LOG_DIR = {
    Outcome.ABORT: ReasonKind.ABORT,
    Outcome.OFFLINE: ReasonKind.OFFLINE,
    Outcome.UNKNOWN: ReasonKind.UNKNOWN,
}


def reasons_against(start: LogDirPrediction) -> Iterator[tuple[ReasonKind, PartitionPrediction | None]]:
    """Yield what speaks against a predicted start; without a partition it is about the log dir."""
    kind = ReasonKind.UNKNOWN if start.unread else _OF_LOG_DIR.get(start.outcome)
    if kind is not None:
        yield kind, None
    if kind is ReasonKind.ABORT:
        return  # A broker that does not start loads nothing.
    for partition in start.partitions:
        if partition.outcome is Outcome.UNKNOWN:
            yield ReasonKind.UNKNOWN, partition
        if partition.lost is not None:
            yield ReasonKind.LOSS, partition
        if partition.is_set_aside:
            yield ReasonKind.STRAY, partition
