"""Predicts the leaders of a partition, one after the other, until nothing changes any more, with the reasons.

The controller elects a first leader as brokers start. The others truncate to it, fetch from it, and come in sync. Then
a reassignment that is under way ends, and its removed replicas are deleted. At the latest after
leader.imbalance.check.interval.seconds (300 by default) the preferred replica gets the lead back.

A replica comes in sync by fetching, so its log then equals the log of its leader. Two differences remain: unnoticed
records of its own, and removed segments. They determine what consumers read once the replica leads. The other replicas
take over its log start.

Sources: ReplicationControlManager.maybeBalancePartitionLeaders, PartitionChangeBuilder.electPreferredLeader,
PartitionReassignmentReplicas.maybeCompleteReassignment 3.3 to 4.3.1 (KRaft);
KafkaController.checkAndTriggerAutoLeaderRebalance, onPartitionReassignment 1.1 to 3.9 (ZooKeeper). `balance` says which
preferred elections come with ZooKeeper.
"""

from collections.abc import Collection
from enum import StrEnum
from typing import NamedTuple

from kcheck.core.election.election import ElectionRules
from kcheck.core.replication.dialogue import Status
from kcheck.core.replication.truncation_plans import FollowerPlan, TruncationPlan
from kcheck.model.cluster import PartitionRegistration


class Later(StrEnum):
    """The reason why another replica gets the lead after the first one. Answers use the value."""

    PREFERRED = "preferred"
    """It is the first of the assignment, and in sync."""
    REASSIGNED = "reassigned"
    """The leader was removed by a reassignment."""


class LaterLeader(NamedTuple):
    """The leader when nothing changes any more, where it is not the first one."""

    broker_id: int
    """The broker."""
    why: Later
    """The reason why it leads."""


def later_leader(
    registration: PartitionRegistration, first: int, in_sync: Collection[int], rules: ElectionRules
) -> LaterLeader | None:
    """Return the final leader; None if it is the first leader.

    `in_sync` are the replicas that follow it, and itself.
    """
    replicas = assignment_after(registration, in_sync)
    able = [number for number in replicas if number in in_sync]
    if first not in replicas and able:
        return LaterLeader(able[0], Later.REASSIGNED)
    if rules.balances and replicas[:1] != (first,) and replicas[0] in able:
        return LaterLeader(replicas[0], Later.PREFERRED)
    return None


def assignment_after(registration: PartitionRegistration, in_sync: Collection[int]) -> tuple[int, ...]:
    """Return the replicas after a reassignment; the present replicas if it never ends.

    It ends once all added replicas are in sync. If it leaves fewer replicas, all remaining replicas must be in sync. In
    4.1 and earlier all remaining replicas must be in sync in any case, so missing replicas end it later.
    """
    adding, removing = registration.adding, registration.removing
    kept = tuple(number for number in registration.replicas if number not in removing)
    needed = {*kept} if len(adding) < len(removing) else {*adding}
    ends = needed <= {*in_sync} and any(number in in_sync for number in kept)
    return kept if ends else registration.replicas


def in_sync_under(plan: TruncationPlan) -> frozenset[int]:
    """Return the replicas that come in sync under a leader, and itself."""
    followers = (follower for follower in plan.followers if follower.broker_id is not None)
    members = {follower.broker_id for follower in followers if follower.problem is None and gets_records(follower)}
    return frozenset(number for number in (plan.leader, *members) if number is not None)


def gets_records(follower: FollowerPlan) -> bool:
    """Return whether a follower gets the leader's records, at the latest after a restart, as far as is known."""
    gets = {Status.OK, Status.UNFINISHED, Status.TRUNCATION_FAILS}
    return follower.dialogue is None or follower.dialogue.status in gets
