"""Replaying a cluster's metadata records; tests/oracle/clusters/test_cluster.py compares with Kafka's own images."""

from typing import Any

import pytest

from kcheck.core.cluster.metadata_replay import MetadataReplay
from kcheck.model.cluster import (
    FROM_SNAPSHOT,
    BrokerRegistration,
    ControllerRegistration,
    Levels,
    PartitionRegistration,
    UncleanElection,
)
from tests.core.cluster.cluster_records import (
    ABORT,
    BEGIN,
    END,
    GONE,
    TOPIC,
    MetadataRecord,
    change,
    partition,
    registration,
    replayed,
)


def partition_after(*records: MetadataRecord) -> PartitionRegistration:
    """Return partition 0 of TOPIC after these records, which follow its creation."""
    registered = replayed(TOPIC, partition(1, 2, 3), *records).registration("t", 0)[1]
    assert registered is not None
    return registered


def test_a_partition_as_it_was_created() -> None:
    """The epochs are taken as they stand."""
    record = partition(1, 2, leaderEpoch=4, partitionEpoch=9, eligibleLeaderReplicas=[3], lastKnownElr=[2],
                       leaderRecoveryState=1, directories=["A", "B"])  # fmt: skip
    expected = PartitionRegistration(
        (1, 2), (1, 2), 1, 4, 9, elr=(3,), last_known_elr=(2,), recovering=True, last_leader=1, last_leader_epoch=4,
        directories=("A", "B"), replicas_since=1, changed=1,
    )  # fmt: skip
    assert ("T", expected) == replayed(TOPIC, record).registration("t", 0)


@pytest.mark.parametrize(("leader", "epoch"), [({}, 0), ({"leader": 1}, 1), ({"leader": 2}, 1), ({"leader": -1}, 1)])
def test_a_leader_epoch_rises_with_each_leader_that_a_record_names(leader: dict[str, int], epoch: int) -> None:
    """Even with the same one, and with none; the partition epoch always rises (PartitionRegistration.merge)."""
    after = partition_after(change(**leader))
    assert (after.leader_epoch, after.partition_epoch) == (epoch, 1)
    assert after.leader == leader.get("leader", 1)


def test_a_change_replaces_what_it_names() -> None:
    after = partition_after(
        change(isr=[2], removingReplicas=[1], addingReplicas=[4], replicas=[1, 2, 3, 4], leaderRecoveryState=1,
               eligibleLeaderReplicas=[1], lastKnownElr=[3]),
        change(removingReplicas=[]),
    )  # fmt: skip
    assert (after.isr, after.removing, after.adding, after.replicas) == ((2,), (), (4,), (1, 2, 3, 4))
    assert (after.recovering, after.elr, after.last_known_elr) == (True, (1,), (3,))
    assert (after.replicas_since, after.changed) == (2, 3)
    assert not partition_after(change(leaderRecoveryState=1), change(leaderRecoveryState=0)).recovering


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ([change(leader=3, isr=[3], leaderRecoveryState=1)], UncleanElection(3, 1, 2, (1, 2))),
        ([change(leader=-1, isr=[]), change(leader=1, isr=[1], leaderRecoveryState=1)], None),
        ([change(leader=2)], None),
        (
            [change(leader=3, isr=[3], leaderRecoveryState=1), change(leader=2, isr=[2])],
            UncleanElection(2, 2, 3, (1, 3)),
        ),
        (
            [change(leader=3, isr=[3, 2], leaderRecoveryState=1), change(leader=2)],
            UncleanElection(3, 1, 2, (1,)),
        ),
    ],
    ids=["unclean", "the last leader again", "clean", "unclean twice", "then clean"],
)
def test_unclean_elections(records: list[MetadataRecord], expected: UncleanElection | None) -> None:
    """The controller marks the leader as recovering; the broker that led last lacks nothing."""
    image = replayed(TOPIC, partition(1, 2, 3), *records).image()
    assert image.unclean == ({} if expected is None else {("T", 0): expected})


def test_the_last_leader_is_remembered() -> None:
    """A clean stop of the last broker leaves no leader and raises the epoch once more."""
    after = partition_after(change(leader=2), change(leader=-1, isr=[2]))
    assert (after.leader, after.leader_epoch, after.last_leader, after.last_leader_epoch) == (-1, 2, 2, 1)


@pytest.mark.parametrize(
    ("fields", "last"),
    [
        ({"isr": [2]}, 2), ({"isr": [], "lastKnownElr": [3], "eligibleLeaderReplicas": [1, 3]}, 3),
        ({"isr": [], "eligibleLeaderReplicas": [1]}, 1), ({"isr": [1, 2]}, None), ({"isr": []}, None),
    ],
)  # fmt: skip
def test_of_a_snapshot_the_last_leader_is_known_if_only_one_can_have_been_it(
    fields: dict[str, Any], last: int | None
) -> None:
    replay = replayed(TOPIC, partition(1, 2, 3, leader=-1, **fields))
    registered = replay.registration("t", 0)[1]
    assert registered is not None
    assert (registered.last_leader, registered.last_leader_epoch) == (last, None)


def test_the_elr_of_a_topic_is_cleared() -> None:
    """ClearElrRecord, of one topic or of all; a partition without any keeps its epoch."""
    elr = partition(1, 2, number=1, isr=[], eligibleLeaderReplicas=[2], leader=-1)
    for name in ("t", ""):
        replay = replayed(TOPIC, partition(1, 2), elr, ("ClearElrRecord", {"topicName": name}))
        image = replay.image().topics["t"].partitions
        assert [(row.elr, row.partition_epoch, row.changed) for row in image.values()] == [((), 0, 1), ((), 1, 3)]
    assert replayed(("ClearElrRecord", {"topicName": "u"})).problems[0].why.startswith("the ELR of topic u is cleared")


def test_a_removed_topic_may_come_back_with_another_id() -> None:
    setting = ("ConfigRecord", {"resourceType": 2, "resourceName": "t", "name": "cleanup.policy", "value": "compact"})
    image = replayed(TOPIC, partition(1), setting, GONE, ("TopicRecord", {"name": "t", "topicId": "U"})).image()
    assert (image.topics["t"].topic_id, image.topics["t"].partitions, image.configs) == ("U", {}, {})
    assert (image.removed, [*image.topics_by_id]) == ({"T": 3}, ["U"])
    assert image.deleted == {"t": 3}


def test_brokers() -> None:
    """Registered, fenced, unfenced, changed, unregistered."""
    image = replayed(
        registration(1, 5, logDirs=["A"], cordonedLogDirs=["A"], rack="r", inControlledShutdown=True),
        registration(2, 6, isMigratingZkBroker=True),
        ("UnfenceBrokerRecord", {"id": 2, "epoch": 6}),
        registration(3, 7),
        ("UnfenceBrokerRecord", {"id": 3, "epoch": 7}),
        ("FenceBrokerRecord", {"id": 3, "epoch": 7}),
        registration(4, 8),
        ("UnregisterBrokerRecord", {"brokerId": 4, "brokerEpoch": 8}),
    ).image()
    levels = {"metadata.version": Levels(7, 30)}
    assert image.brokers[1] == BrokerRegistration(
        1, 5, fenced=True, in_controlled_shutdown=True, incarnation_id="I", log_dirs=("A",), cordoned_log_dirs=("A",),
        endpoints=("PLAINTEXT://h:9092",), rack="r", features=levels,
    )  # fmt: skip
    assert [(broker.broker_id, broker.fenced) for broker in image.brokers.values()] == [
        (1, True), (2, False), (3, True),
    ]  # fmt: skip
    assert [image.runs_kraft(broker) for broker in (1, 2, 4, None)] == [True, False, False, False]


def test_what_a_registration_changes() -> None:
    """BrokerRegistrationChangeRecord; what it leaves out stays."""

    def after(**fields: Any) -> BrokerRegistration:
        changed = ("BrokerRegistrationChangeRecord", {"brokerId": 1, "brokerEpoch": 5, **fields})
        return replayed(registration(logDirs=["A"], cordonedLogDirs=["A"]), changed).image().brokers[1]

    same = after()
    assert (same.fenced, same.in_controlled_shutdown, same.log_dirs, same.cordoned_log_dirs) == (
        True, False, ("A",), ("A",),
    )  # fmt: skip
    assert [after(fenced=-1).fenced, after(fenced=1).fenced] == [False, True]
    assert after(inControlledShutdown=1).in_controlled_shutdown
    assert [after(logDirs=["B"]).log_dirs, after(logDirs=[]).log_dirs] == [("B",), ("A",)]
    assert after(cordonedLogDirs=[]).cordoned_log_dirs == ()


def test_controllers_features_and_what_else_is_kept() -> None:
    image = replayed(
        ("RegisterControllerRecord", {"controllerId": 9, "incarnationId": "J", "endPoints": [], "features": []}),
        ("FeatureLevelRecord", {"name": "metadata.version", "featureLevel": 20}),
        ("FeatureLevelRecord", {"name": "group.version", "featureLevel": 1}),
        ("FeatureLevelRecord", {"name": "group.version", "featureLevel": 0}),
        ("ProducerIdsRecord", {"brokerId": 1, "nextProducerId": 2000}),
        ("ZkMigrationStateRecord", {"zkMigrationState": 2}),
        ("NoOpRecord", {}),
    ).image()
    assert image.controllers == {9: ControllerRegistration(9, "J", (), {})}
    assert (image.features, image.next_producer_id) == ({"metadata.version": 20}, 2000)
    assert image.migration == "pre-migration"
    assert replayed(("ZkMigrationStateRecord", {"zkMigrationState": 9})).image().migration == "9"


def test_only_configurations_that_change_a_decision_are_kept() -> None:
    """A password is none of them. A null value removes one."""

    def setting(name: str, value: str | None, kind: int = 4, owner: str = "") -> MetadataRecord:
        return "ConfigRecord", {"resourceType": kind, "resourceName": owner, "name": name, "value": value}

    image = replayed(
        setting("min.insync.replicas", "2"), setting("ssl.key.password", "hunter2"),
        setting("min.insync.replicas", "1", 2, "t"), setting("cleanup.policy", "x", 2, "u"),
        setting("cleanup.policy", None, 2, "u"), setting("cleanup.policy", "x", 16, "client"),
    ).image()  # fmt: skip
    assert image.configs == {("broker", ""): {"min.insync.replicas": "2"}, ("topic", "t"): {"min.insync.replicas": "1"}}
    assert [image.config(topic, "min.insync.replicas") for topic in ("t", "u")] == ["1", "2"]
    assert image.config("t", "cleanup.policy") is None


def test_secrets_have_a_name_and_no_value() -> None:
    def user(name: str, mechanism: int) -> MetadataRecord:
        return "UserScramCredentialRecord", {"name": name, "mechanism": mechanism, "salt": "hunter2"}

    def token(name: str) -> MetadataRecord:
        return "DelegationTokenRecord", {"tokenId": name, "owner": "hunter2"}

    removed = ("RemoveUserScramCredentialRecord", {"name": "al", "mechanism": 2})
    cancelled = ("RemoveDelegationTokenRecord", {"tokenId": "b"})
    image = replayed(
        user("bo", 2), user("al", 1), user("al", 2), removed, token("b"), token("a"), cancelled
    ).image()  # fmt: skip
    assert image.scram_users == ("al (SCRAM-SHA-256)", "bo (SCRAM-SHA-512)")
    assert image.delegation_tokens == ("a",)
    assert "hunter2" not in str(image)


@pytest.mark.parametrize(
    ("records", "why"),
    [
        ((GONE,), "topic T is removed, and does not exist"),
        ((TOPIC, ("TopicRecord", {"name": "t", "topicId": "U"})), "topic t is created again, and was not removed"),
        ((partition(1),), "partition 0 is of topic T, which does not exist"),
        ((change(),), "partition 0 of topic T is changed, and does not exist"),
        ((TOPIC, change()), "partition 0 of topic T is changed, and does not exist"),
        ((TOPIC, partition(1, 2, directories=["A"])), "partition 0 has 2 replicas, but 1 directories"),
        ((registration(1, 5), ("FenceBrokerRecord", {"id": 1, "epoch": 6})), "with epoch 6, but has epoch 5"),
        ((("UnfenceBrokerRecord", {"id": 1, "epoch": 6}),), "with epoch 6, but is not registered"),
        ((("UnregisterBrokerRecord", {"brokerId": 1, "brokerEpoch": 6}),), "is not registered"),
        ((("BrokerRegistrationChangeRecord", {"brokerId": 1, "brokerEpoch": 6}),), "is not registered"),
        ((BEGIN, BEGIN), "a transaction begins inside of another one"),
        ((END,), "a transaction ends that has not begun"),
        ((ABORT,), "a transaction ends that has not begun"),
    ],
)
def test_a_record_that_contradicts_those_before_it(records: tuple[MetadataRecord, ...], why: str) -> None:
    """The replay goes on, and tells the offset."""
    (problem,) = replayed(*records, start=7).problems
    assert problem.why.endswith(why)
    assert problem.offset == 7 + len(records) - 1


def test_of_many_problems_a_hundred_are_kept() -> None:
    assert len(replayed(*([GONE] * 200)).problems) == 100


def test_each_record_that_counts_is_observed() -> None:
    """Those of a transaction when it ends, those of an aborted one never."""
    seen: list[tuple[str, int, int]] = []
    replay = MetadataReplay(lambda name, _, offset, timestamp: seen.append((name, offset, timestamp)))
    for offset, record in enumerate((TOPIC, BEGIN, partition(1), ABORT, BEGIN, GONE)):
        replay.take(*record, offset, 100 + offset)
    assert seen == [("TopicRecord", 0, 100)]
    replay.take(*END, 6, 106)
    assert seen[1:] == [("RemoveTopicRecord", 5, 105)]


def test_partitions_are_listed_in_order() -> None:
    other = ("TopicRecord", {"name": "a", "topicId": "A"})
    replay = replayed(
        TOPIC, partition(1, number=1), partition(1), other, ("PartitionRecord", {**partition(1)[1], "topicId": "A"})
    )
    assert [(topic.name, number) for topic, number, _ in replay.image().partitions()] == [("a", 0), ("t", 0), ("t", 1)]
    assert replay.registration("gone", 0) == (None, None)


def test_a_snapshot_has_no_offsets() -> None:
    replay = MetadataReplay()
    replay.take(*TOPIC, FROM_SNAPSHOT)
    replay.take(*partition(1), FROM_SNAPSHOT)
    registered = replay.registration("t", 0)[1]
    assert registered is not None
    assert registered.replicas_since == registered.changed == FROM_SNAPSHOT
