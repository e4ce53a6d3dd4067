"""`kcheck elect --from RUN`: what it says of a partition is what `kcheck elect` says on the directories."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kcheck.core.releases.releases import release
from kcheck.errors import KcheckError, UsageError
from kcheck.fleet.runs.elect import RunElection, elect_run
from kcheck.fleet.runs.recover import recover_run
from kcheck.model.report import PartitionFilter
from kcheck.plans.recovery_output import with_election_plan
from kcheck.replicas.elect import ElectionQuestion, elect
from tests.cli.command import kcheck
from tests.fleet.scan.test_cluster_metadata import CLUSTERS as KRAFT
from tests.fleet.scan.test_cluster_metadata import FIXTURES, named, of_cluster, sample
from tests.fleet.scan.test_local_engine import scanned
from tests.fleets import forged

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")

CLUSTERS = sorted(
    path for pattern in ("clusters/*/*", "brokers/*/*") for path in FIXTURES.glob(pattern) if path.is_dir()
)
DIVERGED, KILLED = (FIXTURES / "brokers" / "4.3.1" / name for name in ("diverged", "killed"))
CONTENT = ("open_transactions", "cut_transactions", "groups_beyond", "only_here")
"""What only batches say: a run never does."""


def document(answer: Any) -> dict[str, Any]:
    """Return an answer as JSON shows it."""
    return dict(json.loads(json.dumps(answer.to_dict())))


def from_run(out: Path, question: ElectionQuestion | None = None, **how: Any) -> RunElection:
    """Return the answer for the run in a directory."""
    asked = question or ElectionQuestion()
    return elect_run(str(out), how.get("cluster"), asked, wanted=how.get("wanted", PartitionFilter()))


def without_content(partition: dict[str, Any]) -> dict[str, Any]:
    """Return a partition without what only batches say."""
    candidates = [
        {name: value for name, value in row.items() if name not in (*CONTENT, *AMOUNTS, "followers")}
        for row in partition["candidates"]
    ]
    return {**partition, "candidates": candidates}


def amounts(partition: dict[str, Any]) -> Iterator[tuple[object, Any]]:
    """Yield what each candidate of a partition costs."""
    for number, candidate in enumerate(partition["candidates"]):
        for name in AMOUNTS:
            for field, value in (candidate[name] or {}).items():
                if not field.endswith("at_most"):
                    yield (partition["topic"], partition["partition"], number, name, field), value


NO_MORE = "loses_no_more_than"
AMOUNTS, PLANNED = ("lost", "lost_in_the_end", "refetch"), ("best", "planned", "lost_planned", "start_all")
WITHOUT_EPOCHS = {"0.10.2"}
"""There only batches show that two logs are the same, and what a follower keeps beside its leader."""


def hold_equal(expected: dict[str, Any], answer: dict[str, Any], kafka: str = "4.3") -> bool:
    """Hold two answers equal, and return whether the run knew everything that costs are compared by."""
    for name in ("controller", "gaps", "running_in_metadata"):
        assert expected[name] == answer[name]
    known = {key: value for row in expected["partitions"] for key, value in amounts(row)}
    said = {key: value for row in answer["partitions"] for key, value in amounts(row)}
    assert known.keys() == said.keys()
    if kafka not in WITHOUT_EPOCHS:
        assert {key: known[key] for key, value in said.items() if value is not None} == {
            key: value for key, value in said.items() if value is not None
        }
    for one, other in zip(expected["partitions"], answer["partitions"], strict=True):
        whole = None not in dict(amounts(other)).values()
        left_out = {} if whole else dict.fromkeys(PLANNED)
        ours, theirs = ({**without_content(row), **left_out} for row in (one, other))
        for candidate, own in zip(ours["candidates"], theirs["candidates"], strict=True):
            assert own.pop("remote_lost") in (None, candidate.pop("remote_lost"))
            no_more, known_so = candidate.pop(NO_MORE), own.pop(NO_MORE)
            assert known_so == no_more or (set(known_so) < set(no_more) and kafka in WITHOUT_EPOCHS)
        assert ours == theirs
        assert all(candidate[name] is None for candidate in other["candidates"] for name in CONTENT)
    if None in said.values():
        return False
    assert [expected[name] for name in DECIDED] == [answer[name] for name in DECIDED]
    return True


DECIDED = ("start_order", "start_order_proven", "verdict", "scenarios")


@pytest.mark.sample(8)
@pytest.mark.parametrize("path", sample(CLUSTERS), ids=named)
def test_a_run_answers_as_the_directories_do(path: Path, tmp_path: Path) -> None:
    """With everything read, in all but what only batches say; what it says of amounts is right, or not known.

    They are not known of logs that part in batches without epochs, of a leader that begins with an empty log, and of
    a copy that no broker serves.
    """
    arguments, kafka = of_cluster(path)
    scanned(tmp_path, path / "{broker}" / "{log_dir}", kafka=kafka, depth="crc")
    expected = document(elect(arguments, ElectionQuestion(), wanted=PartitionFilter(), release=release(kafka)))
    knows = hold_equal(expected, document(from_run(tmp_path / "out")), kafka)
    assert knows == (named(path) not in UNKNOWN)


UNKNOWN = {
    "0.10.2.2-diverged", "0.11.0.3-diverged", "0.11.0.3-twice", "1.1.1-diverged", "1.1.1-twice", "4.3.1-outlived",
    "4.3.1-strayed",
}  # fmt: skip


@pytest.mark.sample(4)
@pytest.mark.parametrize("path", sample(KRAFT), ids=named)
def test_what_the_scan_has_not_read_is_not_known(path: Path, tmp_path: Path) -> None:
    """The tails of the logs say where they end after a clean stop, not how many records are lost; nothing is wrong.

    Whom Kafka elects is known: it looks at no log.
    """
    arguments, kafka = of_cluster(path)
    scanned(tmp_path, path / "{broker}" / "{log_dir}", kafka=kafka)
    expected = document(elect(arguments, ElectionQuestion(), wanted=PartitionFilter(), release=release(kafka)))
    answer = document(from_run(tmp_path / "out"))
    known = {key: value for row in expected["partitions"] for key, value in amounts(row)}
    said = {key: value for row in answer["partitions"] for key, value in amounts(row)}
    assert all(value in (None, known.get(key)) for key, value in said.items())
    assert [row["kafka_elects"] for row in expected["partitions"]] == [
        row["kafka_elects"] for row in answer["partitions"]
    ]
    assert expected["gaps"] == answer["gaps"]


def test_a_log_that_a_start_reads_through_cannot_lead(tmp_path: Path) -> None:
    """It is said how many these are, and how to know more."""
    scanned(tmp_path, KILLED / "{broker}" / "{log_dir}")
    answer = from_run(tmp_path / "out")
    assert answer.unread > 0
    assert not answer.is_safe
    done = kcheck("elect", "--from", tmp_path / "out")
    said = " ".join(done.out.split())
    assert (1, True) == (done.code, "Scan with --depth crc" in said)
    assert "A run has no batches, so transactions" in said


def test_a_run_that_does_not_show_the_losses_has_no_plan(tmp_path: Path) -> None:
    """No order is named and no file written: `recover --from` says the same, with the command that reads the disks."""
    scanned(tmp_path, KILLED / "{broker}" / "{log_dir}")
    (decision,) = recover_run(str(tmp_path / "out"), None, ElectionQuestion()).clusters
    (step,) = decision.steps
    shown = kcheck("elect", "--from", tmp_path / "out")
    assert f"Start no broker yet. {step.title}." in " ".join(shown.out.split())
    assert not {"any other order", "start broker", "no record is lost"} & {*shown.out.lower().split(". ")}
    assert shown.out.split("Next:\n")[1].split() == decision.command.split()
    refused = kcheck("elect", "--from", tmp_path / "out", "--output-dir", tmp_path / "plan")
    assert (2, False) == (refused.code, (tmp_path / "plan").exists())
    assert f"--output-dir: the run has no plan. {step.title}: {decision.command}" in " ".join(refused.err.split())
    scanned(tmp_path, KILLED / "{broker}" / "{log_dir}", depth="crc", name="s")
    planned = kcheck("elect", "--from", tmp_path / "out" / "run=s", "--output-dir", tmp_path / "plan")
    assert planned.code in (0, 1)
    assert "No record is lost" in (tmp_path / "plan" / "plan.md").read_text()


def test_brokers_that_are_dead_or_not_there(tmp_path: Path) -> None:
    """As of the directories of the others."""
    (tmp_path / "some").mkdir()
    (tmp_path / "some" / "broker-2").symlink_to(DIVERGED / "broker-2")
    scanned(tmp_path, DIVERGED / "broker-2", depth="crc")
    arguments = [str(DIVERGED / "broker-2")]
    for question in (ElectionQuestion(dead=(1,)), ElectionQuestion(incomplete_ok=True), ElectionQuestion()):
        expected = document(elect(arguments, question, wanted=PartitionFilter(), release=release("4.3")))
        assert hold_equal(expected, document(from_run(tmp_path / "out", question)))
    with pytest.raises(UsageError, match="--dead 2: the run has broker 2"):
        from_run(tmp_path / "out", ElectionQuestion(dead=(2,)))


def test_one_cluster_of_several_is_named(tmp_path: Path) -> None:
    scanned(tmp_path, DIVERGED.parent / "{cluster}" / "{broker}" / "{log_dir}", depth="crc")
    arguments, kafka = of_cluster(DIVERGED)
    expected = document(elect(arguments, ElectionQuestion(), wanted=PartitionFilter(), release=release(kafka)))
    assert hold_equal(expected, document(from_run(tmp_path / "out", cluster="diverged")))
    with pytest.raises(UsageError, match="has 7 clusters; choose a --cluster: coordinators, diverged, killed"):
        from_run(tmp_path / "out")
    with pytest.raises(UsageError, match=r"--cluster none: .* has coordinators"):
        from_run(tmp_path / "out", cluster="none")
    wanted = PartitionFilter(partitions=("diverged-0",))
    (partition,) = from_run(tmp_path / "out", cluster="diverged", wanted=wanted).partitions
    assert "diverged" == partition.topic


def test_a_name_of_two_clusters_is_refused(tmp_path: Path) -> None:
    """Nobody knows which of them is meant."""
    names = tmp_path / "names.csv"
    lines = [f"{path},all,{number}" for number, path in enumerate(sorted(DIVERGED.parent.glob("*/broker-1/data1")))]
    names.write_text("\n".join(("log_dir,cluster,broker", *lines)) + "\n")
    scanned(tmp_path / "named", names)
    with pytest.raises(UsageError, match="all names several clusters: "):
        from_run(tmp_path / "named" / "out")


def test_only_the_worst_of_many_are_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kcheck.fleet.runs.elections.SHOWN_MAX", 1)
    scanned(tmp_path, DIVERGED / "{broker}" / "{log_dir}", depth="crc")
    answer = from_run(tmp_path / "out")
    assert ["diverged"] == [row.topic for row in answer.partitions]
    assert (2, 3) == (answer.left_out, answer.partition_count)
    done = kcheck("elect", "--from", tmp_path / "out", "--all")
    assert "Next: kcheck elect --from" in " ".join(done.out.split())


@pytest.mark.parametrize(("scene", "dead"), [("outrun", (1,)), ("outrun", ())])
def test_the_plan_of_a_run_is_that_of_the_directories(scene: str, dead: tuple[int, ...], tmp_path: Path) -> None:
    """The files for Kafka's tools are the same; so are the steps for verify."""
    path = FIXTURES / "clusters" / "4.3.1" / scene
    data = tmp_path / "data"
    data.mkdir()
    for broker in path.glob("broker-*"):
        if int(broker.name[-1]) not in dead:
            shutil.copytree(broker, data / broker.name)
    scanned(tmp_path, data / "{broker}" / "{log_dir}", depth="crc")
    arguments = [f"{broker.name[-1]}={broker}" for broker in sorted(data.iterdir())]
    question = ElectionQuestion(dead=dead)
    expected = elect(arguments, question, wanted=PartitionFilter(), release=release("4.3"))
    planned = with_election_plan(expected, str(tmp_path / "expected")).written
    done = elect_run(str(tmp_path / "out"), None, question, wanted=PartitionFilter(), out=str(tmp_path / "plan"))
    assert document(done)["written"] == [*done.written]
    theirs, ours = ({Path(name).name: Path(name).read_text() for name in names} for names in (planned, done.written))
    assert theirs.keys() == ours.keys()
    mine, other = (json.loads(files["election-plan.json"]) for files in (ours, theirs))
    assert {**mine, "paths": []} == {**other, "paths": []}
    for name in theirs.keys() - {"election-plan.json", "plan.json", "plan.md"}:
        assert theirs[name] == ours[name]
    assert "consumer groups" in ours["plan.md"]
    assert f"kcheck verify {tmp_path}/plan {mine['paths'][0]} " in ours["plan.md"]
    assert [f"{text}/data1" for text in arguments] == mine["paths"]


@pytest.mark.parametrize("scene", ["strayed", "outlived"])
def test_a_run_has_no_plan_for_copies_that_no_broker_serves(scene: str, tmp_path: Path) -> None:
    """Only their batches show what they alone have."""
    scanned(tmp_path, FIXTURES / "clusters" / "4.3.1" / scene / "{broker}" / "{log_dir}", depth="crc")
    asked, out = ElectionQuestion(), str(tmp_path / "plan")
    with pytest.raises(UsageError, match=r"the run has no plan\. Plan by the disks, because the run does not show"):
        elect_run(str(tmp_path / "out"), None, asked, wanted=PartitionFilter(), out=out)
    assert not (tmp_path / "plan").exists()


def test_a_plan_needs_metadata_and_saved_records_need_logs(tmp_path: Path) -> None:
    """Both are refused in one line that says what to do instead."""
    forged(tmp_path, log_dirs=[{"cluster": "c", "broker": "1", "broker_id": 1, "log_dir": "/d", "mode": "kraft"}],
           replicas=[{"cluster": "c", "topic": "t", "partition": 0, "broker_id": 1, "broker": "1", "log_dir": "/d",
                      "dir": "t-0", "state": "current"}])  # fmt: skip
    of_one = kcheck("elect", "--from", tmp_path, "--topic", "t", "--output-dir", tmp_path / "plan")
    assert (2, True) == (of_one.code, "leave out --topic and --partition" in " ".join(of_one.err.split()))
    done = kcheck("elect", "--from", tmp_path, "--output-dir", tmp_path / "plan")
    assert (2, True) == (done.code, "scan a log dir with __cluster_metadata-0 too" in " ".join(done.err.split()))
    assert not (tmp_path / "plan").exists()
    done = kcheck("elect", "--from", tmp_path, "--save-lost", tmp_path / "lost")
    said = " ".join(done.err.split())
    assert (2, True) == (done.code, said.endswith("where these log dirs are: broker 1 /d"))


def test_tables_that_are_damaged_or_missing_are_refused(tmp_path: Path) -> None:
    """In one line: by an older kcheck, or with values that nobody wrote."""
    log_dirs = [{"cluster": "c", "broker": "1", "broker_id": 1, "log_dir": "/d", "mode": "kraft"}]
    metadata = {"cluster": "c", "cluster_id": "i", "features": "{}", "configs": "[]"}
    placed = {"cluster": "c", "topic": "t", "partition": 0}
    replica = {**placed, "broker_id": 1, "broker": "1", "log_dir": "/d", "dir": "t-0", "state": "current"}
    damaged: dict[str, dict[str, Any]] = {
        "a": {"clusters": [{**metadata, "configs": "x"}]},
        "b": {"replicas": [{**replica, "cached_epochs": "[1]"}]},
        "c": {"clusters": [metadata], "cluster_partitions": [{**placed, "replicas": "7"}]},
    }
    for name, tables in damaged.items():
        forged(tmp_path / name, log_dirs=log_dirs, **tables)
        with pytest.raises(KcheckError, match="invalid"):
            from_run(tmp_path / name)
    forged(tmp_path / "d", log_dirs=log_dirs)
    manifest = tmp_path / "d" / "run=r" / "_manifest.json"
    told = json.loads(manifest.read_text())
    del told["tables"]["replicas"]
    manifest.write_text(json.dumps(told))
    with pytest.raises(UsageError, match="no table replicas: an older kcheck wrote it"):
        from_run(tmp_path / "d")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--from", "x", "1=y"), "BROKER=PATH does not go with --from"),
        (("--from", "x", "--metadata", "y"), "--metadata does not go with --from"),
        (("--cluster", "x", "1=y"), "--from RUN is missing; for example: kcheck elect"),
        ((), "BROKER=PATH... is missing; for example: kcheck elect"),
    ],
)
def test_what_goes_not_with_a_run_is_refused(arguments: tuple[str, ...], said: str) -> None:
    done = kcheck("elect", *arguments)
    assert (2, True) == (done.code, said in " ".join(done.err.split()))


def test_all_clusters_are_decided_in_order(tmp_path: Path) -> None:
    """Without --cluster: each as alone, the worst first, and the brokers that each does not survive."""
    scanned(tmp_path, DIVERGED.parent / "{cluster}" / "{broker}" / "{log_dir}", depth="crc")
    done = kcheck("elect", "--from", tmp_path / "out", "--format", "json")
    answer = json.loads(done.out)
    assert (1, ["diverged", "twice"]) == (done.code, [row["cluster"] for row in answer["clusters"]][:2])
    assert 7 == len(answer["clusters"])
    for row in answer["clusters"]:
        alone = document(from_run(tmp_path / "out", cluster=row["cluster"]))
        assert {name: alone[name] for name in row.keys() - {"cluster", "kafka", "safe"}} == {
            name: value for name, value in row.items() if name not in ("cluster", "kafka", "safe")
        }
        brokers = [loss["broker_id"] for loss in row["broker_losses"]]
        assert sorted(row["start_order"]) == brokers
    said = " ".join(kcheck("elect", "--from", tmp_path / "out").out.split())
    assert "elections of 7 clusters, the worst first" in said
    assert "cluster diverged, Kafka 4.3 (KRaft) Start broker 2 first" in said
    page = kcheck("elect", "--from", tmp_path / "out", "--format", "html")
    assert (2, "kcheck: --format html is for one cluster; name it with --cluster\n") == (page.code, page.err)
    for option in (("--dead", "9"), ("--output-dir", tmp_path / "plan")):
        refused = kcheck("elect", "--from", tmp_path / "out", *option)
        assert (2, True) == (refused.code, "has 7 clusters; choose a --cluster:" in " ".join(refused.err.split()))


def test_brokers_of_no_cluster_are_refused_among_others(tmp_path: Path) -> None:
    """Nobody could name them."""
    row = {"broker": "1", "broker_id": 1, "mode": "kraft"}
    forged(tmp_path, log_dirs=[{**row, "cluster": "c", "log_dir": "/d"}, {**row, "cluster": None, "log_dir": "/e"}])
    done = kcheck("elect", "--from", tmp_path)
    assert (2, True) == (done.code, "has brokers of no cluster" in " ".join(done.err.split()))


def test_a_replica_in_sync_without_committed_records_is_listed(tmp_path: Path) -> None:
    """It would be elected cleanly, and lose them."""
    path = tmp_path / "data"
    shutil.copytree(FIXTURES / "clusters" / "4.3.1" / "quorum", path)
    (path / "broker-2" / "data1" / "voted-0" / "00000000000000000000.log").write_bytes(b"")
    scanned(tmp_path, path / "{broker}" / "{log_dir}", depth="crc")
    answer = json.loads(kcheck("elect", "--from", tmp_path / "out", "--format", "json").out)
    row = {"topic": "voted", "partition": 0, "broker_id": 2, "log_end_offset": 0, "high_watermark": 5}
    assert ([row], 1) == (answer["lacking"], answer["lacking_count"])
    said = " ".join(kcheck("elect", "--from", tmp_path / "out").out.split())
    assert "1 replica in the ISR without all committed records" in said
