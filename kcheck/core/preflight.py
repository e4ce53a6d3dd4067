"""Whether a broker may start: what its next start loses, fails to load or no longer serves, reason by reason."""

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import NamedTuple

from kcheck.core.predictions import LogDirPrediction, PartitionPrediction
from kcheck.core.startup import Outcome
from kcheck.core.strays import registers_cleanly
from kcheck.core.verdicts import is_set_aside, lost_words
from kcheck.model.cluster import ClusterImage
from kcheck.model.names import CLEAN_SHUTDOWN


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
    only = f", {alone} of which then have no replica that may lead" if alone else ""
    first = ", ".join(named[:3]) + (f" and {len(named) - 3} more" if len(named) > 3 else "")
    why = f"its last shutdown was not clean, so it leaves the ELR of {first}{only}"
    return PreflightReason(ReasonKind.ELR, why)


def _is_of_epoch(start: LogDirPrediction, epoch: int | None) -> bool:
    marker = None if start.view is None else start.view.files.get(CLEAN_SHUTDOWN)
    named = None if marker is None else marker.parsed.value.broker_epoch
    return registers_cleanly(clean=start.clean, shutdown_epoch=named, broker_epoch=epoch)
