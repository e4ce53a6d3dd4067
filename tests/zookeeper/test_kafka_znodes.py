"""What Kafka's znodes say: of real clusters, and of data that makes no sense."""

import json
from collections.abc import Mapping

import pytest

from kcheck.core.cluster.znode_tree import replay
from kcheck.model.cluster import (
    BrokerRegistration,
    ClusterImage,
    Levels,
    MetadataProblem,
    PartitionRegistration,
    TopicImage,
)
from kcheck.model.znodes import Znode
from kcheck.model.zookeeper_metadata import ZookeeperMetadata, ZookeeperMigration
from kcheck.zookeeper.kafka_znodes import partition_paths, read_cluster, read_partition, registered_endpoints
from kcheck.zookeeper.snapshot import zxid_of
from kcheck.zookeeper.transaction_log import transactions
from tests.zookeeper_bytes import WRITTEN

MISSING = "missing or makes no sense"
MIGRATION = ("kraft_controller_id", "kraft_controller_epoch", "kraft_metadata_offset", "kraft_metadata_epoch")
STATE = {"controller_epoch": 4, "leader": 1, "version": 1, "leader_epoch": 5, "isr": [1, 2]}
OBJECTS: Mapping[str, object] = {
    "/cluster/id": {"version": "1", "id": "c"},
    "/brokers/topics/t": {"version": 3, "topic_id": "i", "partitions": {"0": [1, 2], "1": [2]},
                          "adding_replicas": {"0": [2]}, "removing_replicas": {"0": [1]}},
    "/brokers/topics/t/partitions/0/state": STATE,
    "/brokers/topics/gone": {"version": 1, "partitions": {}},
    "/brokers/ids/1": {"version": 5, "endpoints": ["PLAINTEXT://a:1"], "rack": "r",
                      "features": {"f": {"min_version": 1, "max_version": 5}}},
    "/brokers/ids/2": {"version": 1, "host": "b", "port": 2},
    "/controller": {"version": 1, "brokerid": 2},
    "/controller_epoch": 4,
    "/log_dir_event_notification/log_dir_event_0000000002": {"version": 1, "broker": 1, "event": 1},
    "/latest_producer_id_block": {"version": 1, "broker": 2, "block_start": "1000", "block_end": "1999"},
    "/isr_change_notification/isr_change_0000000000": {"version": 1, "partitions": [{"topic": "t", "partition": 0}]},
    "/admin/delete_topics/gone": {},
    "/admin/reassign_partitions": {"partitions": [{"topic": "t", "partition": 1, "replicas": [1]}]},
    "/admin/preferred_replica_election": {"partitions": [{"topic": "t", "partition": 0}]},
    "/config/topics/t": {"version": 1, "config": {"min.insync.replicas": "2", "flush.ms": "1"}},
    "/config/topics/gone": {"version": 1, "config": {}},
    "/config/brokers/1": {"version": 1, "config": {"ssl.key.password": "secret"}},
    "/config/brokers/<default>": {"version": 1, "config": {"unclean.leader.election.enable": "true"}},
    "/config/users/a%40b": {"version": 1, "config": {"SCRAM-SHA-512": "stored_key=secret"}},
    "/config/users/quota": {"version": 1, "config": {"producer_byte_rate": "1"}},
    "/delegation_token/tokens/token-id": {"version": 1, "token": "secret"},
    "/feature": {"version": 1, "status": 1, "features": {"f": {"min_version_level": 1, "max_version_level": 2}}},
    "/migration": {"version": 0, "kraft_controller_id": 9, "kraft_controller_epoch": 1,
                   "kraft_metadata_offset": 1 << 40, "kraft_metadata_epoch": 3},
}  # fmt: skip


def _cluster(objects: Mapping[str, object], chroot: str = "") -> ZookeeperMetadata:
    return read_cluster(
        {chroot + path: Znode(json.dumps(value).encode(), version=7) for path, value in objects.items()}, chroot
    )


@pytest.mark.parametrize("chroot", ["", "/kafka/a"])
def test_cluster(chroot: str) -> None:
    plain = TopicImage(
        "t",
        "i",
        {
            0: PartitionRegistration(
                (1, 2), (1, 2), 1, 5, 7, removing=(1,), adding=(2,), last_leader=1, last_leader_epoch=5
            ),
            1: PartitionRegistration((2,), ()),
        },
    )
    assert _cluster(OBJECTS, chroot) == ZookeeperMetadata(
        image=ClusterImage(
            topics={"t": plain, "gone": TopicImage("gone", None, {}, deleting=True)},
            topics_by_id={"i": plain},
            brokers={
                1: BrokerRegistration(
                    1,
                    None,
                    fenced=False,
                    endpoints=("PLAINTEXT://a:1",),
                    rack="r",
                    features={"f": Levels(1, 5)},
                    migrating=True,
                ),
                2: BrokerRegistration(2, None, fenced=False, endpoints=("PLAINTEXT://b:2",), migrating=True),
            },
            features={"f": 2},
            configs={
                ("topic", "t"): {"min.insync.replicas": "2"},
                ("broker", ""): {"unclean.leader.election.enable": "true"},
            },
            next_producer_id=2000,
            scram_users=("a@b (SCRAM-SHA-512)",),
            delegation_tokens=("token-id",),
            migration="migration",
            controller=2,
        ),
        cluster_id="c",
        controller_epoch=4,
        isr_changes=(("t", 0),),
        reassigning=(("t", 1),),
        electing=(("t", 0),),
        log_dir_changes=(1,),
        migration=ZookeeperMigration(9, 1, 1 << 40, 3),
        chroot=chroot,
    )
    assert "secret" not in repr(_cluster(OBJECTS, chroot))


def test_a_migration_that_has_copied_nothing_yet() -> None:
    image = _cluster({"/migration": dict.fromkeys(MIGRATION, -1)}).image
    assert image.migration == "pre-migration"


def test_the_epoch_of_a_broker_is_the_transaction_of_its_znode() -> None:
    """An export does not have it."""
    znode = Znode(b'{"endpoints":[]}', czxid=1 << 33)
    assert read_cluster({"/brokers/ids/1": znode}).image.brokers[1].epoch == 1 << 33


def test_a_state_without_a_leader() -> None:
    """The last leader is the only broker in sync, if it is the only one."""
    path = "/brokers/topics/t/partitions/0/state"
    for level, isr, last_leader in ((0, (1, 2), None), (1, (2,), 2)):
        state = STATE | {"leader": -2, "isr": isr, "leader_recovery_state": level}
        image = read_cluster(
            {
                "/brokers/topics/t": Znode(b'{"partitions":{"0":[1]}}'),
                path: Znode(json.dumps(state).encode(), version=None),
            }
        ).image
        wanted = PartitionRegistration((1,), isr, -1, 5, None, recovering=level == 1, last_leader=last_leader)
        assert image.topics["t"].partitions[0] == wanted


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
        ("/brokers/ids/1", {"endpoints": [], "features": {"f": {"min_version": 1}}}, "its max_version is"),
        ("/latest_producer_id_block", {"block_end": 1999}, "its block_end is"),
        ("/latest_producer_id_block", {"block_end": "x"}, "its block_end is"),
        ("/latest_producer_id_block", {"block_end": "-1"}, "its block_end is"),
        ("/latest_producer_id_block", {"block_end": str((1 << 63) - 1)}, "its block_end is"),
        ("/log_dir_event_notification/log_dir_event_0000000002", {"broker": -1}, "its broker is"),
        ("/config/topics/t", {"config": {"min.insync.replicas": {"secret": 1}}}, "its min.insync.replicas is"),
        ("/migration", dict.fromkeys(MIGRATION, 1 << 63), "its kraft_controller_id is"),
    ],
)
def test_what_makes_no_sense_is_a_problem(path: str, value: object, why: str) -> None:
    wanted = MetadataProblem(path[:1000], f"{why} {MISSING}" if why.endswith(" is") else why)
    assert _cluster({**OBJECTS, path: value}).problems == (wanted,)


def test_no_problem_quotes_data() -> None:
    values = ("secret", ["secret"], {"config": "secret"}, {"config": {"cleanup.policy": ["secret"]}, "id": ["secret"]})
    problems = [_cluster({**OBJECTS, path: value}).problems for path in OBJECTS for value in values]
    assert any(problems)
    assert "secret" not in repr([why for several in problems for _, why in several])


def test_a_lone_surrogate_becomes_a_question_mark() -> None:
    objects = {"/cluster/id": {"id": "\ud800"}, "/brokers/ids/1": {"endpoints": ["\udfff"], "rack": "\ud800"},
               "/feature": {"features": {"\ud800": {"max_version_level": 1}}}}  # fmt: skip
    cluster = _cluster(objects)
    broker = cluster.image.brokers[1]
    assert (cluster.cluster_id, broker.endpoints, broker.rack, cluster.image.features) == ("?", ("?",), "?", {"?": 1})


def test_a_state_without_replicas_is_a_problem() -> None:
    """As in an export of the states alone, or after a partition was added; not where the topic is unreadable."""
    topic, why = "/brokers/topics/t", "its topic does not name the replicas of this partition"
    for objects, places in (
        ({f"{topic}/partitions/0/state": STATE}, [f"{topic}/partitions/0/state"]),
        ({topic: {"partitions": {"0": [1]}}, f"{topic}/partitions/1/state": STATE}, [f"{topic}/partitions/1/state"]),
        ({topic: {"partitions": {"0": [1]}}, f"{topic}/partitions/0/state": STATE}, []),
    ):
        assert [*_cluster(objects, "/k").problems] == [(f"/k{place}", why) for place in places]
    state = Znode(json.dumps(STATE).encode())
    assert read_cluster({f"/k{topic}/partitions/0/state": state}).problems == ()
    assert read_cluster({f"/kk{topic}/partitions/0/state": state}, "/jj").problems == ()
    damaged = _cluster({topic: {}, f"{topic}/partitions/0/state": STATE})
    assert [problem.place for problem in damaged.problems] == [topic]


def test_a_hundred_problems_are_kept() -> None:
    assert len(_cluster({f"/brokers/ids/x{number}": {} for number in range(101)}).problems) == 100


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
    image = cluster.image
    assert (image.controller, cluster.controller_epoch, set(image.brokers)) == (2, 2, {2})
    assert image.brokers[2].epoch == znodes["/brokers/ids/2"].czxid > 0
    assert {name: set(topic.partitions) for name, topic in image.topics.items()} == {"plain": {0, 1}, "strict": {0}}
    assert {partition.leader for _, _, partition in image.partitions()} == {2}
    assert image.configs == {("topic", "plain"): {"unclean.leader.election.enable": "true"}}
    assert image.scram_users == ("alice (SCRAM-SHA-256)",)
    assert (len(image.topics_by_id), image.next_producer_id) == ((0, 2000) if version == "1.1.1" else (2, None))


def test_one_partition() -> None:
    """The topic alone says the replicas; a state of a partition that the topic does not have says nothing."""
    nodes = {path: Znode(json.dumps(value).encode(), version=7) for path, value in OBJECTS.items()}
    replicas, state = (nodes.get(path) for path in partition_paths("", "t", 0))
    topic_id, registration = read_partition("t", 0, replicas, state)
    assert topic_id == "i"
    assert registration is not None
    assert (registration.leader, registration.partition_epoch, registration.adding) == (1, 7, (2,))
    assert registration.with_last_leader() == _cluster(OBJECTS).image.topics["t"].partitions[0]
    created = read_partition("t", 0, replicas, None)[1]
    assert created is not None
    assert (created.leader, created.leader_epoch, created.replicas) == (-1, None, (1, 2))
    assert read_partition("t", 9, replicas, state) == ("i", None)
    assert read_partition("t", 0, None, state) == (None, None)
    for damaged in (Znode(b"?"), Znode(None)):
        with pytest.raises(ValueError, match="no JSON object"):
            read_partition("t", 0, replicas, damaged)
        with pytest.raises(ValueError, match="no JSON object"):
            read_partition("t", 0, damaged, state)


def test_a_znode_that_names_no_listeners() -> None:
    """Its address is not known then, as from one that is not there."""
    known = b'{"endpoints":["PLAINTEXT://kafka-1:9092"],"host":"kafka-1","port":9092,"version":4}'
    assert registered_endpoints(known) == ("PLAINTEXT://kafka-1:9092",)
    assert registered_endpoints(None) == registered_endpoints(b'{"endpoints":7}') == ()
