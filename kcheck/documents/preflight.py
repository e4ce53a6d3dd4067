"""Reasons not to start a broker, in words."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from kcheck.core.election.election import BrokerStart
from kcheck.core.election.leaving import left_without_leader
from kcheck.core.premises.table import ENDS_START, TAKES_OFFLINE
from kcheck.core.start.predictions import LogDirPrediction, PartitionPrediction
from kcheck.core.start.preflight import ReasonKind, reasons_against
from kcheck.core.start.strays import registers_cleanly
from kcheck.model.cluster import ClusterImage
from kcheck.model.premises import JudgedPremise, PremiseStatus
from kcheck.model.release import Release
from kcheck.words import listed, lost_words, some_names


class PreflightReason(NamedTuple):
    """A reason why the broker should not start."""

    kind: ReasonKind
    """Its kind."""
    why: str
    """The reason in words."""
    log_dir: str | None = None
    """The log dir; None for the complete broker."""
    partition: PartitionPrediction | None = None
    """The partition; None for a complete log dir."""
    premise: str | None = None
    """The id of the premise; None for a result of the simulated start."""


def start_reasons(start: LogDirPrediction) -> Iterator[PreflightReason]:
    """Yield what speaks against the predicted start of one log dir."""
    for kind, partition in reasons_against(start):
        if partition is None:
            why = start.reasons[0] if start.reasons else start.uncertain or "kcheck cannot read all of it"
        else:
            why = _why(kind, partition)
        yield PreflightReason(kind, why, start.path, partition)


def _why(kind: ReasonKind, partition: PartitionPrediction) -> str:
    if kind is ReasonKind.UNKNOWN:
        return partition.uncertain or partition.reason or "its log was not read"
    if kind is ReasonKind.LOSS and partition.lost is not None:
        return f"{lost_words(partition.lost)} lost{f': {partition.reason}' if partition.reason else ''}"
    doubt = f" ({partition.uncertain})" if partition.uncertain else ""
    return f"{partition.reason or partition.outcome}{doubt}"


def premise_reasons(premises: Iterable[JudgedPremise]) -> Iterator[PreflightReason]:
    """Yield the refuted premises, and premises that further evidence would show.

    If a log dir goes offline, the prediction of that log dir says so.
    """
    for premise in premises:
        if premise.status is PremiseStatus.NOT_SEEN and premise.provide is not None:
            why = f"{premise.sentence}; {premise.wanted}"
            yield PreflightReason(ReasonKind.UNKNOWN, why, premise.log_dir, premise=premise.id)
        elif premise.status is PremiseStatus.REFUTED:
            offline = premise.id in TAKES_OFFLINE
            if offline and premise.log_dir is not None:
                continue
            kind = ReasonKind.OFFLINE if offline else ReasonKind.LOSS
            kind = ReasonKind.ABORT if premise.id in ENDS_START else kind
            yield PreflightReason(kind, premise.sentence, premise.log_dir, premise=premise.id)


def cluster_reasons(
    image: ClusterImage, broker_id: int | None, starts: Sequence[LogDirPrediction], release: Release
) -> Iterator[PreflightReason]:
    """Yield the reasons that the metadata of the cluster give; the markers of all log dirs decide about the ELR."""
    broker = None if broker_id is None else image.brokers.get(broker_id)
    if broker_id is None or broker is None:
        return
    clean = all(
        registers_cleanly(clean=start.clean, shutdown_epoch=start.shutdown_epoch, broker_epoch=broker.epoch)
        for start in starts
    )
    left = left_without_leader(image, BrokerStart(broker_id, clean), release)
    if left:
        other = next((one.shutdown_epoch for one in starts if one.shutdown_epoch not in (None, broker.epoch)), None)
        cause = "its last shutdown was not clean"
        if other is not None and all(start.clean for start in starts):
            cause = f"its last clean shutdown was in broker epoch {other}, the cluster knows {broker.epoch}"
        brokers = sorted({number for row in left for number in row.last_known})
        waits = f"broker {listed(brokers)} is back, or " if brokers else ""
        why = (
            f"{cause}, so it leaves the ELR of {some_names(row.partition for row in left)}: no replica leads there"
            f" until {waits}an unclean election is run"
        )
        yield PreflightReason(ReasonKind.ELR, why)
