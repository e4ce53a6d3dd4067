"""`kcheck recover metadata`: the plan from disks alone, its files, and what is refused; undo gives the bytes of before.

Real nodes of 4.3.1 left the directories: three brokers that are controllers too (fixtures/README.md).
"""

import json
import shutil
import tarfile
from pathlib import Path
from typing import Any

import pytest

import kcheck
from kcheck.core.rescue.made_ids import made_id
from kcheck.core.rescue.rebuild import records_of
from kcheck.disk.apply import apply, undo
from kcheck.disk.local import LOCAL
from kcheck.errors import UsageError
from kcheck.plans.recover_metadata import MetadataRecovery
from kcheck.records.raft_batch import snapshot
from kcheck.schemas.encode import metadata_record
from kcheck.views.metadata_copy import read_copy
from tests.cli.command import kcheck as command
from tests.disk.plans import state
from tests.oracle.scenes import FIXTURES
from tests.replicas.test_recover_quorum import locked

QUORUM = FIXTURES / "clusters" / "4.3.1" / "quorum"
METADATA = "__cluster_metadata-0"
TOPIC = "voted"


@pytest.fixture
def nodes(tmp_path: Path) -> Path:
    """Return the folder of the nodes."""
    return laid_out(tmp_path)


def laid_out(tmp_path: Path) -> Path:
    """Copy the disks of brokers 1 to 3 without metadata, and format the disk of controller 201."""
    shutil.copytree(QUORUM, tmp_path / "nodes")
    for path in [*(tmp_path / "nodes").rglob("server.properties")]:
        path.unlink()
    for path in [*(tmp_path / "nodes").rglob(METADATA)]:
        shutil.rmtree(path)
    former, new = tmp_path / "nodes" / "broker-1" / "data1", tmp_path / "nodes" / "broker-201" / "data1"
    new.mkdir(parents=True)
    shutil.copy(former / "bootstrap.checkpoint", new)
    text = (former / "meta.properties").read_text()
    (new / "meta.properties").write_text(text.replace("node.id=1", "node.id=201"))
    return tmp_path / "nodes"


def as_of_zookeeper(nodes: Path) -> None:
    """Let the disks of brokers 1 to 3 be those of ZooKeeper brokers that had no topic ids."""
    for number in (1, 2, 3):
        log_dir = nodes / f"broker-{number}" / "data1"
        cluster = next(line for line in (log_dir / "meta.properties").read_text().split() if "cluster.id" in line)
        (log_dir / "meta.properties").write_text(f"version=0\nbroker.id={number}\n{cluster}\n")
        (log_dir / f"{TOPIC}-0" / "partition.metadata").unlink()


def asked(nodes: Path, *numbers: int, **how: Any) -> MetadataRecovery:
    """Return the answer for some of the nodes."""
    return kcheck.recover_metadata(*(f"{number}={nodes}/broker-{number}" for number in numbers), **how)


def names(answer: MetadataRecovery) -> list[str]:
    """Return the names of the refusals."""
    return [refusal.name for refusal in answer.refusals]


def test_a_plan_gives_the_topic_back(nodes: Path, tmp_path: Path) -> None:
    """Its id, replicas and records; ISR is the best replica alone; applied, then undone."""
    answer = asked(nodes, 1, 2, 3, 201, out=tmp_path / "out")
    assert names(answer) == []
    assert [plan.node_id for plan in answer.plans] == [201]
    before = state(nodes)
    apply((tmp_path / "out" / "plan-201.json").read_bytes(), str(tmp_path / "backup"))
    image = read_copy(LOCAL, str(nodes / "broker-201" / "data1" / METADATA), 201).image
    part = image.topics[TOPIC].partitions[0]
    known = read_copy(LOCAL, str(QUORUM / "broker-1" / "data1" / METADATA), 1).image.topics[TOPIC]
    assert (image.topics[TOPIC].topic_id, part.replicas, part.isr) == (known.topic_id, (1, 2, 3), (1,))
    assert part.leader_epoch == 1 + max(held.epoch for held in answer.disks.partitions[TOPIC, 0].replicas)
    undo(str(tmp_path / "backup"))
    assert before == state(nodes)


def test_the_answers_that_are_written_give_the_same_plan(nodes: Path, tmp_path: Path) -> None:
    answer = asked(nodes, 1, 2, 3, 201, out=tmp_path / "out")
    again = asked(nodes, 1, 2, 3, 201, answers=tmp_path / "out" / "answers.json")
    assert answer.rebuild.topics[0].partitions == again.rebuild.topics[0].partitions
    assert answer.plans == again.plans
    assert again.rebuild.topics[0].assumed == ()
    assert again.next_command is not None
    assert "--answers" in again.next_command


def test_the_screen_and_the_files(nodes: Path, tmp_path: Path) -> None:
    """The runbook names the commands of the plan; the JSON document is that of the screen."""
    out = tmp_path / "out"
    paths = [f"{number}={nodes}/broker-{number}" for number in (1, 2, 3, 201)]
    done = command("recover", "metadata", *paths, "--output-dir", str(out))
    assert done.code == 0
    assert "1 topic with 1 partition comes back from the disks of brokers 1, 2 and 3." in done.out
    assert f"kcheck apply {out}/plan-201.json" in (out / "recovery.md").read_text()
    document = json.loads((out / "recovery.json").read_text())
    assert document["schema"] == "kcheck.recovery-metadata/1"
    assert document["snapshot"] == {"end_offset": 1000, "epoch": 100}


def test_an_old_disk_that_comes_back_later(nodes: Path) -> None:
    """The plan without its broker says what to ask before it starts."""
    steps = asked(nodes, 1, 3, 201, dead=[2]).steps
    (step,) = (step for step in steps if step.title.startswith("Before broker 2 starts with an old disk"))
    assert step.commands == (f"kcheck recover 2=PATH --metadata {nodes}/broker-201/data1",)


def test_old_copies_that_know_everything_are_better(nodes: Path) -> None:
    shutil.copytree(QUORUM / "broker-1" / "data1" / METADATA, nodes / "broker-1" / "data1" / METADATA)
    answer = asked(nodes, 1, 2, 3, 201)
    assert names(answer) == ["metadata-here"]
    forced = asked(nodes, 1, 2, 3, 201, force=True)
    assert [warning.name for warning in forced.warnings] == ["metadata-here"]
    copy = read_copy(LOCAL, str(nodes / "broker-1" / "data1" / METADATA), 1)
    assert forced.place == (copy.end + 1000, copy.epoch + 100)
    assert forced.next_command is not None
    assert forced.next_command.endswith("--force --output-dir DIR")


def test_disks_of_zookeeper_get_the_ids_of_kraft(nodes: Path, tmp_path: Path) -> None:
    """meta.properties of version 1, and partition.metadata where it is missing: else replicas are set aside."""
    as_of_zookeeper(nodes)
    answer = asked(nodes, 1, 2, 3, 201, out=tmp_path / "out", kafka="4.3")
    assert [plan.node_id for plan in answer.plans] == [201, 1, 2, 3]
    assert any("zookeeper.connect" in note for step in answer.steps for note in step.notes)
    for plan in answer.plans:
        apply((tmp_path / "out" / f"plan-{plan.node_id}.json").read_bytes(), str(tmp_path / f"backup-{plan.node_id}"))
    (topic,) = answer.rebuild.topics
    texts = {
        (nodes / f"broker-{number}" / "data1" / f"{TOPIC}-0" / "partition.metadata").read_text() for number in (1, 2)
    }
    assert texts == {f"version: 0\ntopic_id: {topic.topic_id}"}
    text = (nodes / "broker-2" / "data1" / "meta.properties").read_text()
    assert f"directory.id={topic.partitions[0].directories[1]}" in text
    assert "node.id=2" in text


def test_a_dynamic_controller_is_the_only_voter(nodes: Path) -> None:
    """Of three that kafka-storage.sh has named, or by its address."""
    answer = asked(nodes, 1, 2, 3, 201, voter="201@controller:9093")
    assert [(voter.voter_id, voter.endpoints) for voter in answer.voters] == [(201, ("CONTROLLER://controller:9093",))]
    assert any("controller.quorum.bootstrap.servers=controller:9093" in step.commands for step in answer.steps)
    assert answer.next_command is not None
    assert "--voter 201@controller:9093" in answer.next_command
    folder = nodes / "broker-201" / "data1" / METADATA
    folder.mkdir()
    (folder / f"{0:020}-{0:010}.checkpoint").write_bytes(snapshot([], 0, 0, answer.voters))
    assert asked(nodes, 1, 2, 3, 201).voters == answer.voters


def test_one_broker_for_reading(nodes: Path) -> None:
    answer = asked(nodes, 1, 201, standalone=True)
    assert names(answer) == []
    assert "Work with copies of the disks. This cluster is for reading." in answer.steps[0].notes


def test_a_missing_disk_and_a_used_controller_are_refused(nodes: Path, tmp_path: Path) -> None:
    """With the answers file alone."""
    shutil.move(nodes / "broker-1" / "data1" / f"{TOPIC}-0", nodes / "broker-1" / "data1" / f"{TOPIC}-1")
    shutil.copytree(QUORUM / "broker-1" / "data1" / METADATA, nodes / "broker-201" / "data1" / METADATA)
    done = asked(nodes, 1, 2, 3, 201, voter="201", out=tmp_path / "out")
    assert {"controller-not-empty", "fewer-replicas"} <= {*names(done)}
    assert done.plans == ()
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["answers.json"]
    assert done.next_command is None


def test_running_brokers_and_disks_of_two_clusters_are_refused(nodes: Path) -> None:
    with locked(nodes / "broker-2" / "data1" / ".lock"):
        assert names(asked(nodes, 1, 2, 3, 201)) == ["running"]
    path = nodes / "broker-2" / "data1" / "meta.properties"
    path.write_text(path.read_text().replace("cluster.id=", "cluster.id=X"))
    answer = asked(nodes, 1, 2, 3, 201)
    assert names(answer) == ["two-clusters"]
    assert "Name the log dirs of one cluster" in answer.refusals[0].bring


def test_nothing_to_recover_and_no_controller(nodes: Path) -> None:
    assert names(asked(nodes, 201)) == ["no-partitions"]
    assert names(asked(nodes, 1, 2, 3)) == ["no-controller"]
    (nodes / "broker-201" / "data1" / "bootstrap.checkpoint").unlink()
    assert names(asked(nodes, 1, 2, 3, 201)) == ["not-formatted"]


def test_left_over_directories_are_named(nodes: Path) -> None:
    log_dir = nodes / "broker-1" / "data1"
    shutil.copytree(log_dir / f"{TOPIC}-0", log_dir / f"gone-0.{'0' * 32}-delete")
    paths = [f"{number}={nodes}/broker-{number}" for number in (1, 2, 3, 201)]
    assert "Not served, and left as they are" in command("recover", "metadata", *paths).out


def test_answers_that_are_no_file_of_answers(nodes: Path, tmp_path: Path) -> None:
    (tmp_path / "answers.json").write_text("[")
    for path in (tmp_path / "answers.json", tmp_path / "none.json"):
        with pytest.raises(UsageError):
            asked(nodes, 1, 201, answers=path)
    assert command("recover", "metadata").code == 2


def test_cluster_answers_without_any_copy(nodes: Path) -> None:
    """It leads here; disks without partitions may be those of a new cluster."""
    arguments = [f"{number}={nodes}/broker-{number}" for number in (1, 2, 3)]
    line = f"kcheck recover metadata {' '.join(arguments)}"
    shown = command("cluster", *arguments, columns=500)
    assert (shown.code, shown.err) == (1, "")
    assert (
        "Start no node: empty controllers make every partition stray. If a controller or broker has a copy" in shown.out
    )
    assert shown.out.endswith(f"Next:\n  {line}\n")
    said = json.loads(command("cluster", *arguments, "--format", "json").out)
    assert (said["metadata"]["kind"], said["metadata"]["complete"], said["partitions"]) == ("none", False, [])
    assert command("cluster", *arguments, "--at", "1").code == command("cluster", f"{nodes}/broker-201").code == 2


def test_the_metadata_as_the_first_records_of_the_controller(nodes: Path, tmp_path: Path) -> None:
    """The same records in bootstrap.checkpoint, which kafka-storage.sh wrote; the controller starts first."""
    before = state(nodes)
    answer = asked(nodes, 1, 2, 3, 201, bootstrap=True, out=tmp_path / "out")
    assert names(answer) == []
    assert answer.to_dict()["snapshot"] is None
    titles = [step.title for step in answer.steps]
    assert titles.index("Start controller 201, alone") + 1 == titles.index("Start the brokers")
    apply((tmp_path / "out" / "plan-201.json").read_bytes(), str(tmp_path / "backup"))
    log_dir = nodes / "broker-201" / "data1"
    assert not (log_dir / METADATA).exists()
    values = [metadata_record(*row) for row in records_of(answer.rebuild, answer.disks)]
    assert (log_dir / "bootstrap.checkpoint").read_bytes() == snapshot(values, 0, answer.disks.timestamp)
    undo(str(tmp_path / "backup"))
    assert before == state(nodes)
    shutil.copytree(QUORUM / "broker-1" / "data1" / METADATA, nodes / "broker-1" / "data1" / METADATA)
    assert "old-copy" in names(asked(nodes, 1, 2, 3, 201, bootstrap=True, force=True))
    paths = [f"{number}={nodes}/broker-{number}" for number in (2, 3, 201)]
    shown = command("recover", "metadata", *paths, "--dead", "1", "--bootstrap")
    assert "Snapshot for the controller: bootstrap.checkpoint." in shown.out
    assert "--dead 1 --bootstrap --output-dir DIR" in shown.out


def test_brokers_of_old_releases_lose_the_votes_for_the_former_controllers(tmp_path: Path) -> None:
    """3.3.2 ends where quorum-state names others than the configuration; later releases do not compare them."""
    nodes = laid_out(tmp_path)
    for place in [Path(f"broker-{number}") / "data1" / METADATA for number in (1, 2, 3)]:
        shutil.copytree(QUORUM / place, nodes / place)
    changed = asked(nodes, 1, 2, 3, 201, voter="201", force=True, kafka="3.3").plans[1:]
    paths = [operation.path for plan in changed for operation in plan.plan.operations]
    assert paths == [str(nodes / f"broker-{number}" / "data1" / METADATA / "quorum-state") for number in (1, 2, 3)]
    assert [plan.node_id for plan in asked(nodes, 1, 2, 3, 201, voter="201", force=True).plans] == [201]


def test_topics_with_remote_records_keep_them(tmp_path: Path) -> None:
    """Real brokers with segments in a store, and no metadata left; a museum does not change the store."""
    with tarfile.open(FIXTURES / "tiered" / "empty-replica-elected-uncleanly.tar.xz") as tar:
        tar.extractall(tmp_path, filter="data")
    folder = tmp_path / "1-before"
    for path in folder.glob(f"*/{METADATA}"):
        shutil.rmtree(path)
    paths = [f"1={folder}/broker-1", f"2={folder}/broker-2", f"100={folder}/controller"]
    answer = kcheck.recover_metadata(*paths, voter="100")
    remote = {topic.name: topic.configs.get("remote.storage.enable") for topic in answer.rebuild.topics}
    assert {name for name, is_on in remote.items() if is_on == "true"} == {"empty", "uncl", "wipe"}
    assert {name for name, is_on in remote.items() if is_on == "false"} == {"__remote_log_metadata"}
    assert "remote storage: kcheck turns remote storage on" in " ".join(answer.sentences)
    museum = kcheck.recover_metadata(paths[0], paths[2], voter="100", standalone=True)
    assert "changes nothing there" in " ".join(museum.sentences)


def test_an_empty_zookeeper_gets_znodes(tmp_path: Path) -> None:
    """No file of a broker changes; the runbook, the lines for zookeeper-shell.sh and the answers are written."""
    paths = of_zookeeper(tmp_path)
    before = state(tmp_path / "nodes")
    shown = command(
        "recover", "metadata", *paths, "--zookeeper", "--kafka", "2.8", "--output-dir", str(tmp_path / "out")
    )
    assert shown.code == 0
    assert "52 znodes for an empty ZooKeeper. No file changes." in shown.out
    assert f"Next:\n  zookeeper-shell.sh HOST:2181 < {tmp_path}/out/znodes.txt" in shown.out
    written = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert written == ["answers.json", "recovery.json", "recovery.md", "znodes.txt"]
    lines = (tmp_path / "out" / "znodes.txt").read_text().splitlines()
    assert len(lines) == 52
    assert state(tmp_path / "nodes") == before
    line = f"kcheck recover {tmp_path}/out --next {' '.join(paths)} --metadata ZOOKEEPER_DATA_DIR"
    assert line in (tmp_path / "out" / "recovery.md").read_text()
    answer = kcheck.recover_metadata(*paths, zookeeper=True, kafka="2.8")
    assert answer.next_command == f"kcheck recover metadata {' '.join(paths)} --zookeeper --output-dir DIR"
    assert [topic.configs["cleanup.policy"] for topic in answer.rebuild.topics[:2]] == ["compact", "compact"]


def test_a_partition_without_a_disk_is_offline_in_zookeeper_too(tmp_path: Path) -> None:
    paths = of_zookeeper(tmp_path)
    for path in (tmp_path / "nodes").glob("broker-*/data*/plain-0"):
        shutil.rmtree(path)
    answer = kcheck.recover_metadata(*paths, zookeeper=True, kafka="2.8", dead=[9])
    rows = dict(answer.znodes)
    assert json.loads(rows["/brokers/topics/plain"])["partitions"]["0"] == [9]
    assert any("stay offline" in note for step in answer.steps for note in step.notes)


def of_zookeeper(tmp_path: Path) -> list[str]:
    """Copy the disks of three brokers of 2.8.2 that were killed; return how a command names them."""
    shutil.copytree(FIXTURES / "brokers" / "2.8.2" / "killed", tmp_path / "nodes")
    return [f"{number}={tmp_path}/nodes/broker-{number}" for number in (1, 2, 3)]


def test_disks_of_kraft_get_no_znodes(nodes: Path) -> None:
    assert names(asked(nodes, 1, 2, 3, zookeeper=True)) == ["kraft-disks"]


def torn(tmp_path: Path, *, size: int) -> list[str]:
    """Return a combined node of 4.3.1 whose metadata is one torn snapshot, beside a new controller."""
    folder = tmp_path / "nodes" / "broker-1"
    shutil.copytree(FIXTURES / "brokers" / "4.3.1" / "coordinators" / "broker-1", folder)
    metadata = folder / "data1" / METADATA
    for path in metadata.iterdir():
        if path.name != f"{86:020}-{1:010}.checkpoint":
            path.unlink()
    (newest,) = metadata.iterdir()
    newest.write_bytes(newest.read_bytes()[:size])
    new = tmp_path / "nodes" / "broker-201" / "data1"
    new.mkdir(parents=True)
    shutil.copy(folder / "data1" / "bootstrap.checkpoint", new)
    text = (folder / "data1" / "meta.properties").read_text()
    (new / "meta.properties").write_text(text.replace("node.id=1", "node.id=201"))
    return [f"{number}={tmp_path}/nodes/broker-{number}" for number in (1, 201)]


def test_what_is_left_of_a_torn_snapshot_counts(tmp_path: Path) -> None:
    """Its topics have their settings, and no other setting is assumed to be absent. The broker loses the file."""
    paths = torn(tmp_path, size=2000)
    refused = kcheck.recover_quorum(*paths)
    assert "and the rest of this copy" in " ".join(refusal.bring for refusal in refused.refusals)
    answer = kcheck.recover_metadata(*paths, out=tmp_path / "out")
    assert names(answer) == []
    said = "A part of that copy is missing (00000000000000000086-0000000001.checkpoint: the snapshot is incomplete)."
    assert said in " ".join(answer.sentences)
    known = {topic.name: dict(topic.configs) for topic in answer.rebuild.topics}
    assert known["orders"]["retention.ms"] == "-1"
    assert [plan.node_id for plan in answer.plans] == [201, 1]
    apply((tmp_path / "out" / "plan-1.json").read_bytes(), str(tmp_path / "backup"))
    assert [*(tmp_path / "nodes" / "broker-1" / "data1" / METADATA).iterdir()] == []


def test_the_configuration_of_a_deleted_topic_goes_with_it(tmp_path: Path) -> None:
    """One of its name that was created again has its own."""
    folder = tmp_path / "nodes" / "broker-1" / "data1"
    paths = torn(tmp_path, size=5000)
    (folder / METADATA / f"{86:020}-{1:010}.checkpoint").unlink()
    topics = [(1, made_id("first")), (2, made_id("second"))]
    records: list[tuple[str, dict[str, Any]]] = []
    for _, topic_id in topics:
        records.append(("TopicRecord", {"name": "orders", "topicId": topic_id}))
    config = {"resourceType": 2, "resourceName": "orders", "name": "retention.ms", "value": "7"}
    records[1:1] = [("ConfigRecord", config), ("RemoveTopicRecord", {"topicId": topics[0][1]})]
    values = [metadata_record(name, 0, data) for name, data in records]
    (folder / METADATA / f"{50:020}-{1:010}.checkpoint").write_bytes(snapshot(values, 1, 0))
    for path in folder.glob("orders-*"):
        (path / "partition.metadata").write_text(f"version: 0\ntopic_id: {topics[1][1]}")
    answer = kcheck.recover_metadata(*paths)
    assert {topic.name: dict(topic.configs) for topic in answer.rebuild.topics}["orders"] == {}
