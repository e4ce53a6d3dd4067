"""Wrong inputs of `kcheck recover quorum`, `metadata` and `topic`: each is refused with what to bring.

The bytes are of real nodes of 4.3.1: two clusters, three brokers that are controllers too.
"""

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import kcheck
from kcheck.core.cluster.copies import MetadataCopy
from kcheck.core.rescue.refusals import RescueRefusal
from kcheck.views.metadata_copy import read_copy
from tests.oracle.scenes import FIXTURES
from tests.replicas import test_recover_metadata as metadata
from tests.replicas import test_recover_quorum as quorum
from tests.replicas import test_recover_quorum_votes as votes
from tests.replicas import test_recover_topic as topic

OTHER = FIXTURES / "clusters" / "4.3.1" / "outrun"
METADATA = "__cluster_metadata-0"
Asked = Callable[[Path, Sequence[int]], Sequence[RescueRefusal]]


def of_quorum(nodes: Path, here: Sequence[int]) -> Sequence[RescueRefusal]:
    """Ask for a quorum: nodes 1 and 2 never come back, as far as they are not here."""
    return quorum.asked(nodes, *here, dead=[1] if 2 in here else [1, 2]).refusals


def of_metadata(nodes: Path, here: Sequence[int]) -> Sequence[RescueRefusal]:
    """Ask for the metadata, for a new controller."""
    return metadata.asked(nodes, *here, 201).refusals


def of_topic(nodes: Path, here: Sequence[int]) -> Sequence[RescueRefusal]:
    """Ask for a topic that was deleted and created again."""
    return kcheck.recover_topic(topic.TOPIC, *(f"{number}={nodes}/broker-{number}" for number in here)).refusals


VERBS = {
    "quorum": (quorum.laid_out, of_quorum), "metadata": (metadata.laid_out, of_metadata),
    "topic": (topic.laid_out, of_topic),
}  # fmt: skip


def refused(verb: str, tmp_path: Path, here: Sequence[int], change: Callable[[Path], object]) -> dict[str, str]:
    """Return what has to be brought, by the name of the refusal, once the disks are changed."""
    laid_out, asked = VERBS[verb]
    nodes = laid_out(tmp_path)
    change(nodes)
    return {row.name: row.bring for row in asked(nodes, here)}


@pytest.mark.parametrize("verb", VERBS)
def test_a_disk_of_another_cluster(verb: str, tmp_path: Path) -> None:
    def change(nodes: Path) -> None:
        shutil.rmtree(nodes / "broker-2")
        shutil.copytree(OTHER / "broker-2", nodes / "broker-2")

    assert refused(verb, tmp_path, (2, 3), change)["two-clusters"].startswith("Name the log dirs of one cluster")


@pytest.mark.parametrize(
    ("verb", "here", "name", "bring"),
    [
        ("quorum", (2,), "unnamed-nodes", "Name its log dirs (3=PATH), or give up what never comes back (--dead 3)."),
        ("metadata", (1, 2), "fewer-replicas", "Name the log dirs of the broker that has the others, or give it up"),
        ("topic", (1, 2), "isr", "stop that broker before the others, and ask again."),
    ],
)
def test_a_missing_disk(verb: str, here: Sequence[int], name: str, bring: str, tmp_path: Path) -> None:
    """Of a node that the metadata names, of another partition of the topic, of a broker in the ISR."""

    def change(nodes: Path) -> None:
        if verb == "metadata":
            for number in (1, 2):
                log_dir = nodes / f"broker-{number}" / "data1"
                shutil.copytree(log_dir / f"{metadata.TOPIC}-0", log_dir / f"{metadata.TOPIC}-1")
            shutil.rmtree(nodes / "broker-2" / "data1" / f"{metadata.TOPIC}-0")

    assert bring in refused(verb, tmp_path, here, change)[name]


def without_copies(nodes: Path) -> None:
    """Let node 3 alone have a copy, from before the topic."""
    for number in (1, 2):
        shutil.rmtree(nodes / f"broker-{number}" / "data1" / METADATA)
    votes.cut(nodes, 3, votes.TOPIC_AT)


def test_a_stale_copy_alone(tmp_path: Path) -> None:
    """It knows less than the disks: brokers would set their directories aside. Other metadata makes it again."""
    nodes = quorum.laid_out(tmp_path)
    without_copies(nodes)
    answer = quorum.asked(nodes, 1, 2, 3, voter="3")
    (row,) = (row for row in answer.refusals if row.name == "stale-copy")
    assert row.why == "The newest copy, of node 3, does not have voted, and disks do."
    assert "Name the log dirs of more nodes." in row.bring
    assert "kcheck recover metadata" in row.bring


def test_a_copy_with_a_lower_leader_epoch_alone(tmp_path: Path) -> None:
    nodes = quorum.laid_out(tmp_path)
    for number in (1, 2, 3):
        (nodes / f"broker-{number}" / "data1" / "voted-0" / "leader-epoch-checkpoint").write_text("0\n1\n4 0\n")
    (row,) = (row for row in quorum.asked(nodes, 3, dead=quorum.DEAD).refusals if row.name == "stale-copy")
    assert row.why == "The newest copy, of node 3, is older than voted-0 on the disks."
    forced = quorum.asked(nodes, 3, dead=quorum.DEAD, force=True)
    assert "stale-copy" in [row.name for row in forced.warnings]
    assert forced.rescue is not None


@pytest.mark.parametrize("verb", VERBS)
def test_a_node_that_runs(verb: str, tmp_path: Path) -> None:
    laid_out, asked = VERBS[verb]
    nodes = laid_out(tmp_path)
    with quorum.locked(nodes / "broker-3" / "data1" / ".lock"):
        (bring,) = (row.bring for row in asked(nodes, (1, 2, 3)) if row.name == "running")
    assert bring.startswith("Stop ")
    assert bring.endswith("3, and ask again.")


@pytest.mark.parametrize("verb", ["quorum", "metadata"])
def test_a_copy_of_a_controller_that_writes(verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its metadata log grows while kcheck reads it."""
    laid_out, asked = VERBS[verb]
    nodes = laid_out(tmp_path)
    folder = nodes / "broker-3" / "data1" / METADATA
    if verb == "metadata":
        shutil.copytree(metadata.QUORUM / "broker-3" / "data1" / METADATA, folder)
    read = read_copy

    def growing(*arguments: Any, **named: Any) -> MetadataCopy:
        copy = read(*arguments, **named)
        with (folder / f"{0:020}.log").open("ab") as log:
            log.write(bytes(8))
        return copy

    monkeypatch.setattr("kcheck.views.rescue_nodes.read_copy", growing)
    (bring,) = (row.bring for row in asked(nodes, (1, 2, 3) if verb == "metadata" else (3,)) if row.name == "changing")
    assert bring == "Stop node 3, copy its log dir again, and ask again."


def test_one_of_two_log_dirs(tmp_path: Path) -> None:
    """Group offsets and transactions are in the other one: the broker would set them aside."""
    paths = metadata.torn(tmp_path, size=2000)
    folder = tmp_path / "nodes" / "broker-1"
    alone = [f"1={folder}/data1", *paths[1:]]
    for is_known in (True, False):
        if not is_known:
            shutil.rmtree(folder / "data1" / METADATA)
        (row,) = (row for row in kcheck.recover_metadata(*alone).refusals if row.name == "unnamed-log-dirs")
        assert row.why == f"{folder}/data2 is a log dir of broker 1 too, and was not named."
        assert row.bring == "Name all of them, or the server.properties of the broker (1=PATH)."
        assert "unnamed-log-dirs" not in [one.name for one in kcheck.recover_metadata(*paths).refusals]


def listed(nodes: Path, number: int, *log_dirs: str, **more: object) -> None:
    """Let a node have a server.properties that lists log dirs in its folder."""
    folder = nodes / f"broker-{number}"
    lines = {
        "process.roles": "broker", "node.id": number, "controller.quorum.voters": "201@h:1",
        "controller.listener.names": "C", "listeners": f"PLAINTEXT://h:{number}",
        "listener.security.protocol.map": "C:PLAINTEXT,PLAINTEXT:PLAINTEXT",
        "log.dirs": ",".join(f"{folder}/{name}" for name in log_dirs), **more,
    }  # fmt: skip
    (folder / "server.properties").write_text("".join(f"{name}={value}\n" for name, value in lines.items()))


def test_a_log_dir_that_is_away(tmp_path: Path) -> None:
    """server.properties lists it, and nothing is mounted there."""
    for verb in ("metadata", "topic"):
        nodes = VERBS[verb][0](tmp_path / verb)
        listed(nodes, 2, "data1", "data2")
        paths = [f"1={nodes}/broker-1", f"2={nodes}/broker-2/server.properties", f"3={nodes}/broker-3"]
        if verb == "topic":
            refusals = kcheck.recover_topic(topic.TOPIC, *paths).refusals
        else:
            refusals = kcheck.recover_metadata(*paths, f"201={nodes}/broker-201").refusals
        (row,) = (row for row in refusals if row.name == "missing-disk")
        assert row.why == f"{nodes}/broker-2/data2 cannot be read: No such file or directory."
        assert row.bring.startswith("Mount the disk")
        assert "no-start" not in [row.name for row in refusals]


def test_a_controller_whose_disk_is_away(tmp_path: Path) -> None:
    """It counts as lost only if the user gives it up: its copy can be newer, and make a majority."""
    nodes = quorum.laid_out(tmp_path)
    listed(nodes, 2, "gone")
    paths = (f"2={nodes}/broker-2/server.properties", f"3={nodes}/broker-3")
    (row,) = (row for row in kcheck.recover_quorum(*paths, dead=[1]).refusals if row.name == "missing-disk")
    assert row.why == f"{nodes}/broker-2/gone of node 2 is missing or empty."
    assert "If the disk is lost, give the node up (--dead 2)." in row.bring
    assert kcheck.recover_quorum(*paths, dead=[1, 2]).refusals == ()
    listed(nodes, 2, "gone", "data1")
    assert [row.name for row in kcheck.recover_quorum(*paths, dead=[1]).refusals] == ["majority"]


def test_settings_that_a_broker_refuses(tmp_path: Path) -> None:
    """They are named once, and not as a damage of each partition."""
    nodes = metadata.laid_out(tmp_path)
    for number in (1, 2, 3):
        listed(nodes, number, "data1", **{"num.partitions": "x"})
    rows = of_metadata(nodes, (1, 2, 3))
    assert [row.name for row in rows] == ["no-start"] * 3
    assert rows[0].why == "Broker 1 does not start: num.partitions=x: Kafka 4.3 accepts an integer (type int)."
    listed(nodes, 2, "data1")
    assert [row.name for row in of_metadata(nodes, (1, 2, 3))] == ["no-start"] * 2
    listed(nodes, 1, "data1")
    listed(nodes, 3, "data1")
    assert of_metadata(nodes, (1, 2, 3)) == ()


def test_metadata_from_before_the_deletion_of_a_topic(tmp_path: Path) -> None:
    """The topic has the id of the -delete directories there: brokers would make them stray."""

    def change(nodes: Path) -> None:
        for number in (1, 2, 3):
            log_dir = nodes / f"broker-{number}" / "data1"
            shutil.copy(log_dir / f"{topic.TOPIC}-0" / "partition.metadata", log_dir / topic.OLD)

    bring = refused("topic", tmp_path, (1, 2, 3), change)["stale-copy"]
    assert bring == "Name a newer copy: --metadata with the log dir of a controller."
