"""A broker of which nothing has changed is not looked at again; what its signature covers."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kcheck.arrow import from_bytes, to_bytes
from kcheck.core.releases.releases import release
from kcheck.fleet.scan import broker_step as fleet_stages
from kcheck.fleet.scan.identify import Identified, ScanOptions, identify
from kcheck.fleet.scan.inventory import FleetLogDir
from kcheck.fleet.scan.remembered import FOLDER, kept_by
from kcheck.fleet.scan.remembered_brokers import broker_signature, keep_broker, remembered_broker
from kcheck.fleet.scan.rows import seen_of
from kcheck.fleet.scan.steps import list_items, scan_items
from kcheck.model.depth import Depth
from kcheck.model.report import PartitionFilter
from tests.builders import flip_byte, log_dir, partition_dir, run
from tests.fleet.scan.test_local_engine import BROKERS
from tests.fleet.scan.test_remembered import Fleet

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


@pytest.fixture
def fleet(tmp_path: Path) -> Fleet:
    """Copy two real brokers."""
    shutil.copytree(BROKERS / "4.3.1" / "diverged", tmp_path / "fleet" / "diverged")
    return Fleet(tmp_path / "fleet", tmp_path / "out")


def looked_at(fleet: Fleet, monkeypatch: pytest.MonkeyPatch, name: str, since: str) -> list[str]:
    """Return the brokers that a run since another one looks at: each of these is a finding there."""

    def refuse(*_: object) -> Any:
        raise AssertionError("it is looked at")

    with monkeypatch.context() as patched:
        patched.setattr(fleet_stages, "_look_at_broker", refuse)
        rows = fleet.scan(name, kept_by(str(fleet.out / f"run={since}")))
    return sorted({row["broker"] for row in rows["findings"] if row["id"] == "KC000"})


def test_a_broker_of_which_nothing_changed_is_not_looked_at(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor by a run since the one that passed it on; one whose checkpoint changed, or whose rows are damaged, is."""
    before = fleet.scan("a")
    assert [] == looked_at(fleet, monkeypatch, "b", "a")
    assert before == fleet.scan("c", kept_by(str(fleet.out / "run=b")))
    files = [path for path in sorted((fleet.out / "run=c" / FOLDER).iterdir()) if path.is_file()]
    assert len({row["broker"] for row in before["log_dirs"]}) == len(files) > 1
    changed = before["log_dirs"][0]
    os.utime(Path(changed["log_dir"]) / "recovery-point-offset-checkpoint", ns=(0, 1))
    assert [changed["broker"]] == looked_at(fleet, monkeypatch, "d", "c")
    for path in files:
        flip_byte(path, 100)
    assert sorted({row["broker"] for row in before["log_dirs"]}) == looked_at(fleet, monkeypatch, "e", "c")
    assert before == fleet.scan("f", kept_by(str(fleet.out / "run=c")))


def seen(path: Path, how: ScanOptions) -> tuple[Identified, list[bytes]]:
    """Return a log dir, and what is seen of its partitions."""
    answer = identify(FleetLogDir(str(path)), how)
    batches = [data for _, items in list_items(answer, how) for data in scan_items(items, how)]
    return answer, [to_bytes(seen_of(batch)) for data in batches for batch in from_bytes(data)]


def made(tmp_path: Path) -> tuple[Path, ScanOptions]:
    """Write a log dir with one partition, and a folder for what is remembered."""
    path = tmp_path / "data"
    log_dir(path, recovery_point={"a-0": 10}, high_watermark={"a-0": 10}, log_start={})
    partition_dir(path / "a-0", [run(0, 9)])
    (tmp_path / "memory").mkdir()
    memory = str(tmp_path / "memory")
    return path, ScanOptions(
        Depth.CHECKPOINTS, PartitionFilter(), release("4.3"), since=memory, remembers=True, memory=memory
    )


CHANGES: dict[str, Callable[[Path], object]] = {
    "checkpoint": lambda path: os.utime(path / "replication-offset-checkpoint", ns=(0, 1)),
    "mode": lambda path: (path / "meta.properties").chmod(0o600),
    "mark": lambda path: (path / ".kafka_cleanshutdown").touch(),
    "stranger": lambda path: (path / "notes").touch(),
    "directory": lambda path: (path / "lost+found").mkdir(),
    "partition": lambda path: partition_dir(path / "b-0", [run(0, 9)]),
    "log": lambda path: partition_dir(path / "a-0", [run(1000, 1009)]),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_a_broker_is_made_of_is_in_its_signature(name: str, tmp_path: Path) -> None:
    """What is at the top of its log dirs, and the signatures of its directories."""
    path, how = made(tmp_path)
    before = broker_signature([seen(path, how)], how)
    assert before is not None
    assert before == broker_signature([seen(path, how)], how)
    CHANGES[name](path)
    after = broker_signature([seen(path, how)], how)
    assert after is not None
    assert before != after


@pytest.mark.parametrize(
    "other", [{"depth": Depth.HEADERS}, {"release": release("2.8")}, {"wanted": PartitionFilter(("a",))}]
)
def test_the_options_are_in_its_signature(other: dict[str, Any], tmp_path: Path) -> None:
    """The topics that are wanted too: its findings depend on them."""
    path, how = made(tmp_path)
    known = seen(path, how)
    assert broker_signature([known], how) != broker_signature([known], how._replace(**other))


def _link(path: Path) -> None:
    (path / "b-0").symlink_to(path / "a-0")


NOT_SIGNED: dict[str, Callable[[Path], object]] = {
    "link": _link,
    "cache": lambda path: (path / "remote-log-index-cache").mkdir(),
    "incomplete": lambda path: (path / "a-0" / "leader-epoch-checkpoint").symlink_to("/nowhere"),
    "gone": shutil.rmtree,
}


@pytest.mark.parametrize("name", NOT_SIGNED)
def test_a_broker_that_depends_on_more_is_not_remembered(name: str, tmp_path: Path) -> None:
    """On what a link leads to, on indexes of remote segments, on what could not be read."""
    path, how = made(tmp_path)
    if name == "gone":
        known = seen(path, how)
        NOT_SIGNED[name](path)
    else:
        (path / "a-0" / "leader-epoch-checkpoint").unlink()
        NOT_SIGNED[name](path)
        known = seen(path, how)
    assert broker_signature([known], how) is None
    assert broker_signature([known], how._replace(memory=None)) is None


def test_a_broker_that_runs_is_not_remembered(tmp_path: Path) -> None:
    """What is there may have left by the time of the look."""
    path, how = made(tmp_path)
    lock = path / ".lock"
    lock.touch()
    known = seen(path, how)
    assert broker_signature([known], how) is not None
    hold = "import fcntl, sys; file = open(sys.argv[1], 'r+'); fcntl.lockf(file, fcntl.LOCK_EX); print(); input(file)"
    with subprocess.Popen(
        [sys.executable, "-u", "-c", hold, lock], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        assert broker_signature([known], how) is None
        holder.communicate("\n")
    assert broker_signature([known], how) is not None


def test_a_disk_that_is_full_keeps_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows are those of the look all the same; without an earlier run there is nothing to pass on."""
    _, how = made(tmp_path)
    rows = (("findings", b"1"), ("checkpoints", b"2"))
    assert remembered_broker("0" * 64, how) is None

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        keep_broker("0" * 64, rows, how)
    assert [] == [*(tmp_path / "memory").iterdir()]
    keep_broker("0" * 64, rows, how)
    assert rows == remembered_broker("0" * 64, how)
    assert remembered_broker("0" * 64, how._replace(since=None)) is None
