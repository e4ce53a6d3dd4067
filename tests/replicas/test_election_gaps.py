"""`kcheck elect` where a disk, a directory or a broker is missing, and what else it says of each candidate.

Real brokers left the directories. Of orders-0 they have 35, 30 and 20 records, and broker 1 led last.
"""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import kcheck
from kcheck.replicas.elect import ElectionQuestion
from kcheck.replicas.elect import elect as elect_as_it_lies
from tests.builders import log_dir, partition_dir, run
from tests.cli.command import kcheck as command
from tests.docs import incidents

FIXTURES = Path(__file__).parents[2] / "fixtures"
OUTRUN = FIXTURES / "clusters" / "4.3.1" / "outrun"


@pytest.fixture
def killed(tmp_path: Path) -> Path:
    """Return three brokers that were killed; broker 1 has two log dirs."""
    shutil.copytree(FIXTURES / "brokers" / "4.3.1" / "killed", tmp_path, dirs_exist_ok=True)
    return tmp_path


def answer(folder: Path, topic: str, *brokers: int, **how: Any) -> dict[str, Any]:
    """Return the JSON document about one topic."""
    paths = [f"{number}={folder}/broker-{number}" for number in brokers or (1, 2, 3)]
    return kcheck.elect(*paths, partitions=kcheck.PartitionFilter(topics=(topic,)), **how).to_dict()


def candidates(said: dict[str, Any]) -> dict[int, dict[str, Any]]:
    """Return the candidates of the only partition, by broker."""
    (partition,) = said["partitions"]
    return {row["broker_id"]: row for row in partition["candidates"]}


def test_a_missing_directory_is_an_empty_log(killed: Path) -> None:
    """It can lead; then all records are lost, and a group has read further than its log goes."""
    shutil.rmtree(killed / "broker-2" / "data1" / "plain-0")
    said = answer(killed, "plain")
    rows = candidates({"partitions": said["partitions"][:1]})
    assert (rows[2]["state"], rows[2]["problem"], rows[2]["log_end_offset"]) == ("missing", None, 0)
    assert (rows[2]["lost"]["records"], rows[2]["groups_beyond"]) == (40, 1)
    assert (rows[1]["lost"]["records"], rows[1]["groups_beyond"]) == (0, 0)
    assert said["partitions"][0]["best"] == 1


def test_groups_beyond_logs_that_all_end_alike(killed: Path) -> None:
    """After a power loss no replica has what a group has read: who leads does not matter, the group does."""
    for broker, data in ((1, "data2"), (2, "data1")):
        log = killed / f"broker-{broker}" / data / "plain-0" / f"{0:020}.log"
        log.write_bytes(b"")
    said = answer(killed, "plain")
    partition = said["partitions"][0]
    assert {(row["log_end_offset"], row["groups_beyond"]) for row in partition["candidates"]} == {(0, 1)}
    brokers = [f"{number}={killed}/broker-{number}" for number in (1, 2, 3)]
    shown = command("elect", *brokers, "--topic", "plain").out
    assert "beyond the log end of the best leader of plain-0:" in " ".join(shown.split())
    command("elect", *brokers, "--output-dir", str(killed / "plan"))
    assert ",plain,0,0\n" in (killed / "plan" / "reset-offsets.csv").read_text("utf-8")


def test_a_broker_that_aborts_leads_nothing(tmp_path: Path) -> None:
    """It is a gap of the picture and in no order of starts; its files are read all the same. No plan moves a link."""
    shutil.copytree(OUTRUN, tmp_path, dirs_exist_ok=True)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "broker-1" / "data1" / "no partition").symlink_to(elsewhere)
    said = answer(tmp_path, "orders")
    assert said["start_order"] == [2, 3]
    (gap,) = said["gaps"]
    assert (gap["broker_id"], gap["replicas"]) == (1, 1)
    rows = candidates(said)
    assert rows[1]["problem"] == f"the broker does not start: {gap['why']}"
    assert (rows[1]["lost"], rows[1]["clean"]) == (None, None)
    # The broker may start after all: an unclean election of broker 2 would give up its records.
    assert (said["partitions"][0]["best"], said["partitions"][0]["kafka_elects"]["unclean"]) == (None, 2)
    shown = command("elect", *(f"{number}={tmp_path}/broker-{number}" for number in (1, 2, 3)))
    assert "broker 1 holds 1 replica and does not start: " in " ".join(shown.out.split())
    for number in (2, 3):
        (tmp_path / f"broker-{number}" / "data1" / "no partition").symlink_to(elsewhere)
    said = answer(tmp_path, "orders")
    assert (said["start_order"], said["partitions"][0]["best"]) == ([], None)
    assert "is not counted. Otherwise: No broker here starts. 1 partition has no" in said["verdict"]


def test_replicas_of_an_offline_log_dir_cannot_lead(killed: Path) -> None:
    """Those of the other log dir can; the broker starts. A repair comes first where there is one."""
    (killed / "broker-1" / "data2" / "recovery-point-offset-checkpoint").write_text("x\n")
    paths = [f"{number}={killed}/broker-{number}" for number in (1, 2, 3)]
    only, release = kcheck.PartitionFilter(topics=("codecs",)), kcheck.release(paths=paths)
    said = elect_as_it_lies(paths, ElectionQuestion(), wanted=only, release=release).to_dict()
    assert said["start_order"] == [1, 2, 3]
    assert candidates(said)[1]["problem"].startswith("its log dir goes offline: recovery-point-offset-checkpoint")
    assert said["partitions"][0]["best"] == 2
    assert candidates(answer(killed, "segments"))[1]["problem"] is None
    repaired = answer(killed, "codecs")
    assert [row["broker_id"] for row in repaired["repairs"]] == [1]
    assert candidates(repaired)[1]["problem"] is None


def test_nothing_is_recommended_where_a_replica_is_not_known() -> None:
    """Unless it is given up, or somebody insists."""
    said = answer(OUTRUN, "orders", 2, 3)
    (partition,) = said["partitions"]
    assert (partition["best"], partition["unknown_replicas"]) == (None, [1])
    assert "Bring the log dirs of broker 1, or give it up with --dead." in said["verdict"]
    assert said["gaps"] == [{"broker_id": 1, "replicas": 1, "why": None}]
    assert answer(OUTRUN, "orders", 2, 3, incomplete_ok=True)["partitions"][0]["best"] == 2
    dead = answer(OUTRUN, "orders", 2, 3, dead=[1])
    assert (dead["partitions"][0]["best"], dead["gaps"][0]["why"]) == (2, "given up")
    brokers = [f"{number}={OUTRUN}/broker-{number}" for number in (2, 3)]
    assert [command("elect", *brokers, *more).code for more in ((), ("--incomplete-ok",), ("--dead", "1"))] == [1, 0, 0]


def test_a_stray_is_a_candidate_that_no_start_brings(tmp_path: Path) -> None:
    """It has 15 records that no replica has: whoever leads, they are lost; Kafka elects a replica."""
    incidents.stray_replica(tmp_path)
    (partition,) = answer(tmp_path, "orders")["partitions"]
    stray, *others = [row for row in partition["candidates"] if row["state"] == "stray"]
    assert (others, stray["broker_id"], stray["clean"], stray["log_end_offset"]) == ([], 1, None, 35)
    assert (stray["dir"].startswith("orders-0."), stray["lost"]["records"], stray["problem"]) == (True, 4, None)
    assert partition["kafka_elects"] == {"clean": 1, "unclean": 1}
    best = next(row for row in partition["candidates"] if row["broker_id"] == partition["best"])
    assert (best["state"], best["lost"]["records"]) == ("current", 15)


def test_transactions_of_each_candidate(killed: Path) -> None:
    """Both have one that is open; a log that lost its end has not, and cuts what the other one committed there."""
    rows = candidates(answer(killed, "transactions"))
    assert {number: row["open_transactions"] for number, row in rows.items()} == {1: 1, 2: 1}
    log = killed / "broker-2" / "data1" / "transactions-0" / "00000000000000000000.log"
    log.write_bytes(log.read_bytes()[:100])
    rows = candidates(answer(killed, "transactions"))
    assert (rows[2]["log_end_offset"], rows[2]["open_transactions"]) == (0, 0)
    assert rows[2]["cut_transactions"] == {"committed": 2, "markers": 0}
    assert rows[1]["open_transactions"] == 1


@pytest.mark.parametrize(("dead", "elected"), [((), (2, 2)), ((2,), (None, 1))])
def test_the_seats_of_zookeeper(tmp_path: Path, dead: tuple[int, ...], elected: tuple[int | None, int]) -> None:
    """By an export of the state of a partition: broker 2 led it, and was alone in sync."""
    state = '{"controller_epoch":1,"leader":2,"version":1,"leader_epoch":9,"isr":[2]}'
    topic = '{"version":1,"partitions":{"0":[1,2]}}'
    znodes = {"/brokers/topics/diverged": topic, "/brokers/topics/diverged/partitions/0/state": state}
    (tmp_path / "export.json").write_text(json.dumps(znodes), "utf-8")
    brokers = [number for number in (1, 2) if number not in dead]
    folder = FIXTURES / "brokers" / "1.1.1" / "diverged"
    said = answer(folder, "diverged", *brokers, dead=dead, metadata=[tmp_path / "export.json"])
    (partition,) = said["partitions"]
    assert (said["controller"], partition["isr"], partition["elr"]) == ("zookeeper", [2], [])
    assert tuple(partition["kafka_elects"].values()) == elected
    assert {row["broker_id"]: row["clean"] for row in partition["candidates"]} == {
        number: number == 2 for number in brokers
    }


@pytest.mark.parametrize("marks", ["znodes", "describe"])
def test_a_topic_that_zookeeper_is_deleting(tmp_path: Path, marks: str) -> None:
    """No controller elects a leader of it, and the tool is refused: it has no election, and is told apart."""
    described = "\tTopic: diverged\tPartition: 0\tLeader: none\tReplicas: 1,2\tIsr: 2\tMarkedForDeletion: true\n"
    described = f"Topic:diverged\tPartitionCount:1\tReplicationFactor:2\tMarkedForDeletion:true\n{described}"
    state = '{"controller_epoch":1,"leader":2,"version":1,"leader_epoch":9,"isr":[2]}'
    znodes = {
        "/brokers/topics/diverged": '{"version":1,"partitions":{"0":[1,2]}}',
        "/brokers/topics/diverged/partitions/0/state": state,
        "/admin/delete_topics/diverged": "",
    }
    metadata = tmp_path / "metadata"
    metadata.write_text(json.dumps(znodes) if marks == "znodes" else described, "utf-8")
    folder = FIXTURES / "brokers" / "1.1.1" / "diverged"
    brokers = [f"{number}={folder / f'broker-{number}' / 'data1'}" for number in (1, 2)]
    said = kcheck.recover(*brokers, metadata=[metadata], kafka="1.1", dead=[])
    assert "diverged" not in {row.topic for row in said.election.of_cluster}
    assert "records of a topic that is being deleted (diverged-0): they go once all of its replicas are online" in (
        " ".join(said.sentences) + said.election.verdict
    )
    assert not said.election.is_safe


@pytest.mark.parametrize(("kafka", "exits"), [("1.1", True), ("2.0.0", True), ("2.0.1", False), ("2.3", False)])
def test_the_plan_says_where_a_follower_would_exit(tmp_path: Path, kafka: str, exits: bool) -> None:
    """If unclean elections are off again too early."""
    described = "\tTopic: diverged\tPartition: 0\tLeader: -1\tReplicas: 1,2\tIsr: 2\n"
    (tmp_path / "describe.txt").write_text(f"Topic:diverged\tPartitionCount:1\tReplicationFactor:2\n{described}")
    broker = f"1={FIXTURES}/brokers/1.1.1/diverged/broker-1"
    kcheck.elect(broker, kafka=kafka, dead=[2], metadata=[tmp_path / "describe.txt"], out=tmp_path / "plan")
    plan = (tmp_path / "plan" / "plan.md").read_text()
    assert "then forbid it again" in plan
    assert ("A broker of this release exits if its log is longer" in plan) is exits


def middle_gone(tmp_path: Path, **checkpoints: dict[str, int]) -> list[str]:
    """Return two brokers of 2.8 with 60 records; broker 2 has lost the second of three segments."""
    paths = []
    for number in (1, 2):
        offsets = {"high_watermark": {"t-0": 60}, "recovery_point": {"t-0": 60}}
        path = log_dir(tmp_path / f"b{number}", broker_id=number, **offsets, **checkpoints)
        partition_dir(path / "t-0", [run(0, 19), run(20, 39), run(40, 59)], index_every=None)
        paths.append(f"{number}={path}")
    (tmp_path / "b2" / "t-0" / f"{20:020}.log").unlink()
    return paths


def test_a_loss_that_no_election_counts_is_open_whatever_partitions_are_shown(tmp_path: Path) -> None:
    """The verdict named it under a filter, while the answer was about the shown partitions alone."""
    paths = middle_gone(tmp_path)
    for number in (1, 2):
        partition_dir(tmp_path / f"b{number}" / "u-0", [run(0, 19)], index_every=None)
    head = "Topic:{0}\tPartitionCount:1\tReplicationFactor:2\n"
    row = f"{head}\tTopic: {{0}}\tPartition: 0\tLeader: 2\tReplicas: 2,1\tIsr: 2,1\n"
    (tmp_path / "describe.txt").write_text(row.format("t") + row.format("u"))
    (tmp_path / "server.properties").write_text("auto.leader.rebalance.enable=false\n")
    how = {"metadata": [tmp_path / "describe.txt"], "config": tmp_path / "server.properties", "kafka": "2.8"}
    shown = kcheck.elect(*paths, partitions=kcheck.PartitionFilter(topics=("u",)), **how)
    assert ("P305", "t-0") in {(row.id, row.partition) for row in shown.uncounted}
    assert kcheck.elect(*paths, **how).uncounted == shown.uncounted


def test_a_leader_without_a_middle_segment(tmp_path: Path) -> None:
    """Consumers skip what it lacks, whoever else has it: as leader it loses that, as follower nothing."""
    paths = middle_gone(tmp_path)
    (said,) = kcheck.elect(*paths, kafka="2.8").to_dict()["partitions"]
    rows = candidates({"partitions": [said]})
    assert {number: row["lost"]["records"] for number, row in rows.items()} == {1: 0, 2: 20}
    assert (said["best"], rows[2]["loses_no_more_than"]) == (1, [])
    (plan,) = kcheck.truncation(*paths, kafka="2.8", leader="2").to_dict()["partitions"]
    assert plan["lost"]["committed"] == 20


def test_a_compacted_log_has_gaps(tmp_path: Path) -> None:
    (said,) = kcheck.elect(*middle_gone(tmp_path, cleaner={"t-0": 40}), kafka="2.8").to_dict()["partitions"]
    assert {row["lost"]["records"] for row in said["candidates"]} == {0}
