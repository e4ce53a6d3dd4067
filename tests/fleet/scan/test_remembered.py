"""A scan since another one: its rows are those of a scan of everything, but only what changed is looked at."""

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kcheck.core.releases.releases import release
from kcheck.disk.output import publish
from kcheck.errors import KcheckError, UsageError
from kcheck.fleet import run_output as fleet_output
from kcheck.fleet.scan import remembered as fleet_memory
from kcheck.fleet.scan import steps as fleet_stages
from kcheck.fleet.scan.identify import ScanOptions
from kcheck.fleet.scan.local_engine import ScanRun, scan
from kcheck.fleet.scan.remembered import FOLDER, aside, kept_by, left_by
from kcheck.model.depth import Depth
from kcheck.model.report import PartitionFilter
from kcheck.model.unreadable import UnreadableError
from kcheck.survey.rule_runner import check_partition
from tests.builders import flip_byte, log_dir, partition_dir, run
from tests.fleet.scan.test_local_engine import BROKERS, LAYOUT, Rows, tables

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
"""The test runner has threads where kcheck has none."""


class Fleet:
    """A fleet on a disk, and the runs over it; `carried` tells how many directories the last one did not look at."""

    def __init__(self, root: Path, out: Path) -> None:
        self.root, self.out = root, out
        self.carried: Any = None
        self.count = 0

    def scan(self, name: str, since: str | None = None, *, depth: str = "headers", kafka: str = "4.3") -> Rows:
        """Return the rows of a run that remembers; its own row is that of no other."""
        how = ScanOptions(Depth(depth), PartitionFilter(), release(kafka), since, remembers=True)
        asked = ScanRun(
            name, str(self.out), how, jobs=1, seconds=60, now=lambda: 0, shown=lambda *_: True, fails=lambda *_: False,
            tell=lambda _: None,
        )  # fmt: skip
        report, _ = scan([str(self.root / LAYOUT)], asked)
        self.carried = report.body.get("carried_over")
        found = tables(self.out / f"run={name}")
        del found["runs"]
        return found

    def since(self, name: str, **how: Any) -> Rows:
        """Return the rows of a run since another one, and hold that they are those of a scan of everything.

        What the run lacks of an earlier one is not compared: it depends on the earlier run.
        """
        self.count += 1
        found = self.scan(f"since{self.count}", kept_by(str(self.out / f"run={name}")), **how)
        carried = self.carried
        assert without_lost(self.scan(f"all{self.count}", **how)) == without_lost(found)
        assert self.carried is None
        self.carried = carried
        return found


@pytest.fixture
def fleet(tmp_path: Path) -> Fleet:
    """Copy real brokers: 4 brokers with 8 directories, without the metadata, which know unclean elections of each."""
    for name in ("diverged", "twice"):
        shutil.copytree(BROKERS / "4.3.1" / name, tmp_path / "fleet" / name, ignore=lambda *_: ["__cluster_metadata-0"])
    return Fleet(tmp_path / "fleet", tmp_path / "out")


def without_lost(rows: Rows) -> Rows:
    return {**rows, "findings": [row for row in rows["findings"] if row["id"] != "KC505"]}


def count(rows: Rows) -> int:
    return len(rows["partitions"])


@pytest.mark.sample(2)
@pytest.mark.parametrize("depth", ["checkpoints", "headers", "records"])
def test_what_did_not_change_is_not_looked_at(depth: str, fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything that was found in it is there again; also since a run that carried it over itself."""
    before = fleet.scan("a", depth=depth)
    assert fleet.since("a", depth=depth) == before
    assert count(before) == fleet.carried == 8

    def refuse(*_: object) -> Any:
        raise AssertionError("it is looked at")

    monkeypatch.setattr(fleet_stages, "try_partition", refuse)
    assert before == fleet.scan("b", kept_by(str(fleet.out / "run=since1")), depth=depth)
    assert count(before) == fleet.carried


def test_what_names_the_end_of_the_metadata_is_looked_at(fleet: Fleet) -> None:
    """As a finding about an unclean election does; of 4 brokers the logs of the metadata are carried over."""
    for name in ("diverged", "twice"):
        shutil.copytree(BROKERS / "4.3.1" / name, fleet.root / name, dirs_exist_ok=True)
    before = fleet.scan("a")
    assert {row["dir"] for row in before["findings"] if row["id"] == "KC254"} == {
        "behind-0", "diverged-0", "emptied-0", "twice-0"
    }  # fmt: skip
    assert fleet.since("a") == before
    assert (count(before), fleet.carried) == (12, 4)


def kept(fleet: Fleet, name: str) -> dict[str, tuple[int, bytes]]:
    """Return the files that a run keeps, each with its number on the disk."""
    folder = fleet.out / f"run={name}" / FOLDER
    return {str(file.relative_to(folder)): (file.stat().st_ino, file.read_bytes()) for file in folder.glob("*/*")}


def test_what_is_kept_of_a_log_dir_that_is_the_same_is_kept_as_it_is(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the same file, or as a copy where the disk links none; of a log dir that changed it is written again."""
    monkeypatch.setattr(fleet_memory, "_KEPT_COUNT", 2)
    before = fleet.scan("a")
    folder = kept_by(str(fleet.out / "run=a"))
    assert before == fleet.scan("b", folder)
    assert kept(fleet, "a") == kept(fleet, "b")
    with monkeypatch.context() as patched:
        patched.setattr(os, "link", lambda *_: os.stat("/nowhere"))
        assert before == fleet.scan("c", folder)
    first, copies = kept(fleet, "a"), kept(fleet, "c")
    assert {name: content for name, (_, content) in first.items()} == {
        name: content for name, (_, content) in copies.items()
    }
    assert not {number for number, _ in first.values()} & {number for number, _ in copies.values()}
    touch(fleet.root / "diverged" / "broker-1" / "data1" / "diverged-0")
    fleet.since("c")
    assert len(first) - 1 == len({*copies.values()} & {*kept(fleet, "since1").values()})


def test_a_file_that_goes_meanwhile_costs_a_look(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run has its rows all the same; the next one knows less."""
    before = fleet.scan("a")

    def gone(path: str, to: str) -> None:
        raise UnreadableError(f"{path} is gone, {to} is not written")

    with monkeypatch.context() as patched:
        patched.setattr(fleet_memory, "have_same", gone)
        assert before == fleet.scan("b", kept_by(str(fleet.out / "run=a")))
    assert count(before) == fleet.carried
    fleet.since("b")
    assert 0 == fleet.carried


def grow(path: Path) -> None:
    partition_dir(path, [run(1000, 1009)])


def touch(path: Path) -> None:
    os.utime(next(path.glob("*.log")), ns=(0, 1))


def harm(path: Path) -> None:
    file = path / "leader-epoch-checkpoint"
    flip_byte(file, 0)


def drop(path: Path) -> None:
    next(path.glob("*.index")).unlink()


def move(path: Path) -> None:
    path.rename(path.with_name("moved-0"))


def swap(path: Path) -> None:
    (path / "00000000000000000000.log.swap").touch()


@pytest.mark.sample(3)
@pytest.mark.parametrize(("change", "looked_at"), [(grow, 1), (touch, 1), (harm, 1), (drop, 1), (move, 1), (swap, 1)])
def test_a_directory_that_changed_is_looked_at(change: Callable[[Path], None], looked_at: int, fleet: Fleet) -> None:
    """It alone, whatever changed in it; the replicas of its partition are compared anew."""
    fleet.scan("a")
    change(fleet.root / "diverged" / "broker-1" / "data1" / "diverged-0")
    assert count(fleet.since("a")) - looked_at == fleet.carried


def test_what_a_log_dir_says_of_a_directory_is_part_of_it(fleet: Fleet) -> None:
    """An entry of a checkpoint concerns one directory, the mark of a clean stop all of them."""
    before = fleet.scan("a")
    data = fleet.root / "diverged" / "broker-1" / "data1"
    path = data / "replication-offset-checkpoint"
    lines = path.read_text().splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("diverged 0 "))
    lines[at] = "diverged 0 3"
    path.write_text("\n".join(lines) + "\n")
    rows = fleet.since("a")
    assert count(rows) - 1 == fleet.carried
    assert 3 in {row["high_watermark"] for row in rows["partitions"] if row["topic"] == "diverged"}
    (data / ".kafka_cleanshutdown").touch()
    fleet.since("a")
    assert fleet.carried == sum(not row["log_dir"].startswith(str(data.parent)) for row in before["partitions"])


def test_directories_that_come_and_go_are_told(fleet: Fleet) -> None:
    """As are log dirs."""
    fleet.scan("a")
    data = fleet.root / "diverged" / "broker-1" / "data1"
    shutil.rmtree(data / "behind-0")
    partition_dir(data / "aaa-0", [run(0, 9)])
    partition_dir(data / "zzz-0", [run(0, 9)])
    log_dir(fleet.root / "diverged" / "broker-9" / "data1", broker_id=9)
    shutil.rmtree(fleet.root / "twice" / "broker-1")
    rows = fleet.since("a")
    assert count(rows) - 2 == fleet.carried
    assert {"aaa-0", "zzz-0"} <= {row["dir"] for row in rows["partitions"]}


def test_any_history_gives_the_rows_of_a_scan_of_everything(fleet: Fleet) -> None:
    """Changes at random, each run since the one before."""
    chance = random.Random(7)
    fleet.scan("since0")
    for number in range(2):
        directories = sorted(path.parent for path in fleet.root.glob("*/*/*/*/leader-epoch-checkpoint"))
        for path in chance.sample(directories, 3):
            chance.choice((grow, touch, harm))(path)
        fleet.since(f"since{number}")
        assert 0 < fleet.carried < len(directories) + 4


@pytest.mark.sample(1)
@pytest.mark.parametrize("changes", [{"depth": "crc"}, {"kafka": "2.8"}])
def test_another_look_looks_at_everything(changes: dict[str, str], fleet: Fleet) -> None:
    fleet.scan("a")
    fleet.since("a", **changes)
    assert 0 == fleet.carried


def test_what_could_not_be_looked_at_is_not_remembered(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is tried again."""

    def refuse(view: Any, kafka: Any) -> Any:
        assert view.topic != "diverged"
        return check_partition(view, kafka)

    with monkeypatch.context() as patched:
        patched.setattr(fleet_stages, "check_partition", refuse)
        rows = fleet.scan("a")
    assert 2 == sum(row["id"] == "KC000" for row in rows["findings"])
    rows = fleet.since("a")
    assert (0, count(rows) - 2) == (sum(row["id"] == "KC000" for row in rows["findings"]), fleet.carried)


def test_damage_of_what_is_remembered_costs_a_look(fleet: Fleet) -> None:
    """Whatever stands there, no row is wrong."""
    before = fleet.scan("a")
    files = sorted((fleet.out / "run=a" / FOLDER).glob("*/*"))
    assert len(files) == len({row["log_dir"] for row in before["partitions"]}) > 3
    contents = [files[0].read_bytes()[:-9], b"", b"PAR1" * 9]
    for file, content in zip(files, contents, strict=False):
        file.write_bytes(content)
    flip_byte(files[3], 200)
    fleet.since("a")
    lost = [len({row["dir"] for row in before["partitions"] if row["log_dir"] == each}) for each in
            sorted({row["log_dir"] for row in before["partitions"]})]  # fmt: skip
    assert 0 <= fleet.carried <= sum(lost) - 4


def test_many_rows_are_kept_in_pieces(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fleet_memory, "_HELD_SIZE", 1)
    before = fleet.scan("a")
    fleet.since("a")
    assert count(before) == fleet.carried


def stopped(fleet: Fleet, monkeypatch: pytest.MonkeyPatch, name: str = "r") -> None:
    """Have a run refused by its disk when everything was looked at."""

    def refuse(path: str, data: bytes) -> None:
        raise OSError(28, "No space left on device", path, data)

    with monkeypatch.context() as patched:
        patched.setattr(fleet_output, "publish", refuse)
        with pytest.raises(KcheckError, match="No space left"):
            fleet.scan(name)


def test_a_run_that_was_stopped_goes_on(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is none until then, but what it had looked at is kept under a hidden name, and gone when it is whole."""
    stopped(fleet, monkeypatch)
    assert [".run=r"] == [path.name for path in fleet.out.iterdir()]
    folder = left_by(str(fleet.out), "r")
    rows = fleet.scan("r", folder)
    assert count(rows) == fleet.carried
    assert rows == fleet.scan("all")
    assert ["run=all", "run=r"] == sorted(path.name for path in fleet.out.iterdir())
    with pytest.raises(UsageError, match="run=r is complete"):
        left_by(str(fleet.out), "r")


def test_a_run_that_was_killed_goes_on(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its directory is there without a manifest; log dirs that it had not finished are looked at."""
    stopped(fleet, monkeypatch)
    dead = fleet.out / ".unfinished=r"
    (fleet.out / ".run=r").rename(fleet.out / "kept")
    (dead / "findings").mkdir(parents=True)
    (dead / FOLDER).mkdir()
    for number, file in enumerate(sorted((fleet.out / "kept").glob("*/*"))):
        (dead / FOLDER / file.parent.name).mkdir()
        copy = dead / FOLDER / file.parent.name / file.name
        copy.write_bytes(file.read_bytes() if number % 2 else file.read_bytes()[:100])
    shutil.rmtree(fleet.out / "kept")
    rows = fleet.scan("r", left_by(str(fleet.out), "r"))
    assert 0 < fleet.carried < count(rows)
    assert rows == fleet.scan("all")


def test_stopped_twice_it_knows_what_both_knew(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    stopped(fleet, monkeypatch)
    folder = Path(left_by(str(fleet.out), "r"))
    some = sorted(folder.glob("*/*"))
    some[0].unlink()
    monkeypatch.setattr(fleet_output, "publish", publish)
    stopped(fleet, monkeypatch)
    assert some == sorted(folder.glob("*/*"))


def test_where_nothing_is_remembered_it_is_said(fleet: Fleet) -> None:
    fleet.scan("a")
    shutil.rmtree(fleet.out / "run=a" / FOLDER)
    with pytest.raises(UsageError, match="run=a remembers no directory, because it was scanned without --remember"):
        kept_by(str(fleet.out / "run=a"))
    with pytest.raises(UsageError, match="--resume x: nothing is left of it"):
        left_by(str(fleet.out), "x")
    assert str(fleet.out / ".run=x") == aside(str(fleet.out), "x")
