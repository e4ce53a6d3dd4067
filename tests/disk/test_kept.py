"""One look of a command at its log dirs, with the owners that its listings note."""

import os
from pathlib import Path
from typing import Self

import pytest

from kcheck.disk.kept import expect_owners, local_tree, noted_owners, one_look
from kcheck.disk.local import LOCAL
from kcheck.model.unreadable import UnreadableError
from tests.builders import write


@pytest.fixture
def partition(tmp_path: Path) -> Path:
    """Return a directory with a segment, and a segment that only its owner may read."""
    write(tmp_path / "t-0", {"00000000000000000000.log": b"log", "00000000000000000007.log": b"", "empty.index": b""})
    (tmp_path / "t-0" / "00000000000000000007.log").chmod(0o600)
    return tmp_path / "t-0"


def test_owners_are_noted_by_the_listing(partition: Path) -> None:
    """The owners and modes of all files, and the number of segments."""
    with one_look():
        expect_owners()
        with local_tree().directory(str(partition)) as folder:
            assert folder.listing() == folder.listing() == LOCAL.directory(str(partition)).listing()
        noted = noted_owners(str(partition))
        assert noted_owners("elsewhere") is None
    who = os.geteuid(), (partition / "empty.index").stat().st_gid
    assert noted == (frozenset({(*who, 0o644), (*who, 0o600)}), 2)


def test_nothing_is_noted_unless_a_premise_asks(partition: Path) -> None:
    """Other commands note no owners, and a call outside of a command notes none."""
    with one_look():
        local_tree().directory(str(partition)).listing()
        assert noted_owners(str(partition)) is None
    expect_owners()
    assert noted_owners(str(partition)) is None


def test_the_listing_gives_sizes(partition: Path) -> None:
    """The listing gives sizes of files with read permission for everybody, until the block ends."""
    with one_look():
        expect_owners()
        with local_tree().directory(str(partition)) as folder:
            folder.listing()
            os.truncate(partition / "00000000000000000000.log", 1)
            assert [3, 0] == [folder.readable_size(f"{base:020d}.log") for base in (0, 7)]
        assert folder.readable_size("00000000000000000000.log") == 1


def test_a_file_that_leaves_meanwhile(partition: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The listing has the file, and the directory has no noted owners."""
    scandir = os.scandir

    class Entries:
        def __init__(self, at: int) -> None:
            self._entries = scandir(at)

        def __enter__(self) -> Self:
            return self

        def __exit__(self, *_: object) -> None:
            self._entries.close()

        def __iter__(self) -> Self:
            return self

        def __next__(self) -> "os.DirEntry[str]":
            entry = next(self._entries)
            (partition / entry.name).unlink(missing_ok=True)
            return entry

    with one_look():
        expect_owners()
        monkeypatch.setattr(os, "scandir", Entries)
        with local_tree().directory(str(partition)) as folder:
            assert len(folder.listing().files) == 3
        assert noted_owners(str(partition)) is None


def test_a_short_file_is_read_without_its_status(partition: Path) -> None:
    """An index is complete. A device that reads like an empty file is not a regular file."""
    write(partition, {"00000000000000000000.index": b"12345678"})
    with one_look():
        folder = local_tree().directory(str(partition))
        assert folder.read_filled("00000000000000000000.index") == (b"12345678", 8)
        assert folder.read_filled("empty.index") == (b"", 0)
        with pytest.raises(UnreadableError):
            folder.read_filled("missing.index")
    with pytest.raises(UnreadableError, match="not a regular file"):
        LOCAL.directory("/dev").read_filled("null")
