"""What `kcheck capture` writes: the same bytes each time, all that could be read, and nothing where it must not."""

import errno
import hashlib
import json
import os
import re
import shutil
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

from kcheck.capture import write
from kcheck.capture.tree import items
from kcheck.capture.write import CaptureProgress
from tests.builders import log_dir, partition_dir
from tests.capture.answers import SUFFIX, captured, fresh, run
from tests.capture.hostile import SAMPLE


def manifest_of(bundle: Path) -> dict[str, Any]:
    """Return the manifest of a bundle."""
    with zipfile.ZipFile(bundle) as archive:
        document: dict[str, Any] = json.loads(archive.read("manifest.json"))
    return document


@pytest.fixture(name="broker")
def _broker(tmp_path: Path) -> Path:
    return Path(shutil.copytree(SAMPLE, tmp_path / "broker"))


def test_two_captures_are_equal_and_the_digest_is_printed(broker: Path, tmp_path: Path) -> None:
    """The manifest comes first, every member has the same date, and nothing says when."""
    code, out, errors = run(["capture", str(broker), "-o", str(tmp_path / f"one{SUFFIX}")])
    two = captured([broker], tmp_path)
    one = (tmp_path / f"one{SUFFIX}").rename(tmp_path / "moved")
    with zipfile.ZipFile(one) as archive:
        infos = archive.infolist()
        assert archive.testzip() is None
    assert (code, out) == (0, "")
    assert hashlib.sha256(one.read_bytes()).hexdigest() in errors
    assert infos[0].filename == "manifest.json"
    assert {info.date_time for info in infos} == {(1980, 1, 1, 0, 0, 0)}
    with zipfile.ZipFile(one) as archive, zipfile.ZipFile(two) as other:
        names = [info.filename for info in infos if info.filename != "README.txt"]  # It names the bundle.
        assert all(archive.read(name) == other.read(name) for name in names)
        members = {entry["member"]: entry["sha256"] for entry in manifest_of(two)["entries"] if "member" in entry}
        assert all(hashlib.sha256(archive.read(name)).hexdigest() == digest for name, digest in members.items())
    assert stat_of(two) == 0o600


def stat_of(path: Path) -> int:
    """Return the mode of a file."""
    return path.stat().st_mode & 0o777


def test_the_list_writes_nothing(broker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each item with its size and why, in 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")
    before = sorted(tmp_path.rglob("*"))
    code, out, errors = run(["capture", str(broker), "--dry-run", "-o", str(tmp_path / f"x{SUFFIX}")])
    assert (code, errors) == (0, "")
    assert sorted(tmp_path.rglob("*")) == before
    assert any(line.endswith("batch headers with verdicts; no records") for line in out.splitlines())
    *listed, title, command = out.splitlines()
    assert max(map(len, listed)) <= 80
    assert (title, command.strip()) == ("Next:", f"kcheck capture {broker} --output {tmp_path / f'x{SUFFIX}'}")
    names = {str(path.relative_to(broker)) for path in broker.rglob("*") if path.is_file()}
    assert names == {line[11:].split("  ")[0] for line in out.splitlines() if line[:10].strip()[:1].isdigit()}


@pytest.mark.parametrize(
    ("options", "also"),
    [
        ([], "the mode, time and SHA-256 of each file (no SHA-256 of server.properties). --no-digests"),
        (["--no-digests"], "the mode and time of each file. No SHA-256."),
        (["--share"], "the mode and time of each file. No SHA-256."),
        (["--pseudonyms", "key"], "the mode and time of each file. No SHA-256."),
    ],
)
def test_the_list_names_what_else_goes_in(options: list[str], also: str, broker: Path, tmp_path: Path) -> None:
    """The manifest has it of each file."""
    config = tmp_path / "server.properties"
    config.write_text(f"broker.id=1\nlog.dirs={broker}/data1\n", "utf-8")
    code, out, _ = run(["capture", str(config), "--dry-run", *options])
    assert (code, f"Also: {also}" in " ".join(out.split())) == (0, True)
    assert "SHA-256 of each file. --no-digests" in " ".join(run(["capture", str(broker), "--dry-run"])[1].split())


def test_a_configuration_goes_in_with_its_log_dirs(broker: Path, tmp_path: Path) -> None:
    """Without secrets, hosts and paths: what decides a start, as numbers, flags, roles and versions."""
    config = tmp_path / "host-7.properties"
    config.write_text(
        f"broker.id=1\nlog.dirs={broker}/data1, {broker}/data2\nssl.key.password=hunter2\nlog.segment.bytes=1048576\n"
        "listeners=PLAINTEXT://host-7:9092\nzookeeper.connect=host-7\nlog.preallocate=${vault:/a:b}\n", "utf-8"
    )  # fmt: skip
    own = captured([config], tmp_path).rename(tmp_path / f"own{SUFFIX}")
    first, *others = manifest_of(own)["entries"]
    assert ("server.properties", config.stat().st_size) == (first["path"], first["size"])
    assert manifest_of(captured([broker / "data1", broker / "data2"], tmp_path))["entries"] == others
    expected = "broker.id=1 log.dirs=data1,data2 log.segment.bytes=1048576 zookeeper.connect=x log.preallocate=${x}"
    with zipfile.ZipFile(own) as archive:
        assert expected.split() == archive.read(first["member"]).decode().split()


def test_brokers_may_be_named(broker: Path, tmp_path: Path) -> None:
    """One path is the bundle itself; two that end alike have the names of their brokers before them."""
    named = captured([broker / "data1"], tmp_path).rename(tmp_path / f"named{SUFFIX}")
    code, _, errors = run(["capture", f"1={broker}/data1", "-o", f"{tmp_path}/data1{SUFFIX}"])
    assert (0, named.read_bytes()) == (code, (tmp_path / f"data1{SUFFIX}").read_bytes()), errors
    shutil.copytree(broker / "data1", tmp_path / "other" / "data1")
    identity = tmp_path / "other" / "data1" / "meta.properties"
    identity.write_text(re.sub("(?m)id=1$", "id=2", identity.read_text()))
    both = f"{tmp_path}/both{SUFFIX}"
    code, _, errors = run(["capture", f"1={broker}/data1", f"2={tmp_path}/other/data1", "-o", both])
    assert 0 == code, errors
    roots = [row["path"] for row in manifest_of(Path(both))["entries"] if "/" not in row["path"]]
    assert ["broker-1-data1", "broker-2-data1"] == roots


def test_a_configuration_cannot_be_captured(broker: Path, tmp_path: Path) -> None:
    """A bundle in one of its log dirs, two configurations, or one without log dirs."""
    config, other = tmp_path / "server.properties", tmp_path / "other.properties"
    for path in (config, other):
        path.write_text(f"broker.id=1\nlog.dirs={broker}/data2\n", "utf-8")
    inside = f"{broker}/data2/x{SUFFIX}"
    code, _, errors = run(["capture", str(config), "-o", inside])
    assert (code, f"-o {inside} is inside {broker}/data2, which is captured" in errors) == (2, True)
    code, _, errors = run(["capture", str(config), str(other), "-o", f"{tmp_path}/x{SUFFIX}"])
    assert (code, "two paths end in data2" in errors) == (2, True)
    config.write_text("broker.id=1\n", "utf-8")
    code, _, errors = run(["capture", str(config), "-o", f"{tmp_path}/x{SUFFIX}"])
    assert (code, "no log.dirs setting" in errors) == (2, True)


def test_nothing_changes_in_the_directory(broker: Path, tmp_path: Path) -> None:
    """Not even a time of access."""

    def states() -> list[tuple[str, int, int, int, int]]:
        statuses = [(str(path), path.stat()) for path in sorted(broker.rglob("*")) if path.is_file()]
        return [(name, s.st_atime_ns, s.st_mtime_ns, s.st_ctime_ns, s.st_size) for name, s in statuses]

    before = states()
    captured([broker], tmp_path)
    assert states() == before


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["{broker}"], "-o FILE.kcheck is missing"),
        ([], "PATH... is missing"),
        (["{broker}", "-o", "{tmp}/x.zip"], "ends in .kcheck"),
        (["{broker}", "-o", "{broker}/x.kcheck"], "which is captured"),
        (["{broker}/data1/plain-1", "-o", "{broker}/data1/x.kcheck"], "which is captured"),
        (["{broker}/data1", "-o", "{broker}/data2/x.kcheck"], "inside the log dir"),
        (["{broker}", "-o", "{tmp}/there.kcheck"], "already exists"),
        (["{broker}", "-o", "{tmp}/no/x.kcheck"], "cannot write"),
        (["{tmp}/missing", "-o", "{tmp}/x.kcheck"], "no such file or directory"),
        (["{broker}", "-o", "{tmp}/x.kcheck", "--limit", "much"], "--max-size much: not a size"),
        (["{broker}/data1", "{tmp}/other/data1", "-o", "{tmp}/x.kcheck"], "two paths end in data1"),
        (["7={broker}/data1", "-o", "{tmp}/x.kcheck"], "meta.properties says broker 1"),
        (["--translate", "{tmp}/there.kcheck"], "is not a key file"),
        (["{tmp}/made.kcheck", "-o", "{tmp}/x.kcheck"], "is a bundle already"),
    ],
)
def test_what_makes_no_sense_is_refused(broker: Path, tmp_path: Path, arguments: list[str], why: str) -> None:
    """And no file is left over."""
    (tmp_path / f"there{SUFFIX}").write_bytes(b"{}")
    shutil.copytree(broker / "data1", tmp_path / "other" / "data1")
    captured([broker], tmp_path).rename(tmp_path / f"made{SUFFIX}")
    before = sorted(tmp_path.rglob("*"))
    code, _, errors = run(["capture", *(text.format(broker=broker, tmp=tmp_path) for text in arguments)])
    assert code == 2
    assert why in errors
    assert sorted(tmp_path.rglob("*")) == before
    fresh()


def test_an_interrupted_capture_is_a_bundle(broker: Path, tmp_path: Path) -> None:
    """After ^C the bundle has what was read, and says what is missing."""
    listed, out = [*items([str(broker)])], tmp_path / f"partial{SUFFIX}"
    count = 0

    def interrupt(_: CaptureProgress) -> None:
        nonlocal count
        count += 1
        if count == len(listed) // 2:
            raise KeyboardInterrupt

    answer = write.capture(listed, str(out), tell=interrupt)
    missing = [entry for entry in manifest_of(out)["entries"] if "missing" in entry]
    assert (answer.complete, answer.interrupted) == (False, True)
    assert missing
    assert all("interrupted" in entry["missing"] for entry in missing)
    code, output, _ = run(["check", str(out), "--format", "json"])
    assert code in (1, 3)
    assert "not in the bundle" in output
    fresh()


def test_a_limit_leaves_out_what_is_too_large(broker: Path, tmp_path: Path) -> None:
    """Names and sizes stay."""
    bundle = captured([broker], tmp_path, "--max-size", "1K")
    manifest = manifest_of(bundle)
    assert not manifest["complete"]
    assert any(
        "the bundle would be larger than 1024 bytes" in entry.get("missing", "") for entry in manifest["entries"]
    )
    with zipfile.ZipFile(bundle) as archive:
        members = [info for info in archive.infolist() if info.filename.startswith("files/")]
        assert sum(info.file_size for info in members) <= 1024


def test_a_file_that_cannot_be_read_is_an_entry(tmp_path: Path) -> None:
    """With the system's words; links and empty directories are there too."""
    root = log_dir(tmp_path / "data")
    folder = partition_dir(root / "orders-0", [[]])
    (folder / "00000000000000000000.log").unlink(missing_ok=True)
    (folder / "00000000000000000000.log").symlink_to("/etc/passwd")
    (root / "empty-0").mkdir()
    bundle = captured([root], tmp_path)
    kinds = {entry["path"]: entry["type"] for entry in manifest_of(bundle)["entries"]}
    assert kinds["orders-0/00000000000000000000.log"] == "link"
    assert kinds["empty-0"] == "directory"
    pair = [run(["check", str(path), "--format", "json"]) for path in (root, bundle)]
    assert pair[0][0] == pair[1][0]
    fresh()


def test_an_unreadable_file_keeps_its_error(broker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that fails while a file is read."""
    real = os.open

    def failing(path: Any, *arguments: Any, **given: Any) -> int:
        if str(path).endswith(".timeindex"):
            raise OSError(5, "Input/output error")
        return real(path, *arguments, **given)

    monkeypatch.setattr(os, "open", failing)
    code, _, errors = run(["capture", str(broker), "-o", str(tmp_path / f"x{SUFFIX}")])
    monkeypatch.undo()
    assert code == 3
    assert "Input/output error" in errors
    refused = [entry for entry in manifest_of(tmp_path / f"x{SUFFIX}")["entries"] if "error" in entry]
    assert {entry["error"]["errno"] for entry in refused} == {5}
    code, out, _ = run(["check", str(tmp_path / f"x{SUFFIX}"), "--format", "json"])
    assert code == 3
    assert "Input/output error" in out
    fresh()


def test_a_full_disk_ends_a_capture(broker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not taken for an input that cannot be read."""

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    opened = tempfile.TemporaryFile

    def limited(*arguments: Any, **names: Any) -> Any:
        stream = opened(*arguments, **names)
        monkeypatch.setattr(stream, "write", full)
        return stream

    monkeypatch.setattr(tempfile, "TemporaryFile", limited)
    out = tmp_path / f"full{SUFFIX}"
    code, _, errors = run(["capture", str(broker), "-o", str(out)])
    assert (code, errors, out.exists()) == (2, f"kcheck: cannot write {out}: no space left on device\n", False)
