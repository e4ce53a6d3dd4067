"""Whether a broker may start: what its next start loses, fails to load or no longer serves, reason by reason."""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

from kcheck.core.start.predictions import LogDirPrediction, PartitionPrediction
from kcheck.core.start.startup import Outcome
from kcheck.core.start.strays import registers_cleanly
from kcheck.core.start.verdicts import is_set_aside
from kcheck.model.cluster import ClusterImage
from kcheck.model.names import TopicPartition


class ReasonKind(StrEnum):
    """Why a broker should not start. The value is what an answer calls it."""

    ABORT = "abort"
    """The broker does not start."""
    OFFLINE = "offline"
    """A log dir goes offline."""
    LOSS = "loss"
    """A partition loses records that are in its files."""
    STRAY = "stray"
    """The broker stops serving a partition: it sets the directory aside, or deletes it."""
    ELR = "elr"
    """The controller removes the broker from the ELR of partitions: no clean shutdown since it registered."""
    UNKNOWN = "unknown"
    """kcheck cannot say what the start does."""


ALLOWED = (ReasonKind.LOSS, ReasonKind.STRAY, ReasonKind.ELR, ReasonKind.OFFLINE)
"""What a user may decide to accept."""


class ElrExit(NamedTuple):
    """The partitions whose ELR a broker leaves."""

    partitions: tuple[TopicPartition, ...]
    """The partitions."""
    alone: int
    """How many of them have no replica in sync then."""
    epochs: tuple[int, int | None] | None = None
    """The broker epoch of its last clean shutdown, and the one that the cluster knows; None if it was not clean."""


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
    for partition in start.partitions:
        if partition.outcome is Outcome.UNKNOWN:
            yield ReasonKind.UNKNOWN, partition
        if partition.lost is not None:
            yield ReasonKind.LOSS, partition
        if is_set_aside(partition):
            yield ReasonKind.STRAY, partition


def elr_exit(image: ClusterImage, broker_id: int | None, starts: Sequence[LogDirPrediction]) -> ElrExit | None:
    """Return the ELRs that the broker leaves, if it registers as after an unclean shutdown (4.0 to 4.3.1).

    The markers of all log dirs decide (ReplicationControlManager.handleBrokerShutdown).
    """
    broker = None if broker_id is None else image.brokers.get(broker_id)
    members = [part for part in image.partitions() if broker_id in part[2].elr]
    if broker is None or not members or all(_is_of_epoch(start, broker.epoch) for start in starts):
        return None
    alone = sum(1 for _, _, partition in members if not partition.isr and partition.elr == (broker_id,))
    names = tuple(TopicPartition(topic.name, number) for topic, number, _ in members)
    other = next((start.shutdown_epoch for start in starts if start.shutdown_epoch not in (None, broker.epoch)), None)
    is_old = other is not None and all(start.clean for start in starts)
    return ElrExit(names, alone, (other, broker.epoch) if is_old and other is not None else None)


def _is_of_epoch(start: LogDirPrediction, epoch: int | None) -> bool:
    return registers_cleanly(clean=start.clean, shutdown_epoch=start.shutdown_epoch, broker_epoch=epoch)
