"""A directory in memory is read as one on a disk."""

import pytest

from kcheck.model.source import BytesFiles
from kcheck.model.unreadable import UnreadableError


def test_a_file_is_read_from_a_position() -> None:
    with BytesFiles({"a": b"abcdef"}).open("a") as file:
        assert 6 == file.size
        assert b"cd" == file.pread(2, 2)
        assert b"f" == file.pread(9, 5)


def test_a_buffer_is_filled_as_far_as_there_is_data() -> None:
    buffer = bytearray(b"......")
    with BytesFiles({"a": b"abc"}).open("a") as file:
        assert 2 == file.pread_into(memoryview(buffer), 1)
    assert b"bc...." == buffer


def test_memory_has_no_holes() -> None:
    with BytesFiles({"a": b"abc"}).open("a") as file:
        assert [0, 2, None] == [file.next_data(position) for position in (0, 2, 3)]


def test_a_whole_file_is_as_long_as_its_data() -> None:
    assert (b"abc", 3) == tuple(BytesFiles({"a": b"abc"}).read_filled("a"))


def test_a_missing_file_is_told_as_by_a_disk() -> None:
    with pytest.raises(UnreadableError, match="No such file or directory"):
        BytesFiles({}).read_filled("a")
