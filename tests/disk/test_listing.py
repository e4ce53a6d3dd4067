"""The names in a directory, and the path that a user names."""

import os
from pathlib import Path

import pytest

from kcheck.disk import local
from kcheck.disk.listing import Listing
from kcheck.disk.local import LOCAL
from kcheck.disk.paths import split
from kcheck.model import names
from kcheck.model.names import LEADER_EPOCHS
from kcheck.model.unreadable import UnreadableError


def test_names_are_sorted_by_what_they_are(tmp_path: Path) -> None:
    for name in ("t-1", "t-0"):
        (tmp_path / name).mkdir()
    for name in ("b", "a"):
        (tmp_path / name).touch()
    os.mkfifo(tmp_path / "fifo")
    assert Listing(("a", "b"), ("t-0", "t-1"), ("fifo",)) == LOCAL.listing(str(tmp_path))


def test_a_link_to_a_directory_inside_is_a_directory(tmp_path: Path) -> None:
    (tmp_path / "t-0").mkdir()
    (tmp_path / "t-1").symlink_to("t-0")
    assert ("t-0", "t-1") == LOCAL.listing(str(tmp_path)).directories


@pytest.mark.parametrize("target", ["..", "../out", ".", "nowhere", "t-1", "/dev/zero", "file"])
def test_every_other_link_is_left_alone(tmp_path: Path, target: str) -> None:
    """Outside of the directory, to the directory itself, nowhere, in a loop, to a device, to a file."""
    (tmp_path / "out").mkdir()
    inside = tmp_path / "in"
    inside.mkdir()
    (inside / "file").touch()
    (inside / "t-1").symlink_to(target)
    assert Listing(("file",), (), ("t-1",)) == LOCAL.listing(str(inside))


def test_a_neighbour_that_begins_with_the_same_name_is_outside(tmp_path: Path) -> None:
    """/data/d10 is not inside of /data/d1."""
    (tmp_path / "d10" / "t-0").mkdir(parents=True)
    (tmp_path / "d1").mkdir()
    (tmp_path / "d1" / "t-0").symlink_to("../d10/t-0")
    assert Listing((), (), ("t-0",)) == LOCAL.listing(str(tmp_path / "d1"))


def test_a_name_of_undecodable_bytes_is_listed(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"\xff-0")).mkdir()
    assert ("\udcff-0",) == LOCAL.listing(str(tmp_path)).directories


@pytest.mark.parametrize("name", ["gone", "file", "a\0b"])
def test_what_cannot_be_listed_is_unreadable(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UnreadableError):
        LOCAL.listing(f"{tmp_path}/{name}")


def test_the_size_of_a_link_is_its_own(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"1234567890")
    (tmp_path / "link").symlink_to("file")
    assert [10, 4] == [LOCAL.size(str(tmp_path / name)) for name in ("file", "link")]


def test_the_size_of_a_file_that_is_gone_is_unreadable(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match="No such file"):
        LOCAL.size(str(tmp_path / "gone"))


def test_a_path_of_the_user_exists_even_as_a_broken_link(tmp_path: Path) -> None:
    (tmp_path / "broken").symlink_to("nowhere")
    assert LOCAL.exists(str(tmp_path / "broken"))
    assert not LOCAL.exists(str(tmp_path / "gone"))
    assert not LOCAL.exists("a\0b")


def test_what_nobody_may_look_for_may_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    """To call it missing would mislead: opening it reports the missing permission."""

    def refuses(path: str) -> None:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr("os.lstat", refuses)
    assert LOCAL.exists("locked/file")


@pytest.mark.parametrize(
    ("path", "parts"),
    [("/a/t-0", ("/a", "t-0")), ("/a/t-0/", ("/a", "t-0")), ("t-0", (".", "t-0")), ("./5=x", (".", "5=x"))],
)
def test_a_path_is_split_at_its_last_name(path: str, parts: tuple[str, str]) -> None:
    """A slash at the end changes nothing."""
    assert parts == split(path)


def test_of_many_strangers_only_the_first_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the order in which the system lists them; files of Kafka are all named, and so is a directory."""
    monkeypatch.setattr(names, "STRANGERS_MAX", 3)
    monkeypatch.setattr(local, "COUNT_MAX", 4)
    kept = ("copy0", "copy1", "copy2")
    logs = tuple(f"{number:020}.log" for number in range(6))
    (tmp_path / "t-0").mkdir()
    for name in (*logs, LEADER_EPOCHS, *(f"copy{number}" for number in range(9))):
        (tmp_path / name).touch()
    listing = Listing((*logs, *kept, LEADER_EPOCHS), ("t-0",), (), 6)
    assert listing == LOCAL.listing(str(tmp_path), names.is_stranger)
    assert sorted((*logs, *kept, LEADER_EPOCHS)) == sorted(LOCAL.directory(str(tmp_path)).entries().sizes)
    assert 16 == len(LOCAL.listing(str(tmp_path)).files)
