"""The files of segments on a disk: no link is followed, and a directory is not a file."""

from pathlib import Path

import pytest

from kcheck.disk.local import LOCAL
from kcheck.model.entries import Offset
from kcheck.model.finding import Location
from kcheck.model.source import Files
from kcheck.model.unreadable import UnreadableError
from kcheck.segments.batches import tail_start
from kcheck.segments.segment import read_segment
from tests.builders import index_of, log, run

PREFIX = "00000000000000000000"
NAME = f"{PREFIX}.log"
MADE = run(0, 99)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a directory with one segment."""
    (tmp_path / NAME).write_bytes(log(MADE))
    return tmp_path


def test_an_open_directory_and_a_path_give_the_same_files(folder: Path) -> None:
    index = f"{PREFIX}.index"
    (folder / index).write_bytes(index_of(MADE, 0))
    with LOCAL.directory(str(folder)) as directory:
        ways: tuple[Files, ...] = (LOCAL.directory(str(folder)), directory)
        for files in ways:
            with files.open(NAME) as source:
                assert 900 == tail_start(files, source, Offset(0)).position
            assert index_of(MADE, 0) == files.read_filled(index).data


def test_an_index_that_is_a_link_is_not_read(folder: Path) -> None:
    """The log is walked from its start."""
    (folder / "elsewhere").write_bytes(index_of(MADE, 0))
    (folder / f"{PREFIX}.index").symlink_to("elsewhere")
    files = LOCAL.directory(str(folder))
    with files.open(NAME) as source:
        assert 0 == tail_start(files, source, Offset(0)).position


def test_an_index_that_is_a_directory_is_none(folder: Path) -> None:
    (folder / f"{PREFIX}.timeindex").mkdir()
    view = read_segment(LOCAL.directory(str(folder)), NAME, Location(dir="t-0", file=NAME), Offset(0), verify=True)
    assert (None, None) == (view.offset_index, view.time_index)
    assert "not a regular file" == view.unread[".timeindex"].words


def test_a_log_that_is_a_link_is_read_only_if_the_user_named_it(folder: Path) -> None:
    link = f"{7:020}.log"
    (folder / link).symlink_to(NAME)
    with pytest.raises(UnreadableError, match="a symbolic link: not followed"):
        read_segment(LOCAL.directory(str(folder)), link, Location(dir="t-0", file=link), Offset(0), verify=True)
    view = read_segment(LOCAL.directory(str(folder), follow=True), link, Location(file=link), Offset(0), verify=True)
    assert 10 == view.batches
