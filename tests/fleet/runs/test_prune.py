"""What `fleet prune` removes: old runs, and what nobody writes any more."""

import json
from pathlib import Path
from typing import Any

import pytest

from kcheck.disk.output import let_go, occupied
from kcheck.disk.store import mounted
from kcheck.errors import UsageError
from kcheck.fleet.run import open_runs
from kcheck.fleet.run_output import RunOutput
from tests.cli.command import kcheck
from tests.fleets import forged
from tests.stores import upload


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Write three runs, what two killed scans and a failed one have left, and something of somebody else."""
    for day, name in enumerate(("c", "a", "b")):
        forged(tmp_path / "out", name, started=day * 86_400_000)
    for name in (".unfinished=dead", ".unfinished=alive", ".run=alive", ".run=failed", "mine", "run=mine"):
        (tmp_path / "out" / name / "findings").mkdir(parents=True)
    return tmp_path / "out"


def left(out: Path) -> list[str]:
    return sorted(path.name for path in out.iterdir())


def test_old_runs_and_leftovers_go(out: Path) -> None:
    """The newest stay, and what a process still writes; so does every directory that is no run."""
    holder = occupied(str(out / ".unfinished=alive"))
    assert holder is not None
    before = left(out)
    done = kcheck("fleet", "prune", out, "--keep", "2", "--dry-run", columns=300)
    assert (0, before) == (done.code, left(out))
    assert [f"would remove {out}/run=c: older than the 2 newest runs",
            f"would remove {out}/.run=failed: its scan failed, and was not resumed",
            f"would remove {out}/.unfinished=dead: its scan was killed"] == done.out.splitlines()  # fmt: skip
    assert 0 == kcheck("fleet", "prune", out, "--keep", "2").code
    assert [".run=alive", ".unfinished=alive", "mine", "run=a", "run=b", "run=mine"] == left(out)
    assert "Nothing to remove.\n" == kcheck("fleet", "prune", out, "--keep", "2").out
    let_go(holder)
    assert 0 == kcheck("fleet", "prune", out, "--keep", "0").code
    assert ["mine", "run=mine"] == left(out)


@pytest.mark.parametrize(
    ("name", "said"), [("run=a", ": a run; name the directory that contains it"), ("x", "no such file or directory")]
)
def test_what_is_no_folder_of_runs_is_refused(name: str, said: str, out: Path) -> None:
    done = kcheck("fleet", "prune", out / name, "--keep", "1")
    assert (2, True) == (done.code, said in done.err)
    assert "run=a" in left(out)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_in_a_store_somebody_says_that_nobody_writes(out: Path, s3: dict[str, Any]) -> None:
    """A killed scan blocks its name until then; a complete run stays."""
    (out / "run=dead" / "findings").mkdir(parents=True)
    (out / "run=dead" / "findings" / "part-00000.parquet").write_bytes(b"x")
    url = upload(out, "prune", s3)
    options = [part for name, value in s3.items() for part in ("--storage-option", f"{name}={json.dumps(value)}")]
    with mounted([url], s3):
        with pytest.raises(UsageError, match="or was killed; see fleet prune --unfinished"):
            RunOutput(url, "dead", {})
        assert "Nothing to remove.\n" == kcheck("fleet", "prune", url, "--keep", "3", *options).out
        done = kcheck("fleet", "prune", url, "--keep", "3", "--unfinished", *options, columns=300)
        assert (0, True) == (done.code, f"removed {url}/run=dead: it has no manifest" in done.out)
        assert ["a", "b", "c"] == sorted(run.name for run in open_runs([url]))
        RunOutput(url, "dead", {})
    done = kcheck("fleet", "prune", out, "--keep", "3", "--unfinished")
    assert (2, True) == (done.code, "--unfinished is for a store" in done.err)
