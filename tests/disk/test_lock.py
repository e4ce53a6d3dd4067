"""Asking who holds a log dir takes no lock and leaves no trace."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kcheck.disk import lock
from kcheck.disk.lock import locked_by
from kcheck.documents.inspection import InspectDetail
from kcheck.errors import PlanError
from kcheck.model.report import PartitionFilter
from kcheck.verbs.inspect import inspect
from tests.builders import broker, fingerprint, run
from tests.reports import NEWEST, document

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the lock can be asked for on Linux alone")

HOLD = """
import fcntl, sys
stream = open(sys.argv[1], "r+")
(fcntl.flock if sys.argv[2] == "flock" else fcntl.lockf)(stream, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def held(file: Path, how: str = "lockf") -> Iterator[int]:
    """Let another process hold a lock; give its id."""
    command = [sys.executable, "-c", HOLD, str(file), how]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process.pid
        process.communicate()


@pytest.fixture
def log_dir(tmp_path: Path) -> Path:
    path = broker(tmp_path / "data", run(0, 99))
    (path / ".lock").touch()
    return path


def test_a_lock_of_another_process_is_told_with_its_id(log_dir: Path) -> None:
    with held(log_dir / ".lock") as process:
        assert process == locked_by(str(log_dir))
    assert locked_by(str(log_dir)) is None


def test_nobody_holds_what_nobody_locked(log_dir: Path) -> None:
    """`.lock` stays when a broker ends."""
    assert locked_by(str(log_dir)) is None


def test_a_lock_of_another_kind_is_not_the_lock_of_a_broker(log_dir: Path) -> None:
    """Java locks with fcntl; flock does not see such a lock."""
    with held(log_dir / ".lock", "flock"):
        assert locked_by(str(log_dir)) is None


def test_asking_takes_no_lock(log_dir: Path) -> None:
    """A broker that starts while kcheck reads gets its lock."""
    assert locked_by(str(log_dir)) is None
    with held(log_dir / ".lock"):
        pass


def test_no_lock_file_is_made(log_dir: Path) -> None:
    (log_dir / ".lock").unlink()
    assert locked_by(str(log_dir)) is None
    assert not (log_dir / ".lock").exists()


def test_a_lock_file_that_is_none_is_held_by_nobody(log_dir: Path) -> None:
    """A directory, a link: no broker can hold them."""
    (log_dir / ".lock").unlink()
    (log_dir / ".lock").symlink_to("/dev/zero")
    assert locked_by(str(log_dir)) is None
    (log_dir / ".lock").unlink()
    (log_dir / ".lock").mkdir()
    assert locked_by(str(log_dir)) is None


def test_other_systems_cannot_tell(log_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with held(log_dir / ".lock"):
        monkeypatch.setattr(sys, "platform", "win32")
        assert locked_by(str(log_dir)) is None


def test_a_held_log_dir_is_read_with_one_warning(log_dir: Path) -> None:
    """The log dir is shown nevertheless."""
    with held(log_dir / ".lock") as process:
        found = document(
            inspect([str(log_dir)], as_kind=None, wanted=PartitionFilter(), detail=InspectDetail(), release=NEWEST)
        )
    (item,) = found["items"]
    assert process == item["locked_by"]
    assert [100] == [row["log_end_offset"] for row in item["partitions"]]
    assert [("KC308", "warning")] == [(row["id"], row["severity"]) for row in found["findings"]]


def test_a_held_log_dir_stays_as_it_is(log_dir: Path) -> None:
    with held(log_dir / ".lock"):
        before = fingerprint(log_dir)
        document(
            inspect([str(log_dir)], as_kind=None, wanted=PartitionFilter(), detail=InspectDetail(), release=NEWEST)
        )
        assert before == fingerprint(log_dir)


def test_a_log_dir_that_becomes_a_link_gets_no_lock_elsewhere(tmp_path: Path) -> None:
    """The lock is taken in the directory that was opened, not by its path."""
    path, elsewhere = broker(tmp_path / "data", run(0, 99)), tmp_path / "elsewhere"
    elsewhere.mkdir()
    with lock.held([str(path)]):
        path.rename(tmp_path / "moved")
        path.symlink_to(elsewhere)
        assert (tmp_path / "moved" / ".lock").exists()
    assert ([*elsewhere.iterdir()], (tmp_path / "moved" / ".lock").exists()) == ([], False)
    with pytest.raises(PlanError, match="symbolic link"), lock.held([str(path)]):
        pass
    assert [*elsewhere.iterdir()] == []
