"""Whether a broker may start: what its next start loses, fails to load or no longer serves, reason by reason."""

from collections.abc import Iterable, Iterator
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
    """The controller removes the broker from the ELR of partitions: its last shutdown was not clean."""
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
        if is_set_aside(partition):
            yield ReasonKind.STRAY, partition


def elr_exit(image: ClusterImage, broker_id: int | None, starts: Iterable[LogDirPrediction]) -> ElrExit | None:
    """Return the ELRs that the broker leaves, if it registers as after an unclean shutdown (4.0 to 4.3.1).

    The markers of all log dirs decide (ReplicationControlManager.handleBrokerShutdown).
    """
    broker = None if broker_id is None else image.brokers.get(broker_id)
    members = [part for part in image.partitions() if broker_id in part[2].elr]
    if broker is None or not members or all(_is_of_epoch(start, broker.epoch) for start in starts):
        return None
    alone = sum(1 for _, _, partition in members if not partition.isr and partition.elr == (broker_id,))
    return ElrExit(tuple(TopicPartition(topic.name, number) for topic, number, _ in members), alone)


def _is_of_epoch(start: LogDirPrediction, epoch: int | None) -> bool:
    return registers_cleanly(clean=start.clean, shutdown_epoch=start.shutdown_epoch, broker_epoch=epoch)
