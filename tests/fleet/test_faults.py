"""A disk that fills up while a run is written: one line, no run, and the next one is whole."""

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random

import pytest

from kcheck.disk.output import scratch
from kcheck.errors import KcheckError, UsageError
from kcheck.fleet import run_output
from kcheck.fleet.run import open_runs
from kcheck.fleet.scan.replica_groups import Groups
from tests.fleet.scan.test_local_engine import BROKERS, scanned, tables
from tests.oracle.ask import IS_WHOLE, SEED

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")

LAYOUT = BROKERS / "4.3.1" / "diverged" / "{broker}" / "{log_dir}"
LIMITS = sorted({1, 4000, *(Random(SEED).sample(range(40_000), 6) if IS_WHOLE else ())})
"""Bytes of a file."""


@contextmanager
def files_of(size: int) -> Iterator[None]:
    """Let no file of this process, and of those that it starts, become larger."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.sample(2)
@pytest.mark.parametrize("remembers", [False, True])
@pytest.mark.parametrize("size", LIMITS)
def test_a_full_disk_leaves_no_run(size: int, remembers: bool, tmp_path: Path) -> None:
    """Wherever it is full; what is remembered counts for nothing until it is asked for. The same name is free again."""
    _, plain = scanned(tmp_path, LAYOUT, name="plain")
    said = ""
    with files_of(size), suppress(KcheckError):
        try:
            scanned(tmp_path, LAYOUT, remembers=remembers)
        except KcheckError as error:
            said = str(error)
            raise
    assert (said == "") == (tmp_path / "out" / "run=r").exists()
    if said:
        assert said == f"cannot write {tmp_path}/out/run=r: File too large"
        assert ["plain"] == [each.name for each in open_runs([str(tmp_path / "out")])]
        scanned(tmp_path, LAYOUT, remembers=remembers)
    else:
        assert size > 4000
    assert {**plain, "runs": 1} == {**tables(tmp_path / "out" / "run=r"), "runs": 1}
    assert ["run=plain", "run=r"] == sorted(path.name for path in (tmp_path / "out").iterdir())


def test_replicas_that_cannot_be_sorted_on_the_disk_end_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As one line, like all that a run writes."""

    def full(*_: object) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(Groups, "add", full)
    with pytest.raises(KcheckError, match=r"^cannot write .*/out/run=r: No space left on device$"):
        scanned(tmp_path, LAYOUT)
    assert [] == [*(tmp_path / "out").iterdir()]


def test_a_run_without_folders_for_its_tables_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No folder stays, and this process holds none: the same name is free at once."""

    def full(_: str) -> None:
        raise OSError(28, os.strerror(28))

    with monkeypatch.context() as disk:
        disk.setattr(run_output, "have_directory", full)
        with pytest.raises(KcheckError, match=r"^cannot write .*/out/run=r: No space left on device$"):
            scanned(tmp_path, LAYOUT)
    assert [] == [*(tmp_path / "out").iterdir()]
    assert len(scanned(tmp_path, LAYOUT)[1]["runs"]) == 1


def test_a_decision_without_room_for_its_files_ends_the_run(tmp_path: Path) -> None:
    """It is no bug of kcheck, and no run: the same command works once there is room."""

    def full(*_: object) -> dict[str, object]:
        with scratch() as folder:
            raise OSError(28, os.strerror(28), folder)

    with pytest.raises(KcheckError, match=r"^cannot write .*/out/run=r: No space left on device$"):
        scanned(tmp_path, LAYOUT, decide=full)
    assert [] == [*(tmp_path / "out").iterdir()]


@pytest.mark.parametrize("out", ["/proc/nowhere", "/dev/null"])
def test_a_place_where_nothing_can_be_written_is_refused(out: str) -> None:
    """Before anything is looked at."""
    with pytest.raises(UsageError, match=f"^cannot create {out}/out"):
        scanned(Path(out), LAYOUT)
