"""Only regular files are read, no link inside of a checked directory is followed, and nothing changes."""

import contextlib
import os
import stat
import sys
from pathlib import Path

import pytest

from kcheck.disk.local import LOCAL
from kcheck.disk.refusals import Refusals
from kcheck.model.source import SMALL_FILE_SIZE_MAX
from kcheck.model.unreadable import UnreadableError

MISSING = "No such file or directory"
NOBODY = 65534


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "file"
    path.write_bytes(b"0\n0\n")
    return path


def why_not(path: str | Path, *, follow: bool = False) -> str:
    """Return why a path cannot be read."""
    with pytest.raises(UnreadableError) as caught:
        LOCAL.read_whole(str(path), follow=follow)
    return str(caught.value)


def test_a_regular_file_is_read_whole(file: Path) -> None:
    assert LOCAL.read_whole(str(file)) == b"0\n0\n"


def test_an_empty_file_is_empty(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    assert LOCAL.read_whole(str(tmp_path / "empty")) == b""


@pytest.mark.parametrize("parts", [[(0, b"abc")], [(0, b"abc"), (900_000, b"x")], [(200_000, b"y")], []])
@pytest.mark.parametrize("size", [0, 100, 1 << 20])
def test_the_hole_at_the_end_of_a_file_is_not_read(tmp_path: Path, parts: list[tuple[int, bytes]], size: int) -> None:
    """The data and the zeros after it equal the file, wherever it has holes."""
    path = tmp_path / "sparse"
    with path.open("wb") as file:
        for position, data in parts:
            file.seek(position)
            file.write(data)
        file.truncate(max(size, file.tell()))
    data, whole = LOCAL.directory(str(path.parent)).read_filled(path.name)
    assert path.read_bytes() == data.ljust(whole, b"\0")


@pytest.mark.skipif(not hasattr(os, "SEEK_HOLE"), reason="this system does not tell holes")
def test_a_file_that_is_mostly_reserved_costs_what_is_in_it(tmp_path: Path) -> None:
    """Whatever its size, kcheck only reads what was written."""
    path = tmp_path / "sparse"
    path.write_bytes(b"abc")
    os.truncate(path, 1 << 40)
    data, size = LOCAL.directory(str(path.parent)).read_filled(path.name)
    assert size == 1 << 40
    assert len(data) <= 1 << 20
    os.truncate(path, 0)
    os.truncate(path, SMALL_FILE_SIZE_MAX + 1)
    with path.open("r+b") as file:
        file.seek(SMALL_FILE_SIZE_MAX)
        file.write(b"x")
    with pytest.raises(UnreadableError, match="too many for a file of this kind"):
        LOCAL.directory(str(path.parent)).read_filled(path.name)


@pytest.mark.parametrize("name", ["leader-epoch-checkpoint", "replication-offset-checkpoint"])
def test_a_text_checkpoint_has_a_limit_of_its_own(name: str, tmp_path: Path) -> None:
    """Its entries need many times its size, unlike those of an index."""
    for each in (name, "00000000000000000000.index"):
        with (tmp_path / each).open("wb") as file:
            os.truncate(file.name, (64 << 20) + 1)
    with pytest.raises(UnreadableError, match="67108865 bytes are too many for a file of this kind"):
        LOCAL.read_whole(str(tmp_path / name))
    assert len(LOCAL.read_whole(str(tmp_path / "00000000000000000000.index"))) == (64 << 20) + 1


def test_opened_tells_the_size(file: Path) -> None:
    with LOCAL.open(str(file)) as source:
        assert (4, b"0\n0\n") == (source.size, source.pread(100, 0))


def test_a_look_for_holes_does_not_move_what_is_read(tmp_path: Path) -> None:
    path = tmp_path / "sparse"
    with path.open("wb") as file:
        file.write(b"ab")
        file.truncate(1 << 20)
    buffer = bytearray(b"....")
    with LOCAL.open(str(path)) as source:
        assert (1, None) == (source.next_data(1), source.next_data(source.size - 1))
        assert (b"ab", b"b\0") == (source.pread(2, 0), source.pread(2, 1))
        assert (4, 2) == (
            source.pread_into(memoryview(buffer), 0),
            source.pread_into(memoryview(buffer), (1 << 20) - 2),
        )
    assert b"\0\0\0\0" == buffer


def test_the_entries_of_a_directory(tmp_path: Path) -> None:
    """As File.isFile and File.isDirectory say: a link counts as what is at its end, and as nothing without one."""
    (tmp_path / "file").write_bytes(b"ab")
    (tmp_path / "empty").mkdir()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    os.mkfifo(tmp_path / "pipe")
    targets = {"to-file": "file", "to-full": "full", "missing": "x", "through": "file/x", "loop": "loop"}
    for link, target in targets.items():
        (tmp_path / link).symlink_to(target)
    entries = LOCAL.directory(str(tmp_path)).entries()
    assert {"file": 2, "to-file": 2} == entries.sizes
    assert {"empty": True, "full": False, "to-full": False} == entries.directories
    assert ("pipe",) == entries.others
    with pytest.raises(UnreadableError, match=MISSING):
        LOCAL.directory(str(tmp_path / "x")).entries()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs here")
@pytest.mark.parametrize("follow", [False, True])
def test_a_fifo_without_a_writer_does_not_hang(tmp_path: Path, *, follow: bool) -> None:
    """Opening it would wait for a writer forever."""
    os.mkfifo(tmp_path / "fifo")
    assert why_not(tmp_path / "fifo", follow=follow) == "not a regular file"


@pytest.mark.parametrize("follow", [False, True])
def test_a_directory_is_no_file(tmp_path: Path, *, follow: bool) -> None:
    assert why_not(tmp_path, follow=follow) == "not a regular file"


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="no devices here")
@pytest.mark.parametrize("follow", [False, True])
def test_a_device_is_no_file(*, follow: bool) -> None:
    """/dev/zero has no end."""
    assert why_not("/dev/zero", follow=follow) == "not a regular file"


def test_a_socket_is_no_file(tmp_path: Path) -> None:
    os.mknod(tmp_path / "socket", stat.S_IFSOCK | 0o600)
    assert why_not(tmp_path / "socket")


@pytest.mark.parametrize(
    ("target", "why"),
    [
        ("file", "a symbolic link: not followed"),
        ("../outside", "a symbolic link: not followed"),
        ("nowhere", "a symbolic link to a path that does not exist"),
        ("file/x", "a symbolic link to a path that does not exist"),
        ("link", "a symbolic link to itself"),
    ],
)
def test_no_link_is_followed(tmp_path: Path, target: str, why: str) -> None:
    """Neither a link that stays inside nor one that leads outside, nowhere or to itself."""
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "file").write_bytes(b"in")
    (tmp_path / "outside").write_bytes(b"out")
    (inside / "link").symlink_to(target)
    assert why == why_not(inside / "link")


def test_links_that_lead_nowhere_are_no_entries(tmp_path: Path) -> None:
    """One that leads to itself is named: a broker fails when it opens it."""
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "dangling").symlink_to("gone")
    (tmp_path / "file").write_bytes(b"x")
    assert LOCAL.directory(str(tmp_path)).entries() == ({"file": 1}, {}, (), ("loop",))


def test_a_link_that_the_user_named_is_followed(tmp_path: Path, file: Path) -> None:
    (tmp_path / "link").symlink_to(file)
    assert LOCAL.read_whole(str(tmp_path / "link"), follow=True) == b"0\n0\n"


def test_a_vanished_file_is_said_in_the_words_of_the_system(tmp_path: Path) -> None:
    assert why_not(tmp_path / "gone") == MISSING


def test_a_name_with_a_nul_is_no_name(tmp_path: Path) -> None:
    """Python refuses it itself, each release in other words; kcheck always uses the same."""
    assert why_not(f"{tmp_path}/a\0b") == "embedded null byte"


@pytest.mark.skipif(sys.platform == "darwin", reason="names are UTF-8 there")
def test_a_name_of_undecodable_bytes_is_read(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/\xff\xfe"
    with open(path, "wb") as stream:
        stream.write(b"there")
    assert LOCAL.read_whole(os.fsdecode(path)) == b"there"


def test_a_file_of_somebody_else_is_said_in_the_words_of_the_system(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root reads everything, and is somebody else meanwhile."""
    file.chmod(0)
    monkeypatch.chdir(file.parent)
    file.parent.chmod(0o755)
    user = os.geteuid()
    os.seteuid(user or NOBODY)
    try:
        assert why_not(file.name) == "Permission denied"
    finally:
        os.seteuid(user)


def test_a_file_above_the_limit_is_not_read(file: Path) -> None:
    """A sparse file of a terabyte uses no memory."""
    os.truncate(file, 1 << 40)
    assert why_not(file) == f"{1 << 40} bytes are too many for a file of this kind"


def test_a_file_at_the_limit_is_read(file: Path) -> None:
    assert LOCAL.read_whole(str(file), size_max=4) == b"0\n0\n"
    with pytest.raises(UnreadableError, match="too many"):
        LOCAL.read_whole(str(file), size_max=3)


def test_a_file_that_is_shorter_than_it_says_is_read_as_far_as_it_goes() -> None:
    """A file in /proc claims 0 bytes; a file that shrinks during the read ends where it ends."""
    assert LOCAL.read_whole("/proc/self/status") in (b"", b"N")


def test_the_access_time_does_not_change(file: Path) -> None:
    """The times of a checked directory are evidence too."""
    os.utime(file, ns=(1, 2))
    LOCAL.read_whole(str(file))
    with LOCAL.open(str(file)) as source:
        source.pread(4, 0)
    assert (1, 2) == (os.stat(file).st_atime_ns, os.stat(file).st_mtime_ns)


def test_who_may_not_keep_the_access_time_reads_all_the_same(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the owner may use O_NOATIME."""
    plain = os.open

    def refuses(path: str, flags: int, *, dir_fd: int | None) -> int:
        if flags & os.O_NOATIME:
            raise PermissionError(1, "Operation not permitted")
        return plain(path, flags, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", refuses)
    assert LOCAL.read_whole(str(file)) == b"0\n0\n"


@pytest.mark.parametrize("is_open", [False, True])
def test_a_refused_path_is_remembered_as_it_was_named(
    *, is_open: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also a relative one, and one that is opened in a directory that is held open."""
    monkeypatch.chdir(tmp_path)
    Path("d").mkdir()
    plain = os.open

    def refuses(path: str, flags: int, *, dir_fd: int | None = None) -> int:
        if path.endswith("file"):
            raise PermissionError(13, "Permission denied")
        return plain(path, flags, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", refuses)
    with Refusals() as refused, contextlib.ExitStack() as stack:
        directory = stack.enter_context(LOCAL.directory("d")) if is_open else LOCAL.directory("d")
        with pytest.raises(UnreadableError, match="Permission denied"):
            directory.open("file")
        assert {"d/file": "Permission denied"} == refused


def test_an_error_while_reading_is_said_in_the_words_of_the_system(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(descriptor: int, size: int, position: int) -> bytes:
        del descriptor, size, position
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "pread", fails)
    assert why_not(file) == "Input/output error"


def test_no_descriptor_is_left_open(file: Path, tmp_path: Path) -> None:
    before = os.listdir("/proc/self/fd")
    LOCAL.read_whole(str(file))
    why_not(tmp_path)
    why_not("/dev/zero")
    assert before == os.listdir("/proc/self/fd")
