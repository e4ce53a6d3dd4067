"""What a replica loses is saved byte for byte, and nothing else is touched."""

import os
from hashlib import sha256
from pathlib import Path

import pytest

from kcheck.disk import new_files
from kcheck.disk.local import LOCAL
from kcheck.disk.new_files import NewFiles
from kcheck.errors import UsageError
from kcheck.model.entries import Offset
from kcheck.model.unreadable import UnreadableError
from kcheck.replicas import saved_records
from kcheck.replicas.loss import batches_of
from kcheck.replicas.replica import LogFile
from kcheck.replicas.saved_records import SavedRecords, save_lost
from tests.builders import log, log_dir, message, run, write
from tests.record_bytes import old_message, wrapper
from tests.replicas.test_group_offsets import log_files


@pytest.fixture
def logs(tmp_path: Path) -> tuple[LogFile, ...]:
    """Write three segments of a replica."""
    log_dir(tmp_path / "data")
    segments = {f"{base:020}.log": log(run(base, base + 99)) for base in (0, 100, 200)}
    return log_files(write(tmp_path / "data" / "t-0", segments))


def save(out: Path | str, logs: tuple[LogFile, ...], start: int, end: int, name: str = "t-0") -> SavedRecords:
    """Save a range of broker 3."""
    with NewFiles(str(out), (), apart_from={str(Path(log.path).parent) for log in logs}) as files:
        return save_lost(files, "", name, 3, logs, Offset(start), Offset(end))


def test_whole_batches_are_saved(tmp_path: Path, logs: tuple[LogFile, ...]) -> None:
    """Of three segments: those that overlap the range. The file is for this user alone."""
    path = tmp_path / "new" / "out" / "t-0" / "broker-3" / f"{50:020}.log"
    data = log(run(50, 219))
    expected = SavedRecords(str(path), Offset(50), Offset(220), 17, 170, len(data), sha256(data).hexdigest())
    assert expected == save(tmp_path / "new" / "out", logs, 55, 215)
    assert data == path.read_bytes()
    assert [0o600, 0o700] == [found.stat().st_mode & 0o777 for found in (path, path.parent)]


@pytest.mark.parametrize(
    ("start", "end", "expected"), [(0, 300, (0, 300)), (299, 300, (290, 300)), (100, 200, (100, 200))]
)
def test_the_bounds(tmp_path: Path, logs: tuple[LogFile, ...], start: int, end: int, expected: tuple[int, int]) -> None:
    """The batch with the last offset, and none that only touches the range."""
    saved = save(tmp_path / "out", logs, start, end)
    assert expected == (saved.start, saved.end)
    assert log(run(expected[0], expected[1] - 1)) == Path(saved.path or "").read_bytes()


def test_nothing_to_save(tmp_path: Path, logs: tuple[LogFile, ...]) -> None:
    """Then nothing is created."""
    nothing = SavedRecords(None, None, None, 0, 0, 0, sha256(b"").hexdigest())
    assert nothing == save(tmp_path / "out", logs, 300, 400) == save(tmp_path / "out", (), 0, 400)
    assert not (tmp_path / "out").exists()


def test_small_windows_and_files(tmp_path: Path, logs: tuple[LogFile, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """What is too large for one file goes into several, each named after its first offset."""
    monkeypatch.setattr(saved_records, "_WINDOW_SIZE", 250)
    monkeypatch.setattr(saved_records, "_FILE_SIZE_MAX", 1200)
    saved = save(tmp_path / "out", logs, 10, 290)
    paths = [Path(path) for path in (saved.path or "", *saved.more)]
    assert [10, 130, 250] == [int(path.stem) for path in paths]
    data = b"".join(path.read_bytes() for path in paths)
    assert log(run(10, 289)) == data
    assert (sha256(data).hexdigest(), len(data), 28) == (saved.sha256, saved.bytes, saved.batches)


@pytest.mark.parametrize("magic", [0, 1])
def test_wrappers(tmp_path: Path, magic: int) -> None:
    """The file is named after the first message in a wrapper; a damaged one is saved too, but not counted."""
    inner = b"".join(old_message(offset + 1 - magic, magic=magic) for offset in range(4))
    data = old_message(0, magic=magic) + wrapper(4, inner, magic=magic) + message(9, magic=magic, codec=1).data
    logs = log_files(write(tmp_path / "t-0", {f"{0:020}.log": data}))
    whole = save(tmp_path / "whole", logs, 1, 5)
    assert (1, 5, 4, f"{1:020}.log") == (whole.start, whole.end, whole.records, Path(whole.path or "").name)
    damaged = save(tmp_path / "damaged", logs, 5, 20)
    assert (9, 10, None, 1) == (damaged.start, damaged.end, damaged.records, damaged.batches)


def test_an_existing_file_stays(tmp_path: Path, logs: tuple[LogFile, ...]) -> None:
    """Nothing is overwritten, and no link is followed to write elsewhere."""
    saved = save(tmp_path / "out", logs, 50, 100)
    with pytest.raises(UsageError, match="already exists"):
        save(tmp_path / "out", logs, 50, 60)
    assert log(run(50, 99)) == Path(saved.path or "").read_bytes()
    (tmp_path / "out/t-0/broker-3" / f"{60:020}.log").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="already exists"):
        save(tmp_path / "out", logs, 60, 70)
    (tmp_path / "out" / "t-1").symlink_to(tmp_path)
    with pytest.raises(UsageError, match=r"t-1 already exists"):
        save(tmp_path / "out", logs, 60, 70, "t-1")
    assert not (tmp_path / "elsewhere").exists()
    assert not (tmp_path / "broker-3").exists()


def test_a_link_that_the_user_named(tmp_path: Path, logs: tuple[LogFile, ...]) -> None:
    """The output directory itself may be one, unless it leads into a log dir."""
    (tmp_path / "large").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "large")
    save(tmp_path / "out", logs, 0, 10)
    assert (tmp_path / "large" / "t-0" / "broker-3" / f"{0:020}.log").exists()
    (tmp_path / "sly").symlink_to(tmp_path / "data" / "t-0")
    with pytest.raises(UsageError, match="is inside of"):
        save(tmp_path / "sly", logs, 0, 10)


@pytest.mark.parametrize("out", ["data", "data/out", "data/t-0", "data/t-0/a/b", "other/out"])
def test_never_into_a_log_dir(tmp_path: Path, logs: tuple[LogFile, ...], out: str) -> None:
    """A broker would not start with such a directory; also not into a log dir that is not checked."""
    log_dir(tmp_path / "other")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(UsageError, match="is inside of"):
        save(tmp_path / out, logs, 0, 10)
    assert before == sorted(tmp_path.rglob("*"))


def test_a_place_without_a_name(logs: tuple[LogFile, ...]) -> None:
    """An empty variable of a script does not mean the working directory."""
    with pytest.raises(UsageError, match="is empty"):
        save("", logs, 0, 10)


def test_never_into_a_partition_directory(tmp_path: Path) -> None:
    """Also if nothing shows that it is in a log dir."""
    logs = log_files(write(tmp_path / "t-0", {f"{0:020}.log": log(run(0, 9))}))
    with pytest.raises(UsageError, match="is inside of"):
        save(tmp_path / "t-0" / "out", logs, 0, 10)
    assert save(tmp_path / "out", logs, 0, 10).records == 10


@pytest.mark.parametrize("name", ["", ".", "..", "a/b-0", "a\0-0"])
def test_names_that_lead_elsewhere(tmp_path: Path, logs: tuple[LogFile, ...], name: str) -> None:
    with pytest.raises(UsageError, match="cannot be the name of a directory"):
        save(tmp_path / "out", logs, 0, 10, name)


def test_a_store(tmp_path: Path, logs: tuple[LogFile, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """Its URL is not the name of a local directory."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="this machine only"):
        save("s3://bucket/out", logs, 0, 10)


def test_a_log_that_cannot_be_read(tmp_path: Path, logs: tuple[LogFile, ...]) -> None:
    """What was copied before is removed again."""
    Path(logs[1].path).unlink()
    with pytest.raises(UnreadableError):
        save(tmp_path / "out", logs, 50, 150)
    with pytest.raises(UnreadableError, match="ends early"):
        save(tmp_path / "out", (logs[0]._replace(size=logs[0].size + 99),), 50, 150)
    assert [] == [path for path in (tmp_path / "out").rglob("*") if path.is_file()]


def test_a_segment_becomes_shorter(tmp_path: Path, logs: tuple[LogFile, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """Between its headers and its bytes."""
    begin = new_files.NewFiles.begin

    def truncating(files: new_files.NewFiles, name: str) -> str:
        os.truncate(logs[0].path, 0)
        return begin(files, name)

    monkeypatch.setattr(new_files.NewFiles, "begin", truncating)
    with pytest.raises(UnreadableError, match="became shorter"):
        save(tmp_path / "out", logs, 0, 10)
    assert [] == [path for path in (tmp_path / "out").rglob("*") if path.is_file()]


def test_a_full_disk(tmp_path: Path, logs: tuple[LogFile, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the file, which is removed; a directory that cannot be created is named too."""
    write_to = os.write

    def full(descriptor: int, data: bytes) -> int:
        if len(data) > 100:
            return write_to(descriptor, data[:100])
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        with pytest.raises(UsageError, match=rf"cannot write .*{0:020}\.log: No space left"):
            save(tmp_path / "out", logs, 0, 100)
    assert [] == [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(UsageError, match="cannot create"):
        save(tmp_path / "file" / "out", logs, 0, 100)


def test_kcheck_reads_what_was_saved(tmp_path: Path, logs: tuple[LogFile, ...]) -> None:
    """It is a segment as any other."""
    saved = save(tmp_path / "out", logs, 55, 215)
    assert saved.path is not None
    file = LogFile(saved.path, Offset(50), saved.bytes, LOCAL.directory(str(Path(saved.path).parent)))
    offsets = [(found.base_offset, found.last_offset) for found in batches_of((file,))]
    assert [(made.base_offset, made.last_offset) for made in run(50, 219)] == offsets


def test_what_is_saved_survives_a_power_failure(
    tmp_path: Path, logs: tuple[LogFile, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each file and each directory with a new name in it is synced."""
    synced, sync = set[str](), os.fsync

    def remembering(descriptor: int) -> None:
        synced.add(os.readlink(f"/proc/self/fd/{descriptor}").replace(".kcheck-new", ""))
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", remembering)
    monkeypatch.setattr(saved_records, "_FILE_SIZE_MAX", 1500)
    saved = save(tmp_path / "out", logs, 0, 300)
    folder = tmp_path / "out" / "t-0" / "broker-3"
    assert 1 == len(saved.more)
    assert {*map(str, (tmp_path, *folder.parents[:2], folder)), str(saved.path), *saved.more} == synced
