"""`kcheck elect` and directories that somebody moved aside: they are candidates if they have the topic's id."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import kcheck
from tests.builders import Made, batch, broker, run, write
from tests.cli.command import kcheck as command
from tests.test_brokers import BROKERS

STRAYED = BROKERS.with_name("clusters") / "4.3.1" / "strayed"
STRAY = "orders-0.416d6519dd084b4d85a3093517ed0066-stray"
OPEN = {"producer": (9, 0), "attributes": 0x10}


@pytest.fixture
def brokers(tmp_path: Path) -> Path:
    """Return brokers of which broker 1 has a stray copy of orders-0: its last 15 records are in no replica."""
    shutil.copytree(STRAYED, tmp_path / "c")
    return tmp_path / "c"


def copies(brokers: Path, **how: Any) -> list[tuple[int, str, str, int]]:
    """Return the copies of orders-0 that no broker serves: broker, state, directory, records that nobody else has."""
    (partition,) = kcheck.elect(*(f"{number}={brokers}/broker-{number}" for number in (1, 2, 3)), **how).partitions
    return [
        (row.broker_id, str(row.state), row.dir or "", row.only_here.records or 0)
        for row in partition.candidates
        if row.only_here is not None
    ]


def test_a_stray_has_what_no_replica_has(brokers: Path) -> None:
    """As is said before all else."""
    assert copies(brokers) == [(1, "stray", STRAY, 15)]
    text = command("elect", *(f"{number}={brokers}/broker-{number}" for number in (1, 2, 3)), columns=400).out
    said = (
        f"Broker 1 has 15 records of orders-0 that no replica here has, in a directory that no broker serves: {STRAY}"
    )
    assert text.index(said) < text.index("Start broker 1 first")


def test_where_the_user_says(brokers: Path, tmp_path: Path) -> None:
    """A directory, one that holds such directories, or a partition directory that is in no log dir."""
    place = tmp_path / "elsewhere" / "orders-0"
    place.parent.mkdir()
    shutil.move(brokers / "broker-1" / "data1" / STRAY, place)
    assert copies(brokers) == []
    for named in (place, place.parent):
        assert copies(brokers, aside=[f"3={named}"]) == [(3, "aside", str(place), 15)]
    (partition,) = kcheck.elect(
        *(f"{number}={brokers}/broker-{number}" for number in (1, 2, 3)), f"1={place}"
    ).partitions
    assert [(row.broker_id, str(row.state)) for row in partition.candidates] == [
        (1, "current"), (2, "current"), (3, "current"), (1, "aside"),
    ]  # fmt: skip


def test_in_a_backup_of_kcheck(brokers: Path, tmp_path: Path) -> None:
    """Its plan says what the directory was; a plan that cannot be read says nothing, and one partition needs none."""
    backup = tmp_path / "backup"
    backup.mkdir()
    data = (brokers / "broker-1" / "data1").resolve()
    shutil.move(data / STRAY, backup / "0.before")
    nothing = {"sha256": "0" * 64, "size": 0}
    row = {"op": "set-aside", "path": f"{data}/orders-0", "directory": True, "before": nothing}
    document = {"schema": "kcheck.plan/1", "kafka": "4.3", "log_dirs": [str(data)], "operations": [row]}
    for plan in (json.dumps(document), "{"):
        (backup / "plan.json").write_text(plan, "utf-8")
        assert copies(brokers, aside=[f"1={backup}"]) == [(1, "aside", f"{backup}/0.before", 15)]


def test_what_is_no_copy(brokers: Path, tmp_path: Path) -> None:
    """Another topic's id, no readable id, no segment, or a partition that was not asked for."""
    place = brokers / "broker-1" / "orders-0.bak"
    shutil.move(brokers / "broker-1" / "data1" / STRAY, place)
    assert copies(brokers, partitions=kcheck.PartitionFilter(topics=("orders",))) == [(1, "aside", str(place), 15)]
    (place / "00000000000000000000.log").rename(tmp_path / "log")
    assert copies(brokers) == []
    (tmp_path / "log").rename(place / "00000000000000000000.log")
    for text in ("version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAA", "damaged"):
        (place / "partition.metadata").write_text(text, "utf-8")
        assert copies(brokers) == []


def test_without_metadata_the_ids_of_the_replicas_decide(tmp_path: Path) -> None:
    """The number is in the name then. What is below every log start is no loss, and an open transaction counts."""
    shared = run(0, 59)
    longer: list[Made] = [*shared, batch(60, 10, epoch=0, **OPEN)]
    broker(tmp_path / "1" / "d", shared, broker_id=1)
    broker(tmp_path / "2" / "d", shared, broker_id=2)
    for name in ("t-0.bak", "t-99999999999", "kept", "t-0.short"):
        broker(tmp_path / "made", shared if name == "t-0.short" else longer, broker_id=1)
        shutil.move(tmp_path / "made" / "t-0", tmp_path / "1" / name)
    write(tmp_path / "1" / "t-0.empty", {"partition.metadata": b""})
    (partition,) = kcheck.elect(f"1={tmp_path}/1/d", f"2={tmp_path}/2/d", kafka="4.3").partitions
    found = {Path(row.dir or "").name: row for row in partition.candidates if row.state == "aside"}
    assert {name: row.only_here and row.only_here[:2] for name, row in found.items()} == {
        "t-0.bak": (10, 0), "t-0.short": (0, 0),
    }  # fmt: skip
    assert found["t-0.bak"].open_transactions == 1


def test_beside_the_log_dirs_of_several_brokers_nobody_knows_whose_it_is(tmp_path: Path) -> None:
    """The user can say so."""
    for number in (1, 2):
        broker(tmp_path / f"d{number}", run(0, 59), broker_id=number)
    broker(tmp_path / "made", run(0, 99), broker_id=1)
    shutil.move(tmp_path / "made" / "t-0", tmp_path / "t-0.bak")
    shutil.rmtree(tmp_path / "made")
    named = [f"{number}={tmp_path}/d{number}" for number in (1, 2)]
    counts = [
        len(kcheck.elect(*named, kafka="4.3", aside=aside).partitions[0].candidates)
        for aside in ([], [f"1={tmp_path}/t-0.bak"])
    ]
    assert counts == [2, 3]


@pytest.mark.parametrize(
    ("aside", "words"),
    [("{}/t-0.bak", "write broker=path"), ("1={}/gone", "no such file or directory"), ("99999999999=x", "at most")],
)
def test_what_cannot_be_named(tmp_path: Path, aside: str, words: str) -> None:
    """Exit 2, with what is wrong."""
    broker(tmp_path / "d1", run(0, 59), broker_id=1)
    done = command("elect", f"1={tmp_path}/d1", "--aside", aside.format(tmp_path))
    assert done.code == 2
    assert words in " ".join(done.err.lower().split())
