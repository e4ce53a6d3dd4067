"""The server's answer to OffsetsForLeaderEpoch (API key 23), error codes included.

ReplicaManager.lastOffsetForLeaderEpoch, Partition.lastOffsetForLeaderEpoch and checkCurrentLeaderEpoch, 2.1 to 4.3.1;
before 2.1 there is no fencing.
"""

from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from kcheck.core.leader_epochs import end_offset_for
from kcheck.model.entries import UNDEFINED_EPOCH, UNDEFINED_EPOCH_OFFSET, Epoch, EpochEntries, Offset
from kcheck.model.release import Lookup, Release


class Hosted(StrEnum):
    """What a broker knows of the partition it is asked for."""

    LEADER = "leader"
    FOLLOWER = "follower"
    OFFLINE = "offline"
    """In a log dir that is offline."""
    ELSEWHERE = "elsewhere"
    """Not here, but known to the metadata cache."""
    UNKNOWN = "unknown"


class Error(StrEnum):
    """The error codes that the answer can carry, by their names in Kafka's Errors."""

    NONE = "NONE"
    UNKNOWN_TOPIC_OR_PARTITION = "UNKNOWN_TOPIC_OR_PARTITION"
    NOT_LEADER_OR_FOLLOWER = "NOT_LEADER_OR_FOLLOWER"
    UNSUPPORTED_VERSION = "UNSUPPORTED_VERSION"
    KAFKA_STORAGE_ERROR = "KAFKA_STORAGE_ERROR"
    FENCED_LEADER_EPOCH = "FENCED_LEADER_EPOCH"
    UNKNOWN_LEADER_EPOCH = "UNKNOWN_LEADER_EPOCH"

    @property
    def code(self) -> int:
        """The code on the wire."""
        return _CODES[self]


_CODES = {
    Error.NONE: 0,
    Error.UNKNOWN_TOPIC_OR_PARTITION: 3,
    Error.NOT_LEADER_OR_FOLLOWER: 6,
    Error.UNSUPPORTED_VERSION: 35,
    Error.KAFKA_STORAGE_ERROR: 56,
    Error.FENCED_LEADER_EPOCH: 74,
    Error.UNKNOWN_LEADER_EPOCH: 75,
}


@dataclass(frozen=True, slots=True)
class Answer:
    """The reply for one partition; `epoch` is None where the newest version of the release carries none."""

    error: Error
    epoch: Epoch | None
    end_offset: Offset


def refusal(*, hosted: Hosted, leader_epoch: Epoch, current_leader_epoch: Epoch, release: Release) -> Error:
    """Return why the request is refused, NONE if it is not.

    `leader_epoch` is the one the broker knows, `current_leader_epoch` the one in the request (UNDEFINED_EPOCH: absent).
    An epoch that does not fit is told before the leadership.
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
) -> Answer:
    """Return what a leader of `leader_epoch` with this cache and log end answers.

    Up to 0.10.2 no broker knows the request: UNSUPPORTED_VERSION.
    """
    lookup: Lookup | None = release.lookup
    if lookup is None:
        return Answer(Error.UNSUPPORTED_VERSION, UNDEFINED_EPOCH, UNDEFINED_EPOCH_OFFSET)
    error = refusal(
        hosted=Hosted.LEADER, leader_epoch=leader_epoch, current_leader_epoch=current_leader_epoch, release=release
    )
    if error is not Error.NONE:
        return Answer(error, UNDEFINED_EPOCH, UNDEFINED_EPOCH_OFFSET)
    end = end_offset_for(cache, requested, log_end_offset=log_end_offset, lookup=lookup)
    return Answer(Error.NONE, end.epoch, end.end_offset)


def epochs_to_ask(cache: EpochEntries) -> tuple[Epoch, ...]:
    """Return every known epoch, the ends of every gap between them, the one below and the one above; -1 for none."""
    known = sorted({entry.epoch for entry in cache})
    if not known:
        return (UNDEFINED_EPOCH, Epoch(0))
    asked = {known[0] - 1, known[-1] + 1, *known}
    for low, high in pairwise(known):
        asked |= {low + 1, high - 1} if high - low > 1 else set()
    return tuple(Epoch(epoch) for epoch in sorted(asked))
