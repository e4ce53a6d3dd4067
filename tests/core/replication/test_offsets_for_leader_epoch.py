"""The broker's answer to OffsetsForLeaderEpoch, with its error codes."""

from typing import Any

import pytest

from kcheck.core.releases.releases import release
from kcheck.core.replication.offsets_for_leader_epoch import Error, Hosted, answer, epochs_to_ask, refusal
from tests.core.replication.vectors import VECTORS, cache, name

NEWEST = release("4.3")
CODES = {
    Error.NONE: 0,
    Error.UNKNOWN_TOPIC_OR_PARTITION: 3,
    Error.NOT_LEADER_OR_FOLLOWER: 6,
    Error.UNSUPPORTED_VERSION: 35,
    Error.KAFKA_STORAGE_ERROR: 56,
    Error.FENCED_LEADER_EPOCH: 74,
    Error.UNKNOWN_LEADER_EPOCH: 75,
}
"""The numbers of Kafka's Errors, by which the vectors name them."""
CACHE = cache([[2, 10], [4, 20], [9, 35]])


def _hosted(vector: dict[str, Any]) -> Hosted:
    match vector.get("hosted"):
        case "offline":
            return Hosted.OFFLINE
        case "none":
            return Hosted.ELSEWHERE if vector["known_in_metadata"] else Hosted.UNKNOWN
    return Hosted.LEADER if vector["is_leader"] else Hosted.FOLLOWER


@pytest.mark.parametrize("vector", VECTORS["fencing"], ids=name)
def test_refusal(vector: dict[str, Any]) -> None:
    """ReplicaManager.lastOffsetForLeaderEpoch and Partition.checkCurrentLeaderEpoch."""
    error = refusal(
        hosted=_hosted(vector),
        leader_epoch=vector.get("local_epoch", 5),
        current_leader_epoch=vector["current_leader_epoch"],
        release=NEWEST,
    )
    assert vector["expect"] == CODES[error]


def test_no_fencing_before_2_1() -> None:
    """2.0 does not check the current leader epoch, and calls every partition unknown that it does not host."""
    old = release("2.0")
    assert refusal(hosted=Hosted.LEADER, leader_epoch=5, current_leader_epoch=9, release=old) is Error.NONE
    elsewhere = refusal(hosted=Hosted.ELSEWHERE, leader_epoch=5, current_leader_epoch=9, release=old)
    assert elsewhere is Error.UNKNOWN_TOPIC_OR_PARTITION


def test_answer_of_a_leader() -> None:
    """The end of the epoch, or an error without one."""
    reply = answer(CACHE, 4, log_end_offset=50, current_leader_epoch=9, leader_epoch=9, release=NEWEST)
    assert (reply.error, reply.epoch, reply.end_offset) == (Error.NONE, 4, 35)
    reply = answer(CACHE, 4, log_end_offset=50, current_leader_epoch=8, leader_epoch=9, release=NEWEST)
    assert (reply.error, reply.epoch, reply.end_offset) == (Error.FENCED_LEADER_EPOCH, -1, -1)
    reply = answer(CACHE, 4, log_end_offset=50, current_leader_epoch=-1, leader_epoch=9, release=release("1.1"))
    assert (reply.error, reply.epoch, reply.end_offset) == (Error.NONE, None, 35)
    reply = answer((), 4, log_end_offset=50, current_leader_epoch=-1, leader_epoch=9, release=release("0.10.2"))
    assert reply.error is Error.UNSUPPORTED_VERSION


def test_epochs_to_ask() -> None:
    """Every known epoch, the one below, both ends of each gap, and the one above."""
    assert epochs_to_ask(CACHE) == (1, 2, 3, 4, 5, 8, 9, 10)
    assert epochs_to_ask(()) == (-1, 0)
