"""Whether a broker may start: what its next start loses, fails to load or no longer serves, reason by reason."""

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import NamedTuple

from kcheck.core.start.predictions import LogDirPrediction, PartitionPrediction
from kcheck.core.start.startup import Outcome
from kcheck.core.start.strays import registers_cleanly
from kcheck.core.start.verdicts import is_set_aside, lost_words
from kcheck.model.cluster import ClusterImage
from kcheck.model.names import LIVE


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


class PreflightReason(NamedTuple):
    """A reason against a start."""

    kind: ReasonKind
    """What it is."""
    why: str
    """The reason in words."""
    log_dir: str | None = None
    """The log dir; None for the whole broker."""
    partition: PartitionPrediction | None = None
    """The partition; None for a whole log dir."""


_OF_LOG_DIR = {
    Outcome.ABORT: ReasonKind.ABORT,
    Outcome.OFFLINE: ReasonKind.OFFLINE,
    Outcome.UNKNOWN: ReasonKind.UNKNOWN,
}


def reasons_against(start: LogDirPrediction) -> Iterator[PreflightReason]:
    """Yield what a predicted start of one log dir does that an operator would want to know before."""
    kind = ReasonKind.UNKNOWN if start.unread else _OF_LOG_DIR.get(start.outcome)
    if kind is not None:
        why = start.reasons[0] if start.reasons else start.uncertain or "kcheck cannot read all of it"
        yield PreflightReason(kind, why, start.path)
    for partition in start.partitions:
        yield from _of_partition(start.path, partition)


def _of_partition(log_dir: str, partition: PartitionPrediction) -> Iterator[PreflightReason]:
    if partition.outcome is Outcome.UNKNOWN:
        why = partition.uncertain or partition.reason or "its log was not read"
        yield PreflightReason(ReasonKind.UNKNOWN, why, log_dir, partition)
    if partition.lost is not None:
        why = f"{lost_words(partition.lost)} lost{f': {partition.reason}' if partition.reason else ''}"
        yield PreflightReason(ReasonKind.LOSS, why, log_dir, partition)
    if is_set_aside(partition):
        doubt = f" ({partition.uncertain})" if partition.uncertain else ""
        yield PreflightReason(ReasonKind.STRAY, f"{partition.reason or partition.outcome}{doubt}", log_dir, partition)


def leaves_elr(
    image: ClusterImage, broker_id: int | None, starts: Iterable[LogDirPrediction]
) -> PreflightReason | None:
    """Return the reason if the broker is in an ELR and registers as after an unclean shutdown (4.0 to 4.3.1).

    The markers of all log dirs decide (ReplicationControlManager.handleBrokerShutdown).
    """
    broker = None if broker_id is None else image.brokers.get(broker_id)
    named = [f"{topic.name}-{number}" for topic, number, partition in image.partitions() if broker_id in partition.elr]
    if broker is None or not named or all(_is_of_epoch(start, broker.epoch) for start in starts):
        return None
    alone = sum(1 for _, _, partition in image.partitions() if not partition.isr and partition.elr == (broker_id,))
    only = f", {alone} of which then have no replica in sync" if alone else ""
    why = f"its last shutdown was not clean, so it leaves the ELR of {_first(named)}{only}"
    return PreflightReason(ReasonKind.ELR, why)


def empty_replicas(
    image: ClusterImage, broker_id: int | None, starts: Iterable[LogDirPrediction]
) -> PreflightReason | None:
    """Return the reason if replicas that may lead have no directory, as after the loss of a disk.

    The broker makes them again, empty, and has them placed in the log dir where they are then
    (ReplicationControlManager.handleAssignReplicasToDirs): from then on the controller can elect them.
    """
    here = set[tuple[str, int]]()
    for start in starts:
        if start.unread:
            return None
        directories = (partition.directory for partition in start.partitions)
        here |= {(directory.topic, directory.partition) for directory in directories if directory.state in LIVE}
    named = [
        f"{topic.name}-{number}"
        for topic, number, partition in image.partitions()
        if broker_id in (*partition.isr, *partition.elr, *partition.last_known_elr) and (topic.name, number) not in here
    ]
    if not named:
        return None
    why = (
        f"{_first(named)} may lead by the metadata, but no directory is here: the broker makes them again, empty, and"
        " the other replicas would delete their records; start those first"
    )
    return PreflightReason(ReasonKind.LOSS, why)


def _first(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _is_of_epoch(start: LogDirPrediction, epoch: int | None) -> bool:
    return registers_cleanly(clean=start.clean, shutdown_epoch=start.shutdown_epoch, broker_epoch=epoch)
