"""A fleet of which a part cannot be looked at: that costs one finding, and the rest is looked at."""

import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kcheck.disk.directory import Directory
from kcheck.disk.tree import Tree
from kcheck.fleet.scan import broker_step, identify
from kcheck.fleet.scan import local_engine as local
from kcheck.fleet.scan import steps as stages
from kcheck.model.views import LogDir, PartitionView
from kcheck.survey.rule_runner import check_partition
from kcheck.views.log_dir import open_log_dir
from tests.builders import log_dir, partition_dir, run
from tests.fleet.hanging import SECONDS, hang
from tests.fleet.scan.test_local_engine import scanned

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
"""The test runner has threads where kcheck has none."""


def kill(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def exhaust(*_: object) -> None:
    held = [bytearray(1 << 24) for _ in range(1 << 10)]
    assert held


def raises(*_: object) -> None:
    raise RuntimeError("boom")


@pytest.mark.parametrize(
    ("harm", "jobs", "why"),
    [
        (kill, 1, "the worker process died: SIGKILL"), (kill, 2, "the worker process died: SIGKILL"),
        (hang, 1, f"no answer in {SECONDS} s"), (exhaust, 2, "MemoryError"), (raises, 1, "RuntimeError: boom"),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("hours")
def test_one_bad_directory_costs_one_finding(
    harm: Callable[[], None], jobs: int, why: str, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those beside it are looked at, and the log dir as a whole."""
    original = check_partition

    def harmed(view: PartitionView, kafka: Any) -> Any:
        if view.topic == "bad":
            harm()
        return original(view, kafka)

    monkeypatch.setattr(stages, "check_partition", harmed)
    monkeypatch.setattr(local, "MEMORY_MAX", 1 << 28)
    report, rows = scanned(tmp_path, data, jobs=jobs, seconds=SECONDS)
    failed = [row for row in rows["findings"] if row["id"] == "KC000"]
    assert [("1", 1, "bad-0")] == [(row["broker"], row["broker_id"], row["dir"]) for row in failed]
    assert why in failed[0]["message"]
    assert [f"{topic}-0" for topic in "abcde"] == [row["dir"] for row in rows["partitions"]]
    assert ["KC000"] == [row["id"] for row in rows["findings"] if row["dir"] == "bad-0"]
    assert (report.unfinished, False) == (True, rows["runs"][0]["finished"])
    assert [5, 1] == [row["directories"] for row in rows["log_dirs"]]


@pytest.mark.parametrize(
    ("stage", "log_dirs", "partitions"),
    [("identify", ["d2"], "e"), ("list_items", ["d2"], "e"), ("look_at_broker", ["d2"], "abcde")],
)
def test_one_bad_log_dir_costs_one_finding(
    stage: str, log_dirs: list[str], partitions: str, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other one of its broker is looked at."""
    module, harmed = {
        "identify": (identify, "read_small"),
        "list_items": (stages, "open_log_dir"),
        "look_at_broker": (broker_step, "report_links"),
    }[stage]
    original = getattr(module, harmed)

    def harm(first: Any, *rest: Any, **more: Any) -> Any:
        path = (
            first.path
            if isinstance(first, Directory)
            else first.view.where.log_dir
            if isinstance(first, LogDir)
            else rest[0]
        )
        if "/d1" in str(path):
            kill()
        return original(first, *rest, **more)

    monkeypatch.setattr(module, harmed, harm)
    _, rows = scanned(tmp_path, data)
    (failed,) = [row for row in rows["findings"] if row["id"] == "KC000"]
    assert ("SIGKILL" in failed["message"], "d1") == (True, Path(failed["log_dir"]).name)
    assert log_dirs == [Path(row["log_dir"]).name for row in rows["log_dirs"]]
    assert [*partitions] == [row["topic"] for row in rows["partitions"] if row["topic"] != "bad"]


def test_a_log_dir_that_is_gone_costs_one_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever an inventory names in its place, and one that goes while the others are looked at."""
    for name in ("fine", "goes"):
        partition_dir(log_dir(tmp_path / name, broker_id=1) / "t-0", [run(0, 9)])
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "file").touch()
    odd = {
        "goes": "No such file", "gone": "No such file", "loop": "Too many levels", "file": "Not a directory",
        "n\0l": "null byte", "l" * 300: "name too long", "\udcff": "No such file",
    }  # fmt: skip
    content = "\n".join(("log_dir,broker", f"{tmp_path}/fine,", *(f"{tmp_path}/{name},{name[:1]}" for name in odd)))
    (tmp_path / "fleet.csv").write_bytes(content.encode(errors="surrogateescape"))
    original = open_log_dir

    def gone(tree: Tree, *rest: Any) -> Any:
        shutil.rmtree(tmp_path / "goes", ignore_errors=True)
        return original(tree, *rest)

    monkeypatch.setattr(stages, "open_log_dir", gone)
    report, rows = scanned(tmp_path, tmp_path / "fleet.csv")
    told = {row["log_dir"]: row["message"] for row in rows["findings"] if row["id"] == "KC001" and row["dir"] is None}
    escaped = {f"{tmp_path}/{name}".replace("\udcff", "\\udcff"): why for name, why in odd.items()}
    assert escaped == {path: next(why for why in odd.values() if why in told[path]) for path in told}
    assert [f"{tmp_path}/fine"] == [row["log_dir"] for row in rows["partitions"]]
    assert report.unfinished
