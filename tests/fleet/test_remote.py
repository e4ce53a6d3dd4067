"""A fleet in an object store: the rows are those of the same directories on a disk, and few bytes are asked for."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import BoundedSemaphore, Event
from typing import Any

import fsspec
import pytest

from kcheck.disk import quota, store
from kcheck.disk.store import StoreTree
from kcheck.errors import NotALogDirError, UsageError
from kcheck.fleet.run_output import is_written
from kcheck.fleet.scan import steps as fleet_stages
from kcheck.fleet.scan.releases import ReleaseOptions
from kcheck.fleet.scan.remembered import FOLDER, kept_by, left_by
from tests.builders import broker, log_dir, partition_dir, run
from tests.cli.command import kcheck
from tests.fleet.hanging import SECONDS, begin_to_hang
from tests.fleet.scan.test_local_engine import BROKERS, scanned, tables
from tests.stores import as_on_disk, put, upload

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
"""What the clients of stores do."""


class Requests:
    """What is asked of stores while it is watched."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.bytes: dict[str, int] = {}
        self.lists = 0
        read, tree, children = StoreTree.read, StoreTree._tree, StoreTree._children

        def watched(store: StoreTree, path: str, start: int, end: int) -> bytes:
            self.bytes[path] = self.bytes.get(path, 0) + end - start
            return read(store, path, start, end)

        def counted(how: Any) -> Any:
            def listed(store: StoreTree, path: str) -> Any:
                self.lists += 1
                return how(store, path)

            return listed

        monkeypatch.setattr(StoreTree, "read", watched)
        monkeypatch.setattr(StoreTree, "_tree", counted(tree))
        monkeypatch.setattr(StoreTree, "_children", counted(children))


@pytest.mark.whole
def test_what_did_not_change_in_a_store_is_not_looked_at(
    s3: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One file that has been written anew, with as many bytes, costs the look at its directory; a listing tells it."""
    url = upload(BROKERS / "4.3.1" / "diverged", "again", s3)
    root = f"{url}/{{broker}}/{{log_dir}}"
    common: dict[str, Any] = {"options": s3, "jobs": 8, "depth": "headers", "remembers": True}
    scanned(tmp_path, root, name="a", **common)
    system = fsspec.filesystem("s3", **s3)
    path = "again/fleet/broker-1/data1/diverged-0/leader-epoch-checkpoint"
    system.pipe_file(path, system.cat_file(path)[::-1])
    asked = Requests(monkeypatch)
    since = kept_by(str(tmp_path / "out" / "run=a"))
    report, rows = scanned(tmp_path, root, name="b", since=since, **common)
    _, fresh = scanned(tmp_path, root, name="c", **common)
    assert len(rows["partitions"]) - 1 == report.body["carried_over"]
    assert {**fresh, "runs": 1} == {**rows, "runs": 1}
    monkeypatch.setattr(store, "_STAMPS", ())
    report, rows = scanned(tmp_path, root, name="d", since=since, **common)
    assert (0, fresh["findings"]) == (report.body["carried_over"], rows["findings"])
    assert asked.bytes


@pytest.mark.sample(1)
@pytest.mark.parametrize("where", ["disk", "store"])
def test_a_run_that_is_killed_goes_on(where: str, s3: dict[str, Any], tmp_path: Path) -> None:
    """What it had looked at before the system ended it is known; the rows are those of a run that nobody stopped."""
    folder = tmp_path / "fleet"
    for name in ("1", "2", "3"):
        broker(folder / name / "d", run(0, 99), broker_id=int(name))
    root = f"{folder if where == 'disk' else upload(folder, 'killed', s3)}/{{broker}}/{{log_dir}}"
    options = [f"--storage-option={name}={json.dumps(value)}" for name, value in s3.items()]
    arguments = ["fleet", "scan", root, "--output-dir", str(tmp_path / "out"), "--run", "r", "--remember", *options]
    with subprocess.Popen([sys.executable, "-c", HANGS, *arguments], start_new_session=True) as started:
        until = time.monotonic() + 60
        while not [*(tmp_path / "out").glob(".unfinished=r/_seen/*/*.parquet")] and time.monotonic() < until:
            time.sleep(0.05)
        os.killpg(started.pid, signal.SIGKILL)
    # Its workers hold the lock that they inherited until the system has ended them too.
    while is_written(str(tmp_path / "out" / ".unfinished=r")) and time.monotonic() < until:
        time.sleep(0.05)
    common: dict[str, Any] = {"options": s3, "jobs": 2, "remembers": True, "auto": ReleaseOptions()}
    report, rows = scanned(tmp_path, root, since=left_by(str(tmp_path / "out"), "r"), **common)
    assert report.body["carried_over"] in (1, 2)
    _, fresh = scanned(tmp_path, root, name="fresh", **common)
    assert {**fresh, "runs": 1} == {**rows, "runs": 1}
    assert ["run=fresh", "run=r"] == sorted(path.name for path in (tmp_path / "out").iterdir())


HANGS = """
import sys, time
from kcheck.cli.app import main
from kcheck.fleet.scan import steps as fleet_stages

look = fleet_stages.try_partition

def hang(disk, *rest, **more):
    if "/3/d/" in disk.path:
        time.sleep(3600)
    return look(disk, *rest, **more)

fleet_stages.try_partition = hang
main()
"""
"""A scan that comes no further than the third broker."""


@pytest.mark.sample(1)
@pytest.mark.parametrize("depth", ["checkpoints", "records"])
def test_the_rows_are_those_of_a_disk(
    depth: str, s3: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of brokers with everything that brokers have; not a head, not a size is asked for by itself."""
    folder = BROKERS / "4.3.1" / "diverged"
    url = upload(folder, f"rows-{depth}", s3)
    monkeypatch.setattr(fsspec.get_filesystem_class("s3"), "info", None)
    monkeypatch.setattr(fsspec.get_filesystem_class("s3"), "_info", None)
    _, local = scanned(tmp_path, folder / "{broker}" / "{log_dir}", depth=depth, name="disk")
    _, remote = scanned(tmp_path, f"{url}/{{broker}}/{{log_dir}}", depth=depth, name="s3", options=s3, jobs=None)
    assert as_on_disk(remote, url, folder) == as_on_disk(local, url, folder)
    assert local["truncation_plans"]
    _, named = scanned(tmp_path, f"{url}/broker-1", name="folder", options=s3, jobs=8)
    assert {"1"} == {row["broker"] for row in named["log_dirs"]}


def test_little_is_asked_of_a_store(s3: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One listing of a log dir, then four ranges of each partition at most, and of a log its tail.

    These logs have no topic id: the scan loads them as the broker does, and as if an operator had brought them back.
    """
    data = tmp_path / "f" / "1" / "data"
    names = [f"t-{number}" for number in range(6)]
    log_dir(data, recovery_point=dict.fromkeys(names, 40_000), high_watermark=dict.fromkeys(names, 40_000))
    for name in names:
        partition_dir(data / name, [run(0, 19_999), run(20_000, 39_999)], index_every=60)
    url = upload(tmp_path / "f", "little", s3)
    asked = Requests(monkeypatch)
    _, rows = scanned(tmp_path, f"{url}/{{broker}}/{{log_dir}}", options=s3, jobs=4)
    assert [40_000] * 6 == [row["log_end_offset"] for row in rows["partitions"]]
    logs = {path: size for path, size in asked.bytes.items() if path.endswith(".log")}
    size = (data / "t-0" / "00000000000000020000.log").stat().st_size
    assert len(names) == len(logs)
    assert max(logs.values()) < size / 4
    assert all(path.endswith("20000.log") for path in logs)
    # The root, where its layout begins, the two levels of that, and the log dir: also for metadata of its cluster, and
    # beside it for a server.properties.
    assert 7 == asked.lists
    assert len(asked.bytes) <= 4 * len(names) + 4


def test_what_is_empty_or_has_become_shorter_is_no_failure(
    s3: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store that has no such range has no such bytes; what is wrong then is told as on a disk."""
    data = broker(tmp_path / "f" / "1" / "d", run(0, 99))
    (data / "meta.properties").write_bytes(b"")
    (data / "t-0" / "partition.metadata").write_bytes(b"")
    url = upload(tmp_path / "f", "empty", s3)
    _, local = scanned(tmp_path, tmp_path / "f" / "{broker}" / "{log_dir}", name="disk")
    _, remote = scanned(tmp_path, f"{url}/{{broker}}/{{log_dir}}", options=s3, jobs=2, name="s3")
    assert as_on_disk(remote, url, tmp_path / "f") == as_on_disk(local, url, tmp_path / "f")
    tree = StoreTree._tree

    def stale(store: StoreTree, path: str) -> Any:
        found = tree(store, path)
        sizes = {name: size + (1 << 20) * name.endswith(".log") for name, size in found["t-0"].sizes.items()}
        return {**found, "t-0": found["t-0"]._replace(sizes=sizes)}

    monkeypatch.setattr(StoreTree, "_tree", stale)
    _, shorter = scanned(tmp_path, f"{url}/{{broker}}/{{log_dir}}", options=s3, jobs=2, name="shorter")
    assert [100] == [row["log_end_offset"] for row in shorter["partitions"]]


def test_a_store_in_memory(tmp_path: Path) -> None:
    """Any file system that fsspec knows will do; what has the name of a directory alone is none."""
    system = fsspec.filesystem("memory")
    broker(tmp_path / "f" / "1" / "d", run(0, 99))
    put(system, tmp_path / "f", "/fleet")
    try:
        _, rows = scanned(tmp_path, "memory://fleet/{broker}/{log_dir}", jobs=2)
        assert [("memory://fleet/1/d", "t", 100)] == [
            (row["log_dir"], row["topic"], row["log_end_offset"]) for row in rows["partitions"]
        ]
        with pytest.raises(NotALogDirError, match="no log dir is there"):
            scanned(tmp_path, "memory://fleet/{broker}/{log_dir}/{cluster}x", name="none")
        with pytest.raises(UsageError, match="memory://nothing: no such file or directory"):
            scanned(tmp_path, "memory://nothing/{broker}", name="nothing")
    finally:
        system.rm("/fleet", recursive=True)


def test_what_a_store_refuses_is_told(s3: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is gone since it was listed, or that nobody may read, costs one finding."""
    broker(tmp_path / "f" / "1" / "d", run(0, 99))
    url = upload(tmp_path / "f", "refused", s3)
    original = StoreTree.read

    def refuse(store: StoreTree, path: str, start: int, end: int) -> bytes:
        if path.endswith("partition.metadata"):
            raise PermissionError(13, "Access Denied")
        if path.endswith("leader-epoch-checkpoint"):
            fsspec.filesystem("s3", **s3).rm_file(path)
        return original(store, path, start, end)

    monkeypatch.setattr(StoreTree, "read", refuse)
    report, rows = scanned(tmp_path, f"{url}/{{broker}}/{{log_dir}}", options=s3, jobs=2)
    found = {row["file"]: row["message"] for row in rows["findings"] if row["id"] == "KC001"}
    assert {"partition.metadata", "leader-epoch-checkpoint"} == set(found)
    assert "Access Denied" in found["partition.metadata"]
    assert report.unfinished


def test_a_log_dir_that_no_store_has_costs_one_finding(s3: dict[str, Any], tmp_path: Path) -> None:
    """Neither a directory nor a bucket of that name; the others are looked at."""
    broker(tmp_path / "f" / "1" / "d", run(0, 99))
    url = upload(tmp_path / "f", "gone", s3)
    (tmp_path / "fleet.csv").write_text(f"log_dir\n{url}/1/d\n{url}/2/d\ns3://nowhere/3/d\n")
    report, rows = scanned(tmp_path, tmp_path / "fleet.csv", options=s3, jobs=2)
    told = {row["log_dir"]: row["message"] for row in rows["findings"] if row["id"] == "KC001"}
    assert dict.fromkeys((f"{url}/2/d", "s3://nowhere/3/d"), "cannot be read: No such file or directory") == told
    assert [f"{url}/1/d"] == [row["log_dir"] for row in rows["partitions"]]
    assert report.unfinished


@pytest.mark.usefixtures("hours")
def test_a_store_that_does_not_answer_costs_one_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The directories beside it are looked at."""
    never = Event()
    system = fsspec.filesystem("memory")
    for topic in ("a", "bad", "c"):
        partition_dir(tmp_path / "f" / f"{topic}-0", [run(0, 9)])
    put(system, tmp_path / "f", "/slow/1/d")
    original = StoreTree.read

    def hang(store: StoreTree, path: str, start: int, end: int) -> bytes:
        if "bad-0" in path:
            begin_to_hang(os.getpid())
            never.wait(3600)
        return original(store, path, start, end)

    monkeypatch.setattr(StoreTree, "read", hang)
    try:
        _, rows = scanned(tmp_path, "memory://slow/{broker}/{log_dir}", jobs=1, seconds=SECONDS)
    finally:
        never.set()
        system.rm("/slow", recursive=True)
    (failed,) = [row for row in rows["findings"] if row["id"] == "KC000"]
    assert ("bad-0", True) == (failed["dir"], f"no answer in {SECONDS} s" in failed["message"])
    assert ["a", "c"] == [row["topic"] for row in rows["partitions"]]


@pytest.mark.parametrize("depth", ["checkpoints", "records"])
def test_of_one_directory_so_much_is_read(depth: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever would read more is given up, and the directories beside it are looked at."""
    system = fsspec.filesystem("memory")
    for topic in ("a", "bad", "c"):
        partition_dir(tmp_path / "f" / f"{topic}-0", [run(0, 9)])
    put(system, tmp_path / "f", "/much/1/d")
    original = StoreTree.read

    def again(store: StoreTree, path: str, start: int, end: int) -> bytes:
        for _ in range(17 if "bad-0" in path and path.endswith(".log") else 0):
            original(store, path, 0, store.size(path) if depth == "records" else 1 << 24)
        return original(store, path, start, end)

    monkeypatch.setattr(StoreTree, "read", again)
    try:
        _, rows = scanned(tmp_path, "memory://much/{broker}/{log_dir}", jobs=2, depth=depth)
    finally:
        system.rm("/much", recursive=True)
    (failed,) = [row for row in rows["findings"] if row["id"] == "KC000"]
    assert ("bad-0", True) == (failed["dir"], "TooMuchReadError: gave up: it needs more bytes" in failed["message"])
    assert ["a", "c"] == [row["topic"] for row in rows["partitions"]]


def test_few_directories_of_a_store_are_large_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who has read more than its share waits until others have ended."""
    system = fsspec.filesystem("memory")
    for topic in "abcdefgh":
        partition_dir(tmp_path / f"{topic}-0", [run(0, 9)], epoch_entries=[(0, 0)])
        for path in (tmp_path / f"{topic}-0").iterdir():
            system.pipe_file(f"/large/1/d/{topic}-0/{path.name}", path.read_bytes())
    original, active, most = StoreTree.read, set(), 0

    def slow(store: StoreTree, path: str, start: int, end: int) -> bytes:
        nonlocal most
        found = original(store, path, start, end)
        if "-0/" in path:
            active.add(path)
            most = max(most, len(active))
            time.sleep(0.02)
            active.discard(path)
        return found

    monkeypatch.setattr(StoreTree, "read", slow)
    monkeypatch.setattr(quota, "_SHARE", 1)
    monkeypatch.setattr(quota, "_LARGE_READERS", BoundedSemaphore(2))
    monkeypatch.setattr(fleet_stages, "REMOTE_ITEM_COUNT", 1)
    try:
        _, rows = scanned(tmp_path, "memory://large/{broker}/{log_dir}", jobs=8)
    finally:
        system.rm("/large", recursive=True)
    assert (8, 2) == (len(rows["partitions"]), most)
    assert quota._LARGE_READERS.acquire(blocking=False)
    assert quota._LARGE_READERS.acquire(blocking=False)


def test_a_run_can_be_in_a_store(s3: dict[str, Any], tmp_path: Path) -> None:
    """It is told, compared and gone on with as one on a disk; without a manifest it is none."""
    layout = BROKERS / "4.3.1" / "diverged" / "{broker}" / "{log_dir}"
    url = upload(tmp_path, "runs", s3) + "/out"
    options = [part for name, value in s3.items() for part in ("--storage-option", f"{name}={json.dumps(value)}")]

    def done(verb: str, *arguments: str | Path, code: int = 0) -> str:
        ended = kcheck("fleet", verb, *arguments, *options)
        assert code == ended.code, ended.err
        return ended.out

    common = (layout, "--depth", "headers", "--format", "json", "--fail-on", "fatal")
    there = json.loads(done("scan", *common, "--output-dir", url, "--run", "a", "--remember"))
    here = json.loads(done("scan", *common, "--output-dir", tmp_path / "out", "--run", "a"))
    assert (here["rows"], f"{url}/run=a") == (there["rows"], there["path"])
    system = fsspec.filesystem("s3", **s3)
    system.get(f"{url}/run=a", str(tmp_path / "run=a"), recursive=True)
    shutil.rmtree(tmp_path / "run=a" / FOLDER)
    assert {**tables(tmp_path / "out" / "run=a"), "runs": 1} == {**tables(tmp_path / "run=a"), "runs": 1}
    since = json.loads(done("scan", *common, "--output-dir", url, "--run", "b", "--since-run", url))
    carried = here["rows"]["partitions"] - 6  # Those with an unclean election are looked at anew.
    assert (here["rows"], carried) == (since["rows"], since["carried_over"])
    page = tmp_path / "page.html"
    told = json.loads(done("report", url, "--html", page, "--format", "json", "--fail-on", "fatal"))
    assert (f"{url}/run=b", here["summary"]) == (told["path"], told["summary"])
    assert "0 new" in done("diff", f"{url}/run=a", tmp_path / "out")
    assert "already exists" in kcheck("fleet", "scan", layout, "--output-dir", url, "--run", "b", *options).err
    system.rm_file(f"{url}/run=b/_manifest.json")
    assert "no run in it" in kcheck("fleet", "report", f"{url}/run=b", *options, "-o", page).err
    resumed = json.loads(done("scan", *common, "--output-dir", url, "--resume", "b"))
    assert (here["rows"], carried) == (resumed["rows"], resumed["carried_over"])
    assert ["run=a", "run=b"] == sorted(path.rpartition("/")[2] for path in system.ls(url))


def test_a_run_that_fails_in_a_store_leaves_nothing(
    s3: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But what it was to remember."""
    url = upload(tmp_path, "dead", s3) + "/out"

    write = StoreTree.write

    def refuse(store: StoreTree, path: str, data: bytes) -> None:
        if path.endswith(refused):
            raise OSError(28, "No space left on device")
        write(store, path, data)

    monkeypatch.setattr(StoreTree, "write", refuse)
    refused = "_manifest.json"
    layout = BROKERS / "4.3.1" / "diverged" / "{broker}" / "{log_dir}"
    options = [part for name, value in s3.items() for part in ("--storage-option", f"{name}={json.dumps(value)}")]
    for remember in ((), ("--remember",)):
        done = kcheck("fleet", "scan", layout, "--output-dir", url, "--run", "r", *remember, *options)
        assert (3, True) == (done.code, f"cannot write {url}/run=r: no space left" in done.err)
        left = {path.split("/")[3] for path in fsspec.filesystem("s3", **s3).find(url)}
        assert left == ({".run=r"} if remember else set())
    refused = ""
    done = kcheck("fleet", "scan", layout, "--output-dir", url, "--run", "r", *options)
    assert (2, True) == (done.code, f"cannot create {url}/run=r: no space left" in done.err)


def test_options_are_json_or_text(s3: dict[str, Any], tmp_path: Path) -> None:
    broker(tmp_path / "f" / "1" / "d", run(0, 99))
    url = upload(tmp_path / "f", "options", s3)
    options = (f"endpoint_url={s3['endpoint_url']}", "key=k", "secret=s", 'client_kwargs={"verify": false}')
    done = kcheck(
        "fleet", "scan", f"{url}/{{broker}}/{{log_dir}}", "--output-dir", tmp_path / "out", "--run", "r",
        "--format", "json",
        *(part for option in options for part in ("--storage-option", option)),
    )  # fmt: skip
    assert (0, True) == (done.code, '"partitions": 1' in done.out)
    assert (tmp_path / "out" / "run=r" / "_manifest.json").exists()
