"""`kcheck recover topic`: the plans of each broker, and their files; undo gives the bytes of before.

Real nodes of 4.3.1 left the directories: three brokers that are controllers too (fixtures/README.md).
"""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import kcheck
from kcheck.disk.apply import apply, undo
from kcheck.disk.local import LOCAL
from kcheck.errors import UsageError
from kcheck.plans.recover_topic import TopicRecovery
from kcheck.segments.batches import Walk
from tests.cli.command import kcheck as command
from tests.disk.plans import state
from tests.oracle.scenes import FIXTURES
from tests.replicas.test_recover_quorum import locked

QUORUM = FIXTURES / "clusters" / "4.3.1" / "quorum"
TOPIC = "voted"
LOG = "00000000000000000000.log"
OLD_ID = "AAAAAAAAQAaAAAAAAAAAAA"
OLD = f"{TOPIC}-0.{'0' * 32}-delete"


@pytest.fixture
def nodes(tmp_path: Path) -> Path:
    """Return the folder of the nodes."""
    return laid_out(tmp_path)


def laid_out(tmp_path: Path) -> Path:
    """Copy the disks; their topic was deleted with leader epoch 9, and created again."""
    shutil.copytree(QUORUM, tmp_path / "nodes")
    for path in [*(tmp_path / "nodes").rglob("server.properties")]:
        path.unlink()
    for number in (1, 2, 3):
        log_dir = tmp_path / "nodes" / f"broker-{number}" / "data1"
        shutil.copytree(log_dir / f"{TOPIC}-0", log_dir / OLD)
        (log_dir / f"{TOPIC}-0" / LOG).write_bytes(b"")
        (log_dir / OLD / "partition.metadata").write_text(f"version: 0\ntopic_id: {OLD_ID}")
        data = bytearray((log_dir / OLD / LOG).read_bytes())
        for position in positions(log_dir / OLD / LOG):
            data[position + 12 : position + 16] = (9).to_bytes(4, "big")
        (log_dir / OLD / LOG).write_bytes(data)
    return tmp_path / "nodes"


def positions(path: Path) -> list[int]:
    """Return where the batches of a segment begin."""
    with LOCAL.open(str(path)) as source:
        return [batch.position for batch in Walk(source, verify=True)]


def arguments(nodes: Path) -> list[str]:
    """Return the arguments that name the brokers."""
    return [f"{number}={nodes}/broker-{number}" for number in (1, 2, 3)]


def asked(nodes: Path, name: str = TOPIC, **how: Any) -> TopicRecovery:
    """Return the answer."""
    return kcheck.recover_topic(name, *arguments(nodes), **how)


def names(answer: TopicRecovery) -> list[str]:
    """Return the names of the refusals."""
    return [refusal.name for refusal in answer.refusals]


def test_the_directories_serve_again_and_undo_takes_it_back(nodes: Path, tmp_path: Path) -> None:
    """Epochs are 0, every CRC is as before, and the id is that of the topic now."""
    out = tmp_path / "out"
    answer = asked(nodes, out=out)
    assert names(answer) == []
    assert [plan.name for plan in answer.plans][:2] == ["plan-1-files.json", "plan-1-names.json"]
    before, id_now = state(nodes), (nodes / "broker-1" / "data1" / f"{TOPIC}-0" / "partition.metadata").read_text()
    for plan in answer.plans:
        apply((out / plan.name).read_bytes(), str(out / f"backup-{plan.broker_id}-{plan.kind}"))
    for number in (1, 2, 3):
        folder = nodes / f"broker-{number}" / "data1" / f"{TOPIC}-0"
        assert (folder / LOG).read_bytes() == (QUORUM / f"broker-{number}" / "data1" / f"{TOPIC}-0" / LOG).read_bytes()
        assert (folder / "partition.metadata").read_text() == id_now
        assert (folder / "leader-epoch-checkpoint").read_text() == "0\n1\n0 0\n"
        assert not [*folder.glob("*.index")]
        assert not (nodes / f"broker-{number}" / "data1" / OLD).exists()
    for plan in reversed(answer.plans):
        undo(str(out / f"backup-{plan.broker_id}-{plan.kind}"))
    assert before == state(nodes)


def test_the_screen_and_the_files(nodes: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = command("recover", "topic", TOPIC, *arguments(nodes), "--output-dir", str(out))
    assert done.code == 0
    assert "3 directories of voted are left, of 1 partition." in done.out
    assert "Batches get leader epoch 0." in done.out
    assert f"kcheck apply {out}/plan-1-files.json" in (out / "recovery.md").read_text()
    assert json.loads((out / "recovery.json").read_text())["schema"] == "kcheck.recovery-topic/1"
    assert asked(nodes, topic_id=OLD_ID).next_command == " ".join(
        ["kcheck recover topic", TOPIC, *arguments(nodes), "--topic-id", OLD_ID, "--output-dir DIR"]
    )


def test_what_is_refused(nodes: Path, tmp_path: Path) -> None:
    """Nothing is written then."""
    answer = asked(nodes, "gone", out=tmp_path / "out")
    assert (names(answer), answer.plans, answer.next_command) == (["no-directory"], (), None)
    assert not (tmp_path / "out").exists()
    path = nodes / "broker-1" / "data1" / OLD / LOG
    path.write_bytes(path.read_bytes()[:-3])
    assert "isr" in names(asked(nodes))
    for number in (1, 2, 3):
        path = nodes / f"broker-{number}" / "data1" / OLD / LOG
        data = bytearray(path.read_bytes())
        data[-1] ^= 1
        path.write_bytes(data)
    assert "damaged" in names(asked(nodes))


def test_disks_of_two_clusters_are_refused(nodes: Path) -> None:
    path = nodes / "broker-2" / "data1" / "meta.properties"
    path.write_text(path.read_text().replace("cluster.id=", "cluster.id=X"))
    answer = asked(nodes)
    assert names(answer) == ["two-clusters"]
    assert "Name the log dirs of one cluster." in answer.refusals[0].bring


def test_a_broker_that_runs_is_refused(nodes: Path) -> None:
    with locked(nodes / "broker-1" / "data1" / ".lock"):
        assert names(asked(nodes)) == ["running"]


def test_a_topic_without_its_directories_of_some_partitions_and_wrong_arguments(nodes: Path) -> None:
    assert command("recover", "topic", TOPIC).code == 2
    with pytest.raises(UsageError):
        kcheck.recover_topic(TOPIC, f"1={nodes}/broker-1/data1/{TOPIC}-0")


def test_directories_that_were_down_when_the_topic_was_created_again(nodes: Path, tmp_path: Path) -> None:
    """They have their own name and a former id; no name changes, and without the topic they are asked to be moved."""
    for number in (1, 2, 3):
        log_dir = nodes / f"broker-{number}" / "data1"
        shutil.rmtree(log_dir / f"{TOPIC}-0")
        (log_dir / OLD).rename(log_dir / f"{TOPIC}-0")
    before = state(nodes)
    answer = asked(nodes, out=tmp_path / "out")
    assert [(row.name, row.rewrites_epochs, row.present) for row in answer.adoptions] == [
        (f"{TOPIC}-0", True, None)
    ] * 3
    assert [plan.name for plan in answer.plans] == [f"plan-{number}-files.json" for number in (1, 2, 3)]
    for plan in answer.plans:
        apply((tmp_path / "out" / plan.name).read_bytes(), str(tmp_path / f"backup-{plan.name}"))
    folder = nodes / "broker-2" / "data1" / f"{TOPIC}-0"
    assert OLD_ID not in (folder / "partition.metadata").read_text()
    assert (folder / LOG).read_bytes() == (QUORUM / "broker-2" / "data1" / f"{TOPIC}-0" / LOG).read_bytes()
    assert names(asked(nodes)) == ["no-directory"]
    for plan in answer.plans:
        undo(str(tmp_path / f"backup-{plan.name}"))
    assert state(nodes) == before
    (folder / "partition.metadata").write_bytes(b"\xff")
    assert [row.broker_id for row in asked(nodes).topic.present] == [2]


def test_directories_of_a_topic_that_the_cluster_no_longer_has(nodes: Path) -> None:
    """A start would set them aside."""
    for number in (1, 2, 3):
        log_dir = nodes / f"broker-{number}" / "data1"
        shutil.rmtree(log_dir / f"{TOPIC}-0")
        (log_dir / OLD).rename(log_dir / "gone-0")
    answer = asked(nodes, "gone")
    assert names(answer) == ["no-topic"]
    assert "--create --topic gone --replica-assignment 1:2:3" in answer.refusals[0].bring
