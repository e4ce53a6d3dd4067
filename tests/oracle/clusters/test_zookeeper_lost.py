"""ZooKeeper is lost: its brokers get their metadata back as znodes, or go on in a KRaft cluster of 4.3.1.

Or topics were created again, and get their old directories.
"""

import json
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pytest

import kcheck
from kcheck.disk.apply import apply
from kcheck.model.names import log_name
from kcheck.views.zookeeper_server import ZookeeperServer
from tests.oracle.ask import sampled
from tests.oracle.clusters.lost_metadata import NEW
from tests.oracle.clusters.lost_quorum import BROKERS, Nodes, content, done_by, followed, wait_leads, wait_says
from tests.oracle.conftest import no_kafka
from tests.oracle.incidents.client import Client
from tests.oracle.jars import NoKafkaError, java_command, run_java
from tests.oracle.kafka import Cluster, free_port, wait_for
from tests.oracle.wire import states

pytestmark = [pytest.mark.oracle, pytest.mark.whole]

RELEASE = "4.3.1"


@pytest.mark.parametrize("version", sampled(("2.6.3", "2.8.2", "3.6.2")))
def test_disks_of_zookeeper_serve_in_kraft(version: str, tmp_path: Path) -> None:
    """Same records and group offsets, everything in sync, and no directory becomes stray; 2.6 has no topic ids."""
    try:
        made = Cluster(version, 2, dir=tmp_path / "zookeeper", mode="zk")
    except NoKafkaError as error:
        no_kafka(f"Kafka {error}".partition("\n")[0])
    with made as cluster:
        with Client(cluster.bootstrap) as client:
            for command in (
                "create orders 1,2;2,1 min.insync.replicas=1", "create single 2", "send orders 0 40 none all",
                "send orders 1 30 gzip all", "send single 0 20 none all", "offset readers orders 0 17",
            ):  # fmt: skip
                done_by(client, command)
            records, groups = content(client)
        for process in (*cluster.brokers.values(), cluster.beside):
            process.kill()
        identity = (cluster[1].log_dirs[0] / "meta.properties").read_text()
        (cluster_id,) = (line.partition("=")[2] for line in identity.split() if line.startswith("cluster.id"))
        places = {number: free_port() for number in (NEW, *BROKERS)}
        with Nodes(RELEASE, tmp_path / "kraft", dynamic=False, places=places, cluster_id=cluster_id) as nodes:
            for number in BROKERS:
                shutil.copytree(cluster[number].log_dirs[0], nodes.dir / f"node-{number}" / "data")
                nodes.add(number, voters=[NEW])
            nodes.add(NEW, voters=[NEW])
            nodes.format(NEW)
            answer = kcheck.recover_metadata(*nodes.arguments(NEW, *BROKERS), out=tmp_path / "out")
            assert answer.refusals == ()
            followed(nodes, answer)
            nodes.start(NEW, *BROKERS)
            wait_leads(nodes[NEW])
            wait_for("all in sync", lambda: _in_sync(nodes))
            assert nodes.strays() == []
            with Client(nodes.bootstrap) as client:
                assert (records, groups) == content(client)
                assert len(done_by(client, "send orders 0 7 none all")) == 7
                assert len(done_by(client, "commit orders 1 3")) == 3


@pytest.mark.parametrize("version", sampled(("3.6.2", "3.9.2")))
def test_the_directories_of_a_topic_that_was_created_again_serve(version: str, tmp_path: Path) -> None:
    """As after a lost ZooKeeper: the brokers refuse them by their topic id until the plan gives them the new one."""
    try:
        made = Cluster(version, 2, dir=tmp_path / "zookeeper", mode="zk")
    except NoKafkaError as error:
        no_kafka(f"Kafka {error}".partition("\n")[0])
    with made as cluster:
        with Client(cluster.bootstrap) as client:
            done_by(client, "create orders 1,2;2,1 min.insync.replicas=1")
            assert len(done_by(client, "send orders 0 40 none all")) == 40
        for number in (1, 2, 1, 2):  # leader epochs above those of a new topic
            cluster[number].stop()
            cluster[number].start()
            wait_for("the ISR", lambda: _isr(cluster) == {*BROKERS})
        with Client(cluster.bootstrap) as client:
            done_by(client, "create single 2")
            assert len(done_by(client, "send orders 0 3 none all")) == 3
            before, _ = content(client)
            for number in BROKERS:
                shutil.copytree(cluster[number].log_dirs[0], tmp_path / f"old-{number}")
        command = ("--bootstrap-server", cluster.bootstrap, "--delete", "--topic", "orders")
        tool = "kafka.admin.TopicCommand" if version < "3.7" else "org.apache.kafka.tools.TopicCommand"
        subprocess.run(java_command(version, tool, *command), check=True, capture_output=True)
        wait_for("the deletion", lambda: not [*cluster.dir.glob("*/*/orders-?")])
        with Client(cluster.bootstrap) as client:
            done_by(client, "create orders 1,2;2,1 min.insync.replicas=1")
        wait_for("the topic", lambda: len([*cluster.dir.glob("*/*/orders-?")]) == 4)
        cluster.stop()
        for number in BROKERS:
            for path in cluster[number].log_dirs[0].glob("orders-*"):
                shutil.rmtree(path)
            for path in (tmp_path / f"old-{number}").glob("orders-?"):
                shutil.copytree(path, cluster[number].log_dirs[0] / path.name)
        answer = kcheck.recover_topic(
            "orders", *(f"{number}={cluster[number].log_dirs[0]}" for number in BROKERS),
            metadata=[cluster.beside.dir], out=tmp_path / "out", kafka=version.rpartition(".")[0],
        )  # fmt: skip
        assert answer.refusals == ()
        assert {row.rewrites_epochs for row in answer.adoptions if row.old.partition == 0} == {True}
        for plan in answer.plans:
            apply((tmp_path / "out" / plan.name).read_bytes(), str(tmp_path / f"backup-{plan.name}"))
        cluster.start()
        with Client(cluster.bootstrap) as client:
            assert before == content(client)[0]
            assert len(done_by(client, "send orders 0 5 none all")) == 5
        ends = [_log_of(cluster, number).stat().st_size for number in BROKERS]
        assert ends[0] == ends[1] > 0


def _isr(cluster: Cluster) -> set[int]:
    state = states(cluster[1].port).get("orders-0")
    return set() if state is None else {*state[3]}


def _log_of(cluster: Cluster, number: int) -> Path:
    return cluster[number].log_dirs[0] / "orders-0" / log_name(0)


def _in_sync(nodes: Nodes) -> bool:
    parts = [part for topic in nodes.image(1).topics.values() for part in topic.partitions.values()]
    return len(parts) >= 4 and all({*part.isr} == {*part.replicas} and part.leader != -1 for part in parts)


CUT = re.compile("caused truncation of conflicting entries")
"""What a leader says whose epoch is below those of its log: it forgets them."""


def without_zookeeper(
    version: str, folder: Path, settings: Mapping[str, object] | None = None
) -> tuple[Cluster, dict[str, list[str]], list[str]]:
    """Return brokers that were killed, with leader epochs above 0, beside an empty ZooKeeper; their records, a group.

    Topic `single` has one replica. What a broker asked for last is in `__consumer_offsets` and `__transaction_state`.
    With an authorizer among the settings there are ACLs, a user and quotas. The znodes are kept in `lost`.
    """
    try:
        cluster = Cluster(version, 2, dir=folder, mode="zk", broker_config=settings)
    except NoKafkaError as error:
        no_kafka(f"Kafka {error}".partition("\n")[0])
    with cluster:
        with Client(cluster.bootstrap) as client:
            for command in (
                "create orders 1,2;2,1 min.insync.replicas=1", "create single 2", "send orders 0 40 none all",
                "send orders 1 30 gzip all", "send single 0 20 none all", "offset readers orders 0 17",
                "commit orders 0 5",
            ):  # fmt: skip
                done_by(client, command)
        for number in (1, 2, 1, 2):
            cluster[number].stop()
            cluster[number].start()
            wait_for("the ISR", lambda: _isr(cluster) == {*BROKERS})
        with Client(cluster.bootstrap) as client:
            assert len(done_by(client, "send orders 0 3 none all")) == 3
            if settings is not None:
                for command in ("acl alice orders", "quota alice 1000000", "scram alice kept-in-no-log"):
                    done_by(client, command)
                for tool, words in ACCESS.items():
                    for line in words:
                        run_java(version, tool, "--bootstrap-server", cluster.bootstrap, *line)
            records, groups = content(client)
    (folder / "lost").mkdir()
    (cluster.beside.dir / "version-2").rename(folder / "lost" / "version-2")
    cluster.beside.start()
    return cluster, records, groups


def shell(cluster: Cluster, lines: str) -> None:
    """Give lines to zookeeper-shell.sh."""
    server = f"127.0.0.1:{cluster.beside.port}"
    run_java(cluster.version, "org.apache.zookeeper.ZooKeeperMain", "-server", server, stdin=lines)


def all_in_sync(cluster: Cluster) -> bool:
    """Whether every partition has a leader, and all replicas in sync."""
    told = states(cluster[1].port)
    return len(told) >= 5 and all(row[0] != -1 and {*row[2]} == {*row[3]} for row in told.values())


AUTHORIZER = {
    "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
    "super.users": "User:ANONYMOUS",
    "allow.everyone.if.no.acl.found": "true",
}
_ADDED = ("--alter", "--add-config")
ACCESS = {
    "kafka.admin.AclCommand": [
        ("--add", "--allow-principal", "User:bob", "--operation", "Read", "--group", "a 'b", "--force"),
        ("--add", "--deny-principal", "User:bob", "--deny-host", "10.0.0.1", "--operation", "IdempotentWrite",
         "--cluster", "--force"),
        ("--add", "--allow-principal", "User:bob", "--operation", "Describe", "--transactional-id", "p",
         "--resource-pattern-type", "prefixed", "--force"),
    ],
    "kafka.admin.ConfigCommand": [
        (*_ADDED, "request_percentage=12.5", "--entity-type", "users", "--entity-default", "--entity-type", "clients",
         "--entity-name", "c *+~d"),
        (*_ADDED, "connection_creation_rate=7", "--entity-type", "ips", "--entity-name", "127.0.0.9"),
        (*_ADDED, "controller_mutation_rate=3,consumer_byte_rate=5", "--entity-type", "clients", "--entity-default"),
    ],
}  # fmt: skip
"""The words of Kafka's tools that give brokers ACLs and quotas of every kind."""
OF_ACCESS = ("/kafka-acl/", "/kafka-acl-extended/", "/config/users/", "/config/clients/", "/config/ips/")


def access_of(folder: Path) -> dict[str, object]:
    """Return the ACLs, credentials and quotas in the files of a ZooKeeper, by znode."""
    tree = ZookeeperServer(str(folder), None, []).restore(lambda *_: None)
    found = {path: znode.data for path, znode in tree.znodes.items() if path.startswith(OF_ACCESS) and znode.data}
    rows = {path: _sorted(json.loads(data)) for path, data in found.items()}
    return {path: row for path, row in rows.items() if row.get("config") != {}}


def _sorted(value: dict[str, object]) -> dict[str, object]:
    rows = value.get("acls")
    return {**value, "acls": sorted(rows, key=str)} if isinstance(rows, list) else value


def known_access(scram: str) -> dict[str, object]:
    """Return the answers of a user who knows the ACLs, the credentials (the value of a znode) and the quotas."""
    keys = dict(word.split("=", 1) for word in scram.split(","))
    named = {name: keys[name] for name in ("salt", "stored_key", "server_key")}
    acl = {"resource_type": "TOPIC", "resource_name": "orders", "principal": "User:alice", "operation": "READ"}
    bob = {"principal": "User:bob"}
    any_client = {"client-id": None}
    return {
        "acls": [
            acl,
            {**bob, "resource_type": "GROUP", "resource_name": "a 'b", "operation": "READ"},
            {**bob, "resource_type": "CLUSTER", "resource_name": "kafka-cluster", "operation": "IDEMPOTENT_WRITE",
             "permission_type": "DENY", "host": "10.0.0.1"},
            {**bob, "resource_type": "TRANSACTIONAL_ID", "resource_name": "p", "operation": "DESCRIBE",
             "pattern_type": "PREFIXED"},
        ],
        "scram": [{"user": "alice", "mechanism": "SCRAM-SHA-512", "iterations": int(keys["iterations"]), **named}],
        "quotas": [
            {"entity": {"user": "alice"}, "key": "producer_byte_rate", "value": 1000000},
            {"entity": {"user": None, "client-id": "c *+~d"}, "key": "request_percentage", "value": 12.5},
            {"entity": {"ip": "127.0.0.9"}, "key": "connection_creation_rate", "value": 7},
            {"entity": any_client, "key": "controller_mutation_rate", "value": 3},
            {"entity": any_client, "key": "consumer_byte_rate", "value": 5},
        ],
    }  # fmt: skip


@pytest.mark.parametrize("version", sampled(("2.8.2", "3.9.2")))
def test_acls_users_and_quotas_of_the_answers_are_as_brokers_wrote_them(version: str, tmp_path: Path) -> None:
    """Znode by znode; brokers load them, and `--next` follows the plan by the files of ZooKeeper to its end."""
    cluster, records, groups = without_zookeeper(version, tmp_path / "zookeeper", AUTHORIZER)
    try:
        before = access_of(tmp_path / "zookeeper" / "lost")
        credentials = cast("dict[str, dict[str, str]]", before["/config/users/alice"])["config"]["SCRAM-SHA-512"]
        (tmp_path / "answers.json").write_text(json.dumps(known_access(credentials)))
        paths = [f"{number}={cluster[number].log_dirs[0]}" for number in BROKERS]
        asked: dict[str, Any] = {"zookeeper": True, "kafka": version.rpartition(".")[0]}
        answer = kcheck.recover_metadata(*paths, answers=tmp_path / "answers.json", out=tmp_path / "out", **asked)
        assert answer.refusals == ()
        metadata = [cluster.beside.dir]

        def now() -> tuple[str, str | None]:
            told = kcheck.rescue_progress(tmp_path / "out", *paths, metadata=metadata)
            return str(told.state), None if told.at is None else str(told.steps[told.at].action)

        assert now() == ("next", "apply")
        shell(cluster, (tmp_path / "out" / "znodes.txt").read_text())
        assert now() == ("next", "brokers")
        made = access_of(cluster.beside.dir)
        assert {path: _numbers(row) for path, row in before.items()} == {
            path: _numbers(row) for path, row in made.items()
        }
        cluster[1].start()
        wait_for("a broker", lambda: now() == ("wait", "brokers"))
        cluster[2].start()
        wait_for("all in sync", lambda: all_in_sync(cluster))
        with Client(cluster.bootstrap) as client:
            assert (records, groups) == content(client)
        wait_for("the end of the plan", lambda: now() == ("done", None))
        listed = run_java(version, "kafka.admin.AclCommand", "--bootstrap-server", cluster.bootstrap, "--list")
        assert "principal=User:bob, host=10.0.0.1, operation=IDEMPOTENT_WRITE, permissionType=DENY" in listed
        told = run_java(
            version, "kafka.admin.ConfigCommand", "--bootstrap-server", cluster.bootstrap, "--describe",
            "--entity-type", "users", "--entity-name", "alice",
        )  # fmt: skip
        assert "SCRAM-SHA-512" in told
        assert "producer_byte_rate=1000000" in told
    finally:
        cluster.kill()


def _numbers(row: object) -> object:
    """Return a znode with its quotas as numbers, which brokers write as 5 or as 5.0."""
    config = cast("dict[str, Any]", row).get("config", {})
    if not config:
        return row
    return {name: value if "=" in value else float(value) for name, value in config.items()}


@pytest.mark.parametrize("version", sampled(("2.4.1", "2.6.3", "2.8.2", "3.9.2")))
def test_an_empty_zookeeper_gets_the_metadata_as_znodes(version: str, tmp_path: Path) -> None:
    """Same records and group offsets, everything in sync, leader epochs rise, and the cluster works; 2.4 has no ids."""
    cluster, records, groups = without_zookeeper(version, tmp_path / "zookeeper")
    try:
        answer = kcheck.recover_metadata(
            *(f"{number}={cluster[number].log_dirs[0]}" for number in BROKERS),
            zookeeper=True, out=tmp_path / "out", kafka=version.rpartition(".")[0],
        )  # fmt: skip
        assert answer.refusals == ()
        (command,) = (line for step in answer.steps for line in step.commands if line.startswith("zookeeper-shell.sh "))
        shell(cluster, Path(command.rpartition(" < ")[2]).read_text())
        cluster.start()
        wait_for("all in sync", lambda: all_in_sync(cluster))
        epochs = {name: row[1] for name, row in states(cluster[1].port).items()}
        with Client(cluster.bootstrap) as client:
            assert (records, groups) == content(client)
            done_by(client, "create later 2,1")
            for command in ("send later 0 5 none all", "send orders 0 7 none all", "commit orders 1 3"):
                assert len(done_by(client, command)) == int(command.split()[3])
            done_by(client, "configure orders retention.ms=7200000")
        assert min(epochs["orders-0"], epochs["orders-1"]) >= 4
        wait_for("all in sync", lambda: all_in_sync(cluster))
        assert [line for number in BROKERS for line in CUT.findall(cluster[number].log_since_start())] == []
    finally:
        cluster.kill()


def test_a_topic_that_is_created_by_hand_loses_its_followers(tmp_path: Path) -> None:
    """M8: it begins at leader epoch 0. A leader forgets the epochs of its log, and followers never get in sync."""
    cluster, _, _ = without_zookeeper("2.8.2", tmp_path / "zookeeper")
    try:
        lines = (cluster[1].log_dirs[0] / "meta.properties").read_text().split()
        (identity,) = (line.partition("=")[2] for line in lines if line.startswith("cluster.id"))
        shell(cluster, f'create /cluster ""\ncreate /cluster/id {{"version":"1","id":"{identity}"}}\n')
        cluster.start()
        with Client(cluster.bootstrap) as client:
            done_by(client, "create orders 1,2;2,1 min.insync.replicas=1")
        wait_says(cluster[1], CUT)
        wait_for("an ISR of the leader alone", lambda: _isr(cluster) == {1})
    finally:
        cluster.kill()
