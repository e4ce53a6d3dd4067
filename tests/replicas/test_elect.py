"""What `kcheck elect` answers about directories."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.builders import Made, broker, run
from tests.cli.command import document, kcheck
from tests.oracle.scenes import FIXTURES

BROKERS = Path(__file__).parents[2] / "fixtures" / "brokers" / "4.3.1" / "diverged"

pytestmark = pytest.mark.usefixtures("in_folder")


def test_log_dirs_without_partitions_and_metadata_prove_nothing(tmp_path: Path) -> None:
    """Every volume of every broker may be lost: the meta.properties of real brokers alone."""
    paths = []
    for number in (1, 2):
        meta = BROKERS / f"broker-{number}" / "data1" / "meta.properties"
        (tmp_path / f"{number}" / "data1").mkdir(parents=True)
        (tmp_path / f"{number}" / "data1" / meta.name).write_bytes(meta.read_bytes())
        paths.append(f"{number}={tmp_path}/{number}/data1")
    ended = kcheck("elect", *paths)
    assert (ended.code, "the partitions of the cluster are not known" in ended.out.replace("\n", " ")) == (1, True)
    assert "No partition loses records" not in ended.out
    assert {row["lost"]["records"] for row in document("elect", *paths)["scenarios"]} == {None}
    page = kcheck("elect", *paths, "--format", "html").out
    assert ("Ways to go on" in page, "No partition loses records" in page) == (True, False)


def test_a_raised_log_start_without_epochs_is_not_safe(tmp_path: Path) -> None:
    """Logs of 0.10.2, with a checkpoint as 0.11 and later write it; the leader makes the other replica delete."""
    old = BROKERS.parents[1] / "0.10.2.2" / "diverged"
    paths = []
    for number in (1, 2):
        shutil.copytree(old / f"broker-{number}", tmp_path / str(number))
        paths.append(f"{number}={tmp_path}/{number}")
    asked = ("elect", *paths, "--kafka", "2.8")
    assert "P320" not in {row["id"] for row in document(*asked)["premises"]}
    (log_dir,) = (path.parent for path in (tmp_path / "2").glob("**/diverged-0"))
    (log_dir / "log-start-offset-checkpoint").write_text("0\n1\ndiverged 0 5\n")
    (row,) = (row for row in document(*asked)["premises"] if row["id"] == "P320")
    assert (row["status"], row["broker_id"]) == ("not-seen", 2)
    assert "Not counted: broker 2: diverged-0 begins at 5 here, at 0 on broker 1." in document(*asked)["verdict"]
    assert kcheck(*asked).code == 1


def _elected(*arguments: str) -> dict[str, Any]:
    (partition,) = document("elect", *arguments)["partitions"]
    return dict(partition)


CLUSTERS = [
    path
    for folder in ("brokers", "clusters")
    for path in sorted((BROKERS.parents[2] / folder).glob("*/*"))
    if len([*path.glob("broker-*")]) > 1
]


@pytest.mark.parametrize("path", CLUSTERS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_truncation_and_elect_name_the_same_best_leader(path: Path) -> None:
    """Of every partition that real brokers left behind; what they lose under each leader is the same, too."""
    brokers = [f"{broker.name.removeprefix('broker-')}={broker}" for broker in sorted(path.glob("broker-*"))]
    plans = {
        (row["topic"], row["partition"], row["leader"]): (row["is_best"], row["lost"])
        for row in document("truncation", *brokers)["partitions"]
    }
    candidates = {
        (row["topic"], row["partition"], candidate["broker_id"]): (
            candidate["broker_id"] == row["best"], candidate["lost"],
        )
        for row in document("elect", *brokers)["partitions"]
        for candidate in row["candidates"]
        if candidate["lost"] is not None and candidate["state"] == "current"
    }  # fmt: skip
    if path.name == "strayed":  # elect counts the records of a copy that no broker serves, too.
        plans, candidates = ({key: best for key, (best, _) in rows.items()} for rows in (plans, candidates))
    assert {key: plans[key] for key in candidates if key in plans} == {
        key: value for key, value in candidates.items() if key in plans
    }
    assert plans.keys() >= candidates.keys() or path.name == "outlived"


TABLE = {
    ("4.3.1", "emptied-0"): [(1, 9, 9), (2, 17, 0)],
    ("4.3.1", "diverged-0"): [(1, 18, 18), (2, 17, 0)],
    ("4.3.1", "behind-0"): [(1, 15, 15), (2, 0, 0)],
    ("0.10.2.2", "diverged-0"): [(1, 18, 18), (2, 17, 0)],
    ("0.10.2.2", "emptied-0"): [(1, 9, 9), (2, 17, 0)],
}
"""What each leader loses, and how much of it was committed."""


@pytest.mark.parametrize(("release", "partition"), TABLE)
def test_what_only_another_replica_calls_committed_is_not(release: str, partition: str) -> None:
    """A record below the high watermark of a replica that does not have it was not committed. Broker 2 is best.

    In 0.10.2 broker 2 keeps 50 to 66 beside the other records of its leader: no consumer sees them any more.
    """
    folder = BROKERS.parents[1] / release / "diverged"
    brokers = [f"{number}={folder / f'broker-{number}'}" for number in (1, 2)]
    row = _elected(*brokers, "--partition", partition)
    costs = [(c["broker_id"], c["lost"]["records"], c["lost"]["committed"]) for c in row["candidates"]]
    plans = document("truncation", *brokers, "--partition", partition)["partitions"]
    planned = [(plan["leader"], plan["lost"]["records"], plan["lost"]["committed"]) for plan in plans]
    assert (sorted(costs), planned, row["best"]) == (TABLE[release, partition],) * 2 + (2,)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ("1=d1", "2=d2", "--dead", "2"),
            "--dead 2: broker 2 is among the paths; name only the others, as BROKER=PATH",
        ),
        (("1=d1", "--dead", "-1"), "--dead -1"),
        (("1=d1/t-0/leader-epoch-checkpoint",), "leader-epoch-checkpoint"),
        # Its plan.md once said that a folder has all lost records, which had those of this topic alone.
        (
            ("1=d1", "2=d2", "--topic", "t", "--save-lost", "saved", "--output-dir", "plan"),
            "leave out --topic and --partition, or run kcheck recover BROKER=PATH... --output-dir plan",
        ),
    ],
)
def test_what_cannot_be_asked_is_a_usage_error(diverged: list[str], arguments: tuple[str, ...], words: str) -> None:
    """Exit 2, with what is wrong."""
    assert diverged
    done = kcheck("elect", *arguments)
    assert done.code == 2
    assert words in " ".join(done.err.split())


def test_the_disk_of_another_broker(diverged: list[str]) -> None:
    """Swapped disks are an answer: neither broker starts."""
    assert diverged
    done = kcheck("elect", "2=d1", "1=d2")
    assert done.code == 1
    assert "broker 2 holds 1 replica and does not start: meta.properties says broker 1" in " ".join(done.out.split())
    assert "No broker here starts." in " ".join(done.out.split())
    assert kcheck("check", "2=d1", "1=d2").code == 1


def test_a_loss_of_committed_records_that_may_be_fails(diverged: list[str]) -> None:
    """Batches of one epoch that differ, and that nobody can read. One broker alone loses nothing."""
    assert [row["lost"]["committed"] for row in _elected(*diverged)["candidates"]] == [10, 30]
    for number, epoch in ((3, 2), (4, 1)):
        batches = [*run(0, 59), *run(60, 89, epoch=epoch, count=5)]
        broker(Path(f"d{number}"), batches, broker_id=number, epoch_entries=[(0, 0), (epoch, 60)], high_watermark=70)
    brokers = [*diverged, "3=d3", "4=d4"]
    assert [row["lost"]["committed"] for row in _elected(*brokers)["candidates"]] == [None] * 4
    assert kcheck("elect", *brokers).code == 1
    assert kcheck("elect", diverged[0]).code == 1  # No disk here has the metadata.


def test_what_a_start_takes_is_compared_with_what_others_have() -> None:
    """A damaged batch beside batches of another epoch that end later; then one that the other broker has as well."""
    torn = _damaged([*run(0, 59), *run(60, 69, epoch=2)])
    broker(Path("d1"), torn, broker_id=1, epoch_entries=[(0, 0), (2, 60)], clean=False, recovery_point=0)
    broker(Path("d2"), [*run(0, 59), *run(60, 99, epoch=1)], broker_id=2, epoch_entries=[(0, 0), (1, 60)])
    assert [row["lost"]["records"] for row in _elected("1=d1", "2=d2")["candidates"]] == [50, 10]
    broker(Path("d2"), [*run(0, 59), *run(60, 99, epoch=2)], broker_id=2, epoch_entries=[(0, 0), (2, 60)])
    assert [row["lost"]["records"] for row in _elected("1=d1", "2=d2")["candidates"]] == [40, 0]


def _damaged(batches: list[Made]) -> list[Made]:
    """Return batches, the last of which has a wrong byte."""
    *whole, last = batches
    data = bytearray(last.data)
    data[-1] ^= 0xFF
    return [*whole, replace(last, data=bytes(data))]


def test_a_cut_inside_of_a_batch_takes_the_whole_batch() -> None:
    """Without epochs the follower truncates to the log end of its leader; records below it go with their batch."""
    broker(Path("d1"), [*run(0, 59), *run(60, 64, epoch=2)], broker_id=1, epoch_entries=[(0, 0), (2, 60)])
    broker(Path("d2"), [*run(0, 59), *run(60, 99, epoch=1)], broker_id=2, epoch_entries=[], high_watermark=65)
    candidate = _elected("1=d1", "2=d2")["candidates"][0]
    (follower,) = candidate["followers"]
    assert (follower["truncate_to"], follower["cut"]["base_offset"], follower["lost"]["from"]) == (65, 60, 60)
    assert candidate["lost"]["records"] == 40


BOTH = "process.roles=broker,controller"


@pytest.mark.parametrize(
    ("lines", "named", "elected"),
    [
        (f"unclean.leader.election.enable=true\n{BOTH}", True, 2),
        ("unclean.leader.election.enable=true", False, 2),
        ("unclean.leader.election.enable=true\nprocess.roles=broker", True, None),
        (f"unclean.leader.election.enable=false\n{BOTH}", True, None),
        (f"min.insync.replicas=2\n{BOTH}", True, None),
    ],
)
def test_what_the_file_of_a_controller_says(lines: str, named: bool, elected: int | None) -> None:
    """Where the metadata say nothing, its static configuration decides; among the paths, or by --config."""
    outrun = BROKERS.parents[2] / "clusters" / "4.3.1" / "outrun"
    path = Path("server.properties")
    path.write_text(f"log.dirs={outrun}/broker-2/data1\nnode.id=2\n{lines}\n", "utf-8")
    two = f"2={path}" if named else f"2={outrun}/broker-2"
    said = document("elect", two, f"3={outrun}/broker-3", "--dead", "1", *(() if named else ("--config", str(path))))
    assert [row["offline_partitions"] for row in said["scenarios"][:1]] == [0 if elected else 1]
    assert said["verdict"].startswith("Start broker 2 first.")


def test_every_leader_is_listed() -> None:
    """With --all, also where nothing is lost."""
    brokers = [str(FIXTURES / "brokers" / "4.3.1" / "diverged" / f"broker-{number}") for number in (1, 2)]
    few, every = (kcheck("elect", *brokers, *more, columns=200).out for more in ((), ("--all",)))
    names = ("behind-0", "diverged-0", "emptied-0")
    assert [every.count(f"\n{name}") for name in names] == [1, 1, 1]
    alone = kcheck("elect", brokers[1], "--all", columns=200).out
    assert all(f"\n{name}" in alone for name in names)
    assert len(few) <= len(every)
