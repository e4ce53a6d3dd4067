"""What the operating system says of owners, modes and file systems."""

import os
import resource
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from kcheck.disk import rights as reading
from kcheck.disk.rights import process_limits, rights_in, rights_of, volume_of


def every(_: str) -> bool:
    """Want every name."""
    return True


def test_rights_of_paths(tmp_path: Path) -> None:
    """Owner and mode of a path in a log dir, through a link; nothing of what is missing or cannot be a name."""
    (tmp_path / "a-0").mkdir(mode=0o750)
    (tmp_path / "link").symlink_to("a-0")
    here = (os.geteuid(), (tmp_path / "a-0").stat().st_gid, 0o750)
    assert rights_of(str(tmp_path), "a-0") == ("a-0", *here)
    assert rights_of(str(tmp_path), "link") == ("link", *here)
    assert [rights_of(str(tmp_path), name) for name in ("missing", "\0")] == [None, None]


def test_rights_of_files(tmp_path: Path) -> None:
    """Wanted regular files alone, with their path in the log dir; no file of a directory that cannot be listed."""
    (tmp_path / "a-0" / "nested.log").mkdir(parents=True)
    for path in ("a-0/x.log", "a-0/y.txt"):
        (tmp_path / path).touch(mode=0o600)
    (tmp_path / "a-0" / "link.log").symlink_to("x.log")
    logs = [(path, mode) for path, _, _, mode in rights_in(str(tmp_path), "a-0", lambda name: name.endswith(".log"))]
    assert logs == [("a-0/x.log", 0o600)]
    assert list(rights_in(str(tmp_path), "missing", every)) == []


def test_a_volume(tmp_path: Path) -> None:
    """The mount point contains the path, and free bytes are counted in its blocks."""
    volume = volume_of(str(tmp_path))
    assert volume is not None
    status = os.statvfs(tmp_path)
    assert tmp_path.is_relative_to(volume.mount_point)
    assert (volume.is_read_only, volume.block_size) == (False, status.f_frsize)
    assert 0 <= volume.free <= volume.free_for_root <= status.f_blocks * status.f_frsize
    assert [volume_of(path) for path in (str(tmp_path / "missing"), "s3://bucket/data")] == [None, None]


def test_a_full_volume_that_is_read_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What statvfs says is what counts: here as on a full disk that is mounted read-only."""
    full = SimpleNamespace(f_flag=os.ST_RDONLY, f_bavail=0, f_bfree=2, f_frsize=512)
    monkeypatch.setattr(os, "statvfs", lambda _: full)
    volume = volume_of(str(tmp_path))
    assert volume is not None
    assert (volume.is_read_only, volume.free, volume.free_for_root, volume.block_size) == (True, 0, 1024, 512)


def test_a_bind_mount_that_is_read_only(tmp_path: Path) -> None:
    """A log dir that is mounted read-only over itself is its own mount point."""
    log_dir = tmp_path / "log dir"
    log_dir.mkdir()
    reading._mounts.cache_clear()
    done = [
        subprocess.run(["mount", *words, str(log_dir)], capture_output=True, check=False).returncode
        for words in (("--bind", str(log_dir)), ("-o", "remount,bind,ro"))
    ]
    try:
        if any(done):
            pytest.skip("needs the right to mount")
        volume = volume_of(str(log_dir))
        assert volume is not None
        assert (volume.is_read_only, volume.mount_point) == (True, str(log_dir))
    finally:
        reading._mounts.cache_clear()
        if not done[0]:
            subprocess.run(["umount", str(log_dir)], check=True)


@pytest.mark.parametrize(
    ("mounts", "expected"),
    [
        ("22 1 254:0 / / rw - ext4 /dev/vda rw\n", False),
        ("22 1 0:1 / / rw - overlay overlay rw\n23 22 0:2 / /data ro - ext4 /dev/vdb rw\n", True),
        ("23 22 0:2 / /data ro - ext4 /dev/vdb rw\n", False),
        (None, False),
    ],
)
def test_a_container(mounts: str | None, *, expected: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file system at / shows whether kcheck runs in a container."""
    if mounts is not None:
        (tmp_path / "mountinfo").write_text(mounts)
    monkeypatch.setattr(reading, "_MOUNTS", str(tmp_path / "mountinfo"))
    reading._mounts.cache_clear()
    volume = volume_of(str(tmp_path))
    reading._mounts.cache_clear()
    assert volume is not None
    assert volume.is_seen_in_container is expected


def test_open_files_of_this_session(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a limit, or on a system without this module, no number is known."""
    answers = []
    for limit in (400, resource.RLIM_INFINITY):
        monkeypatch.setattr(resource, "getrlimit", lambda _, limit=limit: (100, limit))
        answers.append(process_limits().open_files)
    monkeypatch.setitem(sys.modules, "resource", None)
    assert [*answers, process_limits().open_files] == [400, None, None]


def test_maps_of_this_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A system without vm.max_map_count has no limit that is known."""
    (tmp_path / "limit").write_text("65530\n")
    answers = []
    for name in ("limit", "missing"):
        monkeypatch.setattr(reading, "_MAP_COUNT", str(tmp_path / name))
        answers.append(process_limits().maps)
    assert answers == [65530, None]
