"""A log dir in use is looked at twice where something seems wrong: what is so stays, what was only torn goes."""

import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kcheck.arrow import from_bytes
from kcheck.core.releases.releases import release
from kcheck.core.start.predictions import PartitionPrediction
from kcheck.core.start.startup import Outcome, settings
from kcheck.disk.directory import Directory
from kcheck.disk.kept import one_look
from kcheck.fleet.scan import steps as stages
from kcheck.fleet.scan.identify import ScanOptions, identify
from kcheck.fleet.scan.inventory import FleetLogDir
from kcheck.fleet.scan.rows import tables_of
from kcheck.fleet.scan.steps import list_items, scan_items
from kcheck.model.depth import Depth
from kcheck.model.names import PartitionDirectory
from kcheck.model.report import PartitionFilter
from kcheck.rules.kc001_unreadable import GONE
from kcheck.startup import partition
from kcheck.startup.options import StartOptions
from kcheck.verbs import predict as verb
from kcheck.verbs.check import check
from kcheck.verbs.predict import predict
from kcheck.views import log_dir as host
from tests.disk.test_lock import held
from tests.reports import document

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the lock can be asked for on Linux alone")

RELEASE = release("4.3")
STOPPED = Path(__file__).parents[2] / "fixtures" / "brokers" / "4.3.1" / "stopped" / "broker-1"
INDEX = Path("data1/plain-1") / f"{0:020d}.index"


@pytest.fixture(autouse=True)
def in_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let a process hold the two log dirs of a broker, in each of which there are partitions."""
    shutil.copytree(STOPPED, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    locks = [Path(name) / ".lock" for name in ("data1", "data2")]
    for lock in locks:
        lock.touch()
    with held(locks[0]), held(locks[1]):
        yield


def then(monkeypatch: pytest.MonkeyPatch, module: Any, name: str, happens: Callable[[], object]) -> None:
    """Let something happen right behind the first call of a function about the directory of `INDEX`."""
    real, calls = getattr(module, name), iter([happens])

    def called(*args: Any, **kwargs: Any) -> Any:
        answer = real(*args, **kwargs)
        for happen in calls if getattr(args[0], "path", None) == str(INDEX.parent) else ():
            happen()
        return answer

    monkeypatch.setattr(module, name, called)


def all_simulated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulate the load of logs that the start leaves unchanged too."""
    monkeypatch.setattr(verb, "unchanged_prediction", lambda *_: None)


def found() -> list[str]:
    """Return what check finds from warnings up, but for the lock."""
    with one_look():  # The second read is a look of its own.
        report = check(["data1", "data2"], depth=Depth.CRC, as_kind=None, wanted=PartitionFilter(), release=RELEASE)
    return [row["id"] for row in document(report)["findings"] if row["severity"] != "info" and row["id"] != "KC308"]


def of_fleet(path: str) -> list[str]:
    """Return what a scan of a fleet finds in the directories of a log dir from warnings up."""
    how = ScanOptions(Depth.CRC, PartitionFilter(), RELEASE)
    items = [item for _, data in list_items(identify(FleetLogDir(path), how), how) for item in scan_items(data, how)]
    rows = [row for item in items for batch in from_bytes(item) for row in tables_of(batch)["findings"].to_pylist()]
    return [row["id"] for row in rows if row["severity"] != "info"]


def predicted() -> dict[str, Any]:
    """Return what is predicted of the log dirs."""
    with one_look():
        return document(predict(["data1", "data2"], StartOptions(None, settings({}, RELEASE), RELEASE)))


def outcomes() -> list[str]:
    """Return the outcome of each log dir."""
    return [row["outcome"] for row in predicted()["log_dirs"]]


def test_what_is_so_is_found() -> None:
    """An index that stays away, and a directory that stands in both log dirs."""
    INDEX.unlink()
    shutil.copytree("data1/plain-1", "data2/plain-1")
    assert ["KC154", "KC154", "KC304"] == sorted(found())
    assert ["KC154"] == of_fleet("data1")
    assert ["abort", "abort"] == outcomes()


def test_a_file_that_is_made_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    """A broker makes the index of a new segment after its log."""
    whole = INDEX.read_bytes()
    INDEX.unlink()
    for module in (host, stages):
        then(monkeypatch, module, "try_partition", lambda: INDEX.write_bytes(whole))
    assert [] == found()
    INDEX.unlink()
    assert [] == of_fleet("data1")


def test_a_directory_that_is_removed_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    """A broker deletes a topic."""
    INDEX.unlink()
    then(monkeypatch, host, "try_partition", lambda: Path("data1/plain-1").rename("gone"))
    assert "KC154" not in found()


def test_a_partition_that_moves_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is seen in the log dir that it leaves, and in the one that it comes to."""
    then(monkeypatch, host, "try_partition", lambda: Path("data1/plain-1").rename("data2/plain-1"))
    assert [] == found()


def test_the_start_after_a_move(monkeypatch: pytest.MonkeyPatch) -> None:
    """No start finds the partition twice."""
    all_simulated(monkeypatch)
    then(monkeypatch, partition, "start_partition", lambda: Path("data1/plain-1").rename("data2/plain-1"))
    assert ["ok", "ok"] == outcomes()


@pytest.mark.parametrize("directory_goes", [True, False])
def test_the_start_where_something_goes_meanwhile(directory_goes: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Retention deletes a segment, or a topic is deleted: the start finds what is left."""
    all_simulated(monkeypatch)
    before = predicted()["log_dirs"][0]["partitions"]
    real, refused = partition.start_partition, iter([GONE])

    def goes(disk: Directory, name: str, directory: PartitionDirectory, *how: Any) -> PartitionPrediction:
        for why in refused if name == INDEX.parent.name else ():
            if directory_goes:
                Path(disk.path).rename("gone")
            return PartitionPrediction(name, directory, Outcome.UNKNOWN, why.words, unread=why)
        return real(disk, name, directory, *how)

    monkeypatch.setattr(partition, "start_partition", goes)
    told = predicted()
    gone = [INDEX.parent.name] if directory_goes else []
    assert [row for row in before if row["dir"] not in gone] == told["log_dirs"][0]["partitions"]
    assert [("KC001", "info", name) for name in gone] == [
        (row["id"], row["severity"], row["dir"]) for row in told["findings"]
    ]
