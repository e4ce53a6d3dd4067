"""The metadata of all nodes is lost: what kcheck makes again from the brokers' disks, on real clusters.

By default one release is played; `KCHECK_SWEEP` takes all.
"""

import json
from pathlib import Path

import pytest

import kcheck
from tests.oracle.ask import sampled
from tests.oracle.clusters.lost_metadata import NEW, answers, planned, started, with_controller, without_metadata
from tests.oracle.clusters.lost_quorum import BROKERS, CONTROLLERS, QUORUM, copied, followed, same, wait_leads
from tests.oracle.clusters.test_lost_quorum import DYNAMIC, Base, base
from tests.oracle.kafka import free_port, wait_for

__all__ = ["base"]

pytestmark = pytest.mark.oracle

RELEASES = ("3.3.2", "3.9.2", "4.0.2", "4.3.1")


def test_all_comes_back_from_disks_without_metadata(base: Base, tmp_path: Path) -> None:
    """Topics, ids, replicas, records, groups; every node starts at the same moment, and no directory becomes stray."""
    cluster = base("4.3.1", dynamic=False)
    with copied(cluster, tmp_path / "run", "4.3.1", dynamic=False, lost=CONTROLLERS) as nodes:
        without_metadata(nodes, *BROKERS)
        with_controller(nodes)
        known = answers(nodes, cluster, tmp_path / "answers")
        started(nodes, planned(nodes, tmp_path / "out", answers=known), cluster)


@pytest.mark.whole
@pytest.mark.parametrize(
    ("version", "dynamic"),
    [*((version, False) for version in sampled(RELEASES)), *((version, True) for version in sampled(DYNAMIC))],
)
def test_brokers_drop_their_older_copies(version: str, dynamic: bool, base: Base, tmp_path: Path) -> None:
    """The snapshot is above all of them, and no file of a broker changes; the copies give what the user knew."""
    cluster = base(version, dynamic=dynamic)
    with copied(cluster, tmp_path / "run", version, dynamic=dynamic, lost=CONTROLLERS) as nodes:
        with_controller(nodes)
        answer = planned(nodes, tmp_path / "out", force=True)
        changed = [NEW] if version >= "3.9" else [NEW, *BROKERS]  # 3.3.2 ends at the voters in quorum-state
        assert [plan.node_id for plan in answer.plans] == changed
        started(nodes, answer, cluster)


@pytest.mark.whole
@pytest.mark.parametrize("version", sampled(DYNAMIC))
def test_a_dynamic_quorum_grows_again(version: str, base: Base, tmp_path: Path) -> None:
    """The snapshot names one voter; then another is added."""
    cluster = base(version, dynamic=True)
    with copied(cluster, tmp_path / "run", version, dynamic=True, lost=CONTROLLERS) as nodes:
        without_metadata(nodes, *BROKERS)
        with_controller(nodes)
        known = answers(nodes, cluster, tmp_path / "answers")
        started(nodes, planned(nodes, tmp_path / "out", answers=known), cluster)
        nodes.add(NEW + 1, voters=[NEW])
        nodes.format(NEW + 1, "--no-initial-controllers")
        nodes.start(NEW + 1)
        settings = str(nodes.dir / f"node-{NEW + 1}" / "server.properties")
        nodes.tool(QUORUM, "--command-config", settings, "--bootstrap-server", nodes.bootstrap, "add-controller")
        assert {*nodes.image(NEW).controllers} == {NEW, NEW + 1}


SHAPES = [
    ("3.3.2", 1, True, False), ("3.9.2", 1, True, False), ("3.9.2", 2, False, False), ("4.0.2", 2, True, True),
    ("4.3.1", 1, True, True), ("4.3.1", 2, False, False), ("4.3.1", 2, True, True),
]  # fmt: skip
"""Release, log dirs of a broker (two from 3.7 on), whether all stopped cleanly, and whether ELR is on."""


@pytest.mark.whole
@pytest.mark.parametrize(("version", "disks", "clean", "elr"), SHAPES)
def test_log_dirs_and_clean_stops(version: str, disks: int, clean: bool, elr: bool, base: Base, tmp_path: Path) -> None:
    """A broker that stopped cleanly names its epoch: a registration that has another one would count as unclean."""
    cluster = base(version, dynamic=False, disks=disks, clean=clean)
    with copied(cluster, tmp_path / "run", version, dynamic=False, lost=CONTROLLERS, disks=disks) as nodes:
        assert len([*nodes.dir.glob("node-1/data*/*-?")]) >= 4
        without_metadata(nodes, *BROKERS)
        with_controller(nodes)
        known = answers(nodes, cluster, tmp_path / "answers")
        known.write_text(json.dumps({**json.loads(known.read_text()), "elr": elr}))
        started(nodes, planned(nodes, tmp_path / "out", answers=known), cluster)


@pytest.mark.whole
@pytest.mark.parametrize("version", sampled(("4.0.2", "4.3.1")))
def test_with_elr_and_registrations_a_leader_is_left(version: str, base: Base, tmp_path: Path) -> None:
    """Without them the first registration of each broker counts as unclean, and the ISR ends empty."""
    cluster = base(version, dynamic=False)
    with copied(cluster, tmp_path / "run", version, dynamic=False, lost=CONTROLLERS) as nodes:
        without_metadata(nodes, *BROKERS)
        with_controller(nodes)
        known = answers(nodes, cluster, tmp_path / "answers")
        known.write_text(json.dumps({**json.loads(known.read_text()), "elr": True}))
        started(nodes, planned(nodes, tmp_path / "out", answers=known), cluster)


@pytest.mark.whole
@pytest.mark.parametrize("version", sampled(("4.0.2", "4.3.1")))
def test_one_broker_alone_serves_what_it_has(version: str, base: Base, tmp_path: Path) -> None:
    """The other one is given up: partitions without a disk stay offline, the others lead and take records."""
    cluster = base(version, dynamic=False)
    with copied(cluster, tmp_path / "run", version, dynamic=False, lost=(*CONTROLLERS, 2)) as nodes:
        without_metadata(nodes, 1)
        with_controller(nodes)
        answer = kcheck.recover_metadata(*nodes.arguments(NEW, 1), out=tmp_path / "out", dead=[2])
        assert answer.refusals == ()
        followed(nodes, answer)
        nodes.start(NEW, 1)
        wait_leads(nodes[NEW])
        assert nodes.strays() == []
        image = nodes.image(1)
        assert {*image.topics} == {topic.name for topic in answer.rebuild.topics}


@pytest.mark.whole
@pytest.mark.parametrize("version", sampled(("3.9.2", "4.3.1")))
def test_acls_and_credentials_of_the_answers_hold(version: str, base: Base, tmp_path: Path) -> None:
    """A user logs in with its password, and the authorizer lists the entry."""
    from confluent_kafka.admin import AdminClient  # not needed by the other tests

    cluster = base(version, dynamic=False)
    with copied(cluster, tmp_path / "run", version, dynamic=False, lost=CONTROLLERS) as nodes:
        without_metadata(nodes, *BROKERS)
        with_controller(nodes)
        path = answers(nodes, cluster, tmp_path / "answers")
        acl = {"resource_type": "TOPIC", "resource_name": "orders", "principal": "User:bob", "operation": "READ"}
        scram = {"user": "bob", "mechanism": "SCRAM-SHA-512", "password": "kept in no log"}
        document = json.loads(path.read_text())
        more = {"acls": [*document["acls"], acl], "scram": [*document["scram"], scram]}
        path.write_text(json.dumps(document | more))
        answer = planned(nodes, tmp_path / "out", answers=path)
        port = free_port()
        for number in nodes.nodes:
            with (nodes.dir / f"node-{number}" / "server.properties").open("a") as settings:
                if number in BROKERS[:1]:
                    settings.write(_SASL.format(plain=nodes.places[number], sasl=port))
        started(nodes, answer, cluster)
        listed = nodes.tool(ACLS[version[0]], "--bootstrap-server", nodes.bootstrap, "--list")
        assert "principal=User:bob, host=*, operation=READ, permissionType=ALLOW" in listed
        login = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "SCRAM-SHA-512", "sasl.username": "bob"}
        user = AdminClient({"bootstrap.servers": f"127.0.0.1:{port}", **login, "sasl.password": "kept in no log"})
        assert "orders" in user.list_topics(timeout=30).topics


ACLS = {"3": "kafka.admin.AclCommand", "4": "org.apache.kafka.tools.AclCommand"}
_SASL = """
listeners=PLAINTEXT://127.0.0.1:{plain},SASL://127.0.0.1:{sasl}
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SASL:SASL_PLAINTEXT
sasl.enabled.mechanisms=SCRAM-SHA-512
listener.name.sasl.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
"""


@pytest.mark.whole
@pytest.mark.parametrize("version", sampled(RELEASES))
def test_the_metadata_as_the_first_records_of_the_controller(version: str, base: Base, tmp_path: Path) -> None:
    """It starts first, until its disk has the topics."""
    cluster = base(version, dynamic=False)
    with copied(cluster, tmp_path / "run", version, dynamic=False, lost=CONTROLLERS) as nodes:
        without_metadata(nodes, *BROKERS)
        with_controller(nodes)
        known = answers(nodes, cluster, tmp_path / "answers")
        answer = planned(nodes, tmp_path / "out", answers=known, bootstrap=True)
        followed(nodes, answer)
        nodes[NEW].start()
        wait_leads(nodes[NEW])
        wait_for("the topics", lambda: {*nodes.image(NEW).topics} == {topic.name for topic in answer.rebuild.topics})
        nodes.start(*BROKERS)
        same(nodes, cluster)
