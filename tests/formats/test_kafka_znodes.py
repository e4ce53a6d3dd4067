"""What Kafka's znodes say: of real clusters, and of data that makes no sense."""

import json
from collections.abc import Mapping

import pytest

from kcheck.core.znode_tree import replay
from kcheck.formats._kafka_znodes import read_cluster
from kcheck.formats._zookeeper_log import transactions
from kcheck.formats._zookeeper_snapshot import zxid_of
from kcheck.model.znodes import Znode
from kcheck.model.zookeeper_cluster import (
    LeaderIsrAndControllerEpoch,
    ZookeeperBroker,
    ZookeeperCluster,
    ZookeeperMigration,
    ZookeeperPartition,
    ZookeeperTopic,
)
from tests.zookeeper import WRITTEN

MISSING = "missing or makes no sense"
MIGRATION = ("kraft_controller_id", "kraft_controller_epoch", "kraft_metadata_offset", "kraft_metadata_epoch")
STATE = {"controller_epoch": 4, "leader": 1, "version": 1, "leader_epoch": 5, "isr": [1, 2]}
OBJECTS: Mapping[str, object] = {
    "/cluster/id": {"version": "1", "id": "c"},
    "/brokers/topics/t": {"version": 3, "topic_id": "i", "partitions": {"0": [1, 2], "1": [2]},
                          "adding_replicas": {"0": [2]}, "removing_replicas": {"0": [1]}},
    "/brokers/topics/t/partitions/0/state": STATE,
    "/brokers/topics/gone": {"version": 1, "partitions": {}},
    "/brokers/ids/1": {"version": 5, "endpoints": ["PLAINTEXT://a:1"], "rack": "r", "features": {}},
    "/brokers/ids/2": {"version": 1, "host": "b", "port": 2},
    "/controller": {"version": 1, "brokerid": 2},
    "/controller_epoch": 4,
    "/isr_change_notification/isr_change_0000000000": {"version": 1, "partitions": [{"topic": "t", "partition": 0}]},
    "/admin/delete_topics/gone": {},
    "/admin/reassign_partitions": {"partitions": [{"topic": "t", "partition": 1, "replicas": [1]}]},
    "/admin/preferred_replica_election": {"partitions": [{"topic": "t", "partition": 0}]},
    "/config/topics/t": {"version": 1, "config": {"min.insync.replicas": "2", "flush.ms": "1"}},
    "/config/topics/gone": {"version": 1, "config": {}},
    "/config/brokers/1": {"version": 1, "config": {"ssl.key.password": "secret"}},
    "/config/users/a%40b": {"version": 1, "config": {"SCRAM-SHA-512": "stored_key=secret"}},
    "/config/users/quota": {"version": 1, "config": {"producer_byte_rate": "1"}},
    "/delegation_token/tokens/secret": {},
    "/feature": {"version": 1, "status": 1, "features": {"f": {"min_version_level": 1, "max_version_level": 2}}},
    "/migration": {"version": 0, "kraft_controller_id": 9, "kraft_controller_epoch": 1,
                   "kraft_metadata_offset": 1 << 40, "kraft_metadata_epoch": 3},
}  # fmt: skip


def _cluster(objects: Mapping[str, object], chroot: str = "") -> ZookeeperCluster:
    return read_cluster(
        {chroot + path: Znode(json.dumps(value).encode(), version=7) for path, value in objects.items()}, chroot
    )


@pytest.mark.parametrize("chroot", ["", "/kafka/a"])
def test_cluster(chroot: str) -> None:
    assert _cluster(OBJECTS, chroot) == ZookeeperCluster(
        cluster_id="c",
        topics={
            "t": ZookeeperTopic(
                "i",
                {
                    0: ZookeeperPartition((1, 2), (2,), (1,), LeaderIsrAndControllerEpoch(1, 5, (1, 2), 4, 7)),
                    1: ZookeeperPartition((2,)),
                },
            ),
            "gone": ZookeeperTopic(None, {}, deleting=True),
        },
        brokers={1: ZookeeperBroker(("PLAINTEXT://a:1",), "r"), 2: ZookeeperBroker(("PLAINTEXT://b:2",), None)},
        controller=2,
        controller_epoch=4,
        configs={("topics", "t"): {"min.insync.replicas": "2"}},
        isr_changes=(("t", 0),),
        reassigning=(("t", 1),),
        electing=(("t", 0),),
        features={"f": 2},
        migration=ZookeeperMigration(9, 1, 1 << 40, 3),
        scram_users=("a@b",),
        delegation_tokens=1,
        problems=(),
    )
    assert "secret" not in repr(_cluster(OBJECTS, chroot))


def test_an_unclean_leader_that_has_not_recovered() -> None:
    path = "/brokers/topics/t/partitions/0/state"
    for level in (0, 1):
        state = STATE | {"leader": -2, "leader_recovery_state": level}
        cluster = read_cluster(
            {
                "/brokers/topics/t": Znode(b'{"partitions":{"0":[1]}}'),
                path: Znode(json.dumps(state).encode(), version=None),
            }
        )
        wanted = LeaderIsrAndControllerEpoch(-1, 5, (1, 2), 4, None, recovering=level == 1)
        assert cluster.topics["t"].partitions[0].state == wanted


@pytest.mark.parametrize(
    ("path", "value", "why"),
    [
        ("/cluster/id", "text", "its data is no JSON object"),
        ("/cluster/id", {"id": 1}, "its id is"),
        ("/brokers/topics/t", {}, "its partitions is"),
        ("/brokers/topics/t", {"partitions": {"x": []}}, "its partitions is"),
        ("/brokers/topics/t", {"partitions": {"1" * 20: []}}, "its partitions is"),
        ("/brokers/topics/t", {"partitions": {"1": 1}}, "its partitions is"),
        ("/brokers/topics/t", {"partitions": {"1": [True]}}, "its partitions is"),
        ("/brokers/topics/t/partitions/0/state", STATE | {"leader": 1 << 31}, "its leader is"),
        ("/brokers/ids/1", {"endpoints": [1]}, "its endpoints is"),
        ("/brokers/ids/1", {"endpoints": 1}, "its endpoints is"),
        ("/controller_epoch", "x", "its data is no epoch"),
        ("/controller_epoch", 1 << 31, "its data is no epoch"),
        ("/controller_epoch", 1 << 40, "its data is no epoch"),
        ("/admin/reassign_partitions", {"partitions": 1}, "its partitions is"),
        ("/admin/reassign_partitions", {"partitions": [1]}, "its partitions is"),
        ("/isr_change_notification/isr_change_0000000000", 1, "its data is no JSON object"),
        ("/config/topics/t", {"config": 1}, "its config is"),
        ("/config/users/quota", {"config": 1}, "its config is"),
        ("/feature", {"features": {"f": 1}}, "its features is"),
        ("/feature", {"features": {"secret": {}}}, "its max_version_level is"),
        ("/brokers/ids/x", {"host": "b", "port": 2}, "its name is no broker id"),
        ("/brokers/ids/01", {"host": "b", "port": 2}, "its name is no broker id"),
        ("/brokers/ids/2147483648", {"host": "b", "port": 2}, "its name is no broker id"),
        ("/brokers/ids/" + "9" * 5000, {"host": "b", "port": 2}, "its name is no broker id"),
        ("/brokers/topics/t", {"partitions": {"2147483648": []}}, "its partitions is"),
        ("/brokers/topics/t", {"partitions": {"9" * 5000: []}}, "its partitions is"),
        ("/brokers/topics/t", {"partitions": {"1": [1 << 31]}}, "its partitions is"),
        ("/brokers/topics/t", {"partitions": {"1": [-1]}}, "its partitions is"),
        ("/brokers/topics/t/partitions/0/state", STATE | {"leader": -(1 << 31) - 1}, "its leader is"),
        ("/brokers/topics/t/partitions/0/state", STATE | {"leader_epoch": 1 << 31}, "its leader_epoch is"),
        ("/brokers/topics/t/partitions/0/state", STATE | {"leader_epoch": -1}, "its leader_epoch is"),
        ("/brokers/topics/t/partitions/0/state", STATE | {"controller_epoch": 1 << 31}, "its controller_epoch is"),
        ("/brokers/topics/t/partitions/0/state", STATE | {"isr": [1 << 31]}, "its isr is"),
        ("/brokers/topics/t/partitions/0/state", STATE | {"leader": 1e9}, "its leader is"),
        (
            "/admin/preferred_replica_election",
            {"partitions": [{"topic": "t", "partition": 1 << 31}]},
            "its partition is",
        ),
        ("/config/topics/t", {"config": {"min.insync.replicas": {"secret": 1}}}, "its min.insync.replicas is"),
        ("/migration", dict.fromkeys(MIGRATION, 1 << 63), "its kraft_controller_id is"),
    ],
)
def test_what_makes_no_sense_is_a_problem(path: str, value: object, why: str) -> None:
    assert _cluster({**OBJECTS, path: value}).problems == ((path, f"{why} {MISSING}" if why.endswith(" is") else why),)


def test_no_problem_quotes_data() -> None:
    values = ("secret", ["secret"], {"config": "secret"}, {"config": {"cleanup.policy": ["secret"]}, "id": ["secret"]})
    problems = [_cluster({**OBJECTS, path: value}).problems for path in OBJECTS for value in values]
    assert any(problems)
    assert "secret" not in repr([why for several in problems for _, why in several])


def test_a_lone_surrogate_becomes_a_question_mark() -> None:
    objects = {"/cluster/id": {"id": "\ud800"}, "/brokers/ids/1": {"endpoints": ["\udfff"], "rack": "\ud800"},
               "/feature": {"features": {"\ud800": {"max_version_level": 1}}}}  # fmt: skip
    cluster = _cluster(objects)
    assert (cluster.cluster_id, cluster.brokers[1], cluster.features) == ("?", ZookeeperBroker(("?",), "?"), {"?": 1})


def test_a_znode_without_data_is_a_problem() -> None:
    for data in (None, b"", b"\xff"):
        assert read_cluster({"/controller": Znode(data)}).problems == (("/controller", "its data is no JSON object"),)


@pytest.mark.parametrize("version", ["1.1.1", "3.9.2"])
def test_real_clusters(version: str) -> None:
    """Broker 1 was killed, broker 2 leads all."""
    logs = {zxid_of(path.name, "log") or 0: path for path in (WRITTEN / version / "version-2").glob("log.*")}
    znodes = replay(None, {zxid: transactions(path.read_bytes()) for zxid, path in logs.items()}).znodes
    cluster = read_cluster(znodes)
    assert cluster.problems == ()
    assert (cluster.controller, cluster.controller_epoch, set(cluster.brokers)) == (2, 2, {2})
    assert {name: set(topic.partitions) for name, topic in cluster.topics.items()} == {"plain": {0, 1}, "strict": {0}}
    states = [partition.state for topic in cluster.topics.values() for partition in topic.partitions.values()]
    assert {state and state.leader for state in states} == {2}
    assert cluster.configs == {("topics", "plain"): {"unclean.leader.election.enable": "true"}}
    assert cluster.scram_users == ("alice",)
