"""A file that replaces another one, at names that are links, pipes, devices and sockets."""

import os
import socket
import threading
from pathlib import Path

import pytest

from kcheck.disk.output import make_directory, replace_file, replacing
from kcheck.errors import UsageError


def test_a_link_leads_to_a_new_whole_file(tmp_path: Path) -> None:
    """If the disk fails in the middle, the old file stays; a link to nothing leads to the new file."""
    old, link, empty = tmp_path / "old", tmp_path / "link", tmp_path / "empty"
    old.write_bytes(b"yesterday")
    old.chmod(0o604)
    link.symlink_to("old")
    empty.symlink_to(tmp_path / "new")
    with pytest.raises(OSError, match="full"), replacing(str(link)) as stream:  # noqa: PT012 - a disk that fails
        stream.write(b"half")
        raise OSError(28, "full")
    assert (old.read_bytes(), sorted(tmp_path.iterdir())) == (b"yesterday", sorted((old, link, empty)))
    for path in (link, empty):
        replace_file(str(path), b"today")
        assert (path.is_symlink(), path.resolve().read_bytes()) == (True, b"today")
    assert old.stat().st_mode & 0o777 == 0o604


def test_a_pipe_without_a_reader_does_not_hang(tmp_path: Path) -> None:
    """One with a reader gets everything, more than fits into it."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match="pipe: no process reads this pipe"):
        replace_file(str(tmp_path / "pipe"), b"x")
    read = list[bytes]()
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_bytes()))
    with open(tmp_path / "pipe", "rb", opener=lambda path, flags: os.open(path, flags | os.O_NONBLOCK)):
        reader.start()
        replace_file(str(tmp_path / "pipe"), b"x" * (1 << 20))
    reader.join()
    assert [b"x" * (1 << 20)] == read


def test_what_is_no_file_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A device takes the bytes; a socket, a directory and a link to itself are refused."""
    monkeypatch.chdir(tmp_path)
    replace_file("/dev/null", b"x")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind("socket")
    (tmp_path / "directory").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    before = {path.name: path.lstat() for path in tmp_path.iterdir()}
    for name in before:
        with pytest.raises(UsageError, match=f"cannot write {name}: "):
            replace_file(name, b"x")
    assert before == {path.name: path.lstat() for path in tmp_path.iterdir()}


def test_a_directory_below_a_file_cannot_be_created(tmp_path: Path) -> None:
    """The error does not say that it exists."""
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match=r"cannot create .*file/new: "):
        make_directory(str(tmp_path / "file" / "new"))
    with pytest.raises(UsageError, match="file already exists"):
        make_directory(str(tmp_path / "file"))
