"""New files appear together or not at all; what a killed command left is replaced."""

import errno
import os
from pathlib import Path

import pytest

from kcheck.disk.new_files import NewFiles, write_tree
from kcheck.errors import UsageError


class _KilledError(BaseException):
    """Stands for SIGKILL: no cleanup runs after it."""


def _write(out: Path) -> None:
    with NewFiles(str(out), (), apart_from=()) as files:
        for name in ("a", "b"):
            files.begin(name)
            files.write(name.encode())


def _names(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def _broken(kind: int) -> None:
    raise OSError(kind, os.strerror(kind))


@pytest.mark.parametrize("exists", [False, True])
@pytest.mark.parametrize("call", ["fsync", "write", "rename", "mkdir"])
@pytest.mark.parametrize("kind", [errno.ENOSPC, errno.EIO])
def test_a_disk_that_fails_is_named_and_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, exists: bool, call: str, kind: int
) -> None:
    out = tmp_path / "out"
    if exists:
        out.mkdir()
    with monkeypatch.context() as broken:
        broken.setattr(os, call, lambda *_, **__: _broken(kind))
        with pytest.raises(UsageError, match=f"out.*{os.strerror(kind)}"):
            _write(out)
    assert _names(tmp_path) == []
    _write(out)
    assert _names(out) == ["a", "b"]


@pytest.mark.parametrize("exists", [False, True])
@pytest.mark.parametrize("at", range(16))
def test_a_killed_command_leaves_no_final_name_and_can_be_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, exists: bool, at: int
) -> None:
    out = tmp_path / "out"
    if exists:
        out.mkdir()
    calls = iter(range(100))

    def dying(call: str) -> None:
        real = getattr(os, call)

        def either(*arguments: object, **names: object) -> object:
            if next(calls) == at:
                raise _KilledError
            return real(*arguments, **names)

        killed.setattr(os, call, either)

    with monkeypatch.context() as killed:
        killed.setattr(NewFiles, "_close", lambda _: None)
        for call in ("fsync", "write", "rename", "mkdir"):
            dying(call)
        try:
            _write(out)
        except _KilledError:
            final = [name for name in _names(out) if "/" not in name]
            assert final in ([], ["a", "b"]) or (exists and final in (["a"], ["b"]))
    if not ((out / "a").exists() and (out / "b").exists()):
        _write(out)
        assert _names(out) == ["a", "b"]
    with pytest.raises(UsageError, match="already exists"):
        _write(out)


@pytest.mark.parametrize("changed", [False, True])
def test_half_of_the_results_is_removed_if_it_is_as_it_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, changed: bool
) -> None:
    """A killed call published one of two files; one that the user has changed since then stays."""
    rename = os.rename

    def once(name: str, to: str, **at: int) -> None:
        rename(name, to, **at)
        raise _KilledError

    with monkeypatch.context() as killed:
        killed.setattr(NewFiles, "_close", lambda _: None)
        killed.setattr(os, "rename", once)
        with pytest.raises(_KilledError):
            _write(tmp_path)
    (published,) = (path for path in tmp_path.iterdir() if path.is_file())
    if changed:
        published.write_bytes(b"of the user")
        with pytest.raises(UsageError, match=f"{published.name} already exists"):
            _write(tmp_path)
        assert published.read_bytes() == b"of the user"
    else:
        write_tree(str(tmp_path), {"c": b"1"})
        assert _names(tmp_path) == ["c"]


def test_a_tree_is_published_by_one_rename(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    renamed: list[str] = []
    rename = os.rename

    def remembering(name: str, to: str, *, src_dir_fd: int, dst_dir_fd: int) -> None:
        renamed.append(to)
        rename(name, to, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)

    monkeypatch.setattr(os, "rename", remembering)
    write_tree(str(tmp_path / "out"), {"x": b"1", "d/y": b"2", "d/e/z": b"3"})
    assert (renamed, _names(tmp_path / "out")) == (["out"], ["d/e/z", "d/y", "x"])


def test_a_link_with_the_temporary_name_is_not_followed(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "kept").write_bytes(b"1")
    (tmp_path / "out.kcheck-new").symlink_to(elsewhere)
    with pytest.raises(UsageError, match="cannot create"):
        _write(tmp_path / "out")
    assert _names(elsewhere) == ["kept"]
