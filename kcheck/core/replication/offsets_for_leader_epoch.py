"""The answer of a broker to OffsetsForLeaderEpoch (API key 23), with the name of its error.

ReplicaManager.lastOffsetForLeaderEpoch, Partition.lastOffsetForLeaderEpoch and checkCurrentLeaderEpoch, 2.1 to 4.3.1.
Before 2.1 a broker does not fence requests by the current leader epoch.
"""

from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

from kcheck.core.replication.leader_epochs import end_offset_for
from kcheck.model.entries import UNDEFINED_EPOCH, UNDEFINED_EPOCH_OFFSET, Epoch, EpochEntries, Offset
from kcheck.model.release import Lookup, Release


class Hosted(StrEnum):
    """The state of the requested partition on a broker."""

    LEADER = "leader"
    """It leads the partition."""
    FOLLOWER = "follower"
    """It follows another leader."""
    OFFLINE = "offline"
    """Its replica is in a log dir that is offline."""
    ELSEWHERE = "elsewhere"
    """It has no replica, but its metadata cache knows the partition."""
    UNKNOWN = "unknown"
    """Its metadata cache does not know the partition."""


class Error(StrEnum):
    """The errors of the answer, by their names in Kafka's Errors."""

    NONE = "NONE"
    UNKNOWN_TOPIC_OR_PARTITION = "UNKNOWN_TOPIC_OR_PARTITION"
    NOT_LEADER_OR_FOLLOWER = "NOT_LEADER_OR_FOLLOWER"
    UNSUPPORTED_VERSION = "UNSUPPORTED_VERSION"
    KAFKA_STORAGE_ERROR = "KAFKA_STORAGE_ERROR"
    FENCED_LEADER_EPOCH = "FENCED_LEADER_EPOCH"
    UNKNOWN_LEADER_EPOCH = "UNKNOWN_LEADER_EPOCH"


class EpochAnswer(NamedTuple):
    """The reply for one partition."""

    error: Error
    """NONE if the broker answers."""
    epoch: Epoch | None
    """The largest known epoch not above the requested one; None if the release's newest reply carries no epoch."""
    end_offset: Offset
    """The end of that epoch; -1 if it is undefined."""


def refusal(*, hosted: Hosted, leader_epoch: Epoch, current_leader_epoch: Epoch, release: Release) -> Error:
    """Return why the broker refuses the request; NONE if it answers.

    `leader_epoch` is the one the broker knows, `current_leader_epoch` the one in the request (UNDEFINED_EPOCH: absent).
    The broker compares the epochs before it checks that it leads.
    """
    if hosted is Hosted.OFFLINE:
        return Error.KAFKA_STORAGE_ERROR
    if hosted is Hosted.UNKNOWN or (hosted is Hosted.ELSEWHERE and not release.fences_by_current_leader_epoch):
        return Error.UNKNOWN_TOPIC_OR_PARTITION
    if hosted is Hosted.ELSEWHERE:
        return Error.NOT_LEADER_OR_FOLLOWER
    if release.fences_by_current_leader_epoch and current_leader_epoch != UNDEFINED_EPOCH:
        if current_leader_epoch < leader_epoch:
            return Error.FENCED_LEADER_EPOCH
        if current_leader_epoch > leader_epoch:
            return Error.UNKNOWN_LEADER_EPOCH
    return Error.NONE if hosted is Hosted.LEADER else Error.NOT_LEADER_OR_FOLLOWER


def answer(
    cache: EpochEntries,
    requested: Epoch,
    *,
    log_end_offset: Offset,
    current_leader_epoch: Epoch,
    leader_epoch: Epoch,
    release: Release,
) -> EpochAnswer:
    """Return the answer of a leader in `leader_epoch` with this cache and log end offset.

    Brokers in 0.10.2 and earlier do not know the request: UNSUPPORTED_VERSION.
    """
    lookup: Lookup | None = release.lookup
    if lookup is None:
        return EpochAnswer(Error.UNSUPPORTED_VERSION, UNDEFINED_EPOCH, UNDEFINED_EPOCH_OFFSET)
    error = refusal(
        hosted=Hosted.LEADER, leader_epoch=leader_epoch, current_leader_epoch=current_leader_epoch, release=release
    )
    if error is not Error.NONE:
        return EpochAnswer(error, UNDEFINED_EPOCH, UNDEFINED_EPOCH_OFFSET)
    end = end_offset_for(cache, requested, log_end_offset=log_end_offset, lookup=lookup)
    return EpochAnswer(Error.NONE, end.epoch, end.end_offset)


def epochs_to_ask(cache: EpochEntries) -> tuple[Epoch, ...]:
    """Return the epochs worth a request (every known epoch, both ends of each gap, one below and one above all).

    For an empty cache these are -1 and 0.
    """
    known = sorted({entry.epoch for entry in cache})
    if not known:
        return (UNDEFINED_EPOCH, Epoch(0))
    epochs = {known[0] - 1, known[-1] + 1, *known}
    for low, high in pairwise(known):
        epochs |= {low + 1, high - 1} if high - low > 1 else set()
    return tuple(Epoch(epoch) for epoch in sorted(epochs))
