"""Reasons against the start of a broker, in words."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from kcheck.core.start.predictions import LogDirPrediction, PartitionPrediction
from kcheck.core.start.preflight import ReasonKind, elr_exit, reasons_against
from kcheck.model.cluster import ClusterImage
from kcheck.model.premises import JudgedPremise, PremiseStatus
from kcheck.words import lost_words, offset_span, partition_name, some_of


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
    premise: str | None = None
    """The id of the premise that it is about; None for what the simulated start shows."""


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
        return f"{lost_words(partition.lost, offset_span)} lost{f': {partition.reason}' if partition.reason else ''}"
    doubt = f" ({partition.uncertain})" if partition.uncertain else ""
    return f"{partition.reason or partition.outcome}{doubt}"


def premise_reasons(
    premises: Iterable[JudgedPremise], *, ends_start: frozenset[str], takes_offline: frozenset[str]
) -> Iterator[PreflightReason]:
    """Yield the refuted premises, and those that something else would show.

    `ends_start` are the ids without which no broker starts, `takes_offline` those without which a log dir goes offline:
    the start of that log dir says so.
    """
    for premise in premises:
        if premise.status is PremiseStatus.NOT_SEEN and premise.provide is not None:
            why = f"{premise.sentence}; name {premise.provide}"
            yield PreflightReason(ReasonKind.UNKNOWN, why, premise.log_dir, premise=premise.id)
        elif premise.status is PremiseStatus.REFUTED:
            offline = premise.id in takes_offline
            if offline and premise.log_dir is not None:
                continue
            kind = ReasonKind.OFFLINE if offline else ReasonKind.LOSS
            kind = ReasonKind.ABORT if premise.id in ends_start else kind
            yield PreflightReason(kind, premise.sentence, premise.log_dir, premise=premise.id)


def cluster_reasons(
    image: ClusterImage, broker_id: int | None, starts: Sequence[LogDirPrediction], *, has_elr: bool
) -> Iterator[PreflightReason]:
    """Yield the reasons that the metadata of the cluster give."""
    left = elr_exit(image, broker_id, starts) if has_elr else None
    if left is not None:
        only = f", {left.alone} of which then have no replica in sync" if left.alone else ""
        cause = "its last shutdown was not clean"
        if left.epochs is not None:
            ours, theirs = left.epochs
            cause = f"its last clean shutdown was in broker epoch {ours}, the cluster knows {theirs}"
        why = f"{cause}, so it leaves the ELR of {_names(left.partitions)}{only}"
        yield PreflightReason(ReasonKind.ELR, why)


def _names(partitions: Iterable[tuple[str, int]]) -> str:
    return some_of([partition_name(*partition) for partition in partitions])
