"""The files of a directory: those in memory answer as those on a disk do."""

from pathlib import Path

import pytest

from kcheck.disk.local import LOCAL
from kcheck.model.source import Files, small_size_max
from kcheck.model.unreadable import UnreadableCause, UnreadableError
from tests.builders import BytesFiles

FILES = {"a.log": b"", "b.index": b"abc"}


def directories(path: Path) -> tuple[Files, ...]:
    """Return the same files on a disk and in memory."""
    for name, data in FILES.items():
        (path / name).write_bytes(data)
    return LOCAL.directory(str(path)), BytesFiles(FILES)


def test_files_are_read_by_name(tmp_path: Path) -> None:
    for files in directories(tmp_path):
        assert ({"a.log": 0, "b.index": 3}, {}, (), ()) == files.entries()
        for name, data in FILES.items():
            assert (data, (data, len(data))) == (files.read_whole(name), files.read_filled(name))
            assert len(data) == files.readable_size(name)
            with files.open(name) as source:
                assert (data[1:], len(data)) == (source.pread(9, 1), source.size)


def test_a_missing_file_is_named_so(tmp_path: Path) -> None:
    for files in directories(tmp_path):
        for read in (files.read_whole, files.read_filled, files.readable_size):
            with pytest.raises(UnreadableError, match="No such file or directory") as caught:
                read("c")
            assert caught.value.cause is UnreadableCause.MISSING


def test_a_checkpoint_has_a_lower_limit() -> None:
    """That of epochs is the lowest: no partition has had so many leaders."""
    sizes = list(map(small_size_max, ("leader-epoch-checkpoint", "recovery-point-offset-checkpoint", "0.index")))
    assert sorted(set(sizes)) == sizes


def test_a_buffer_is_filled_as_far_as_there_is_data() -> None:
    buffer = bytearray(b"......")
    with BytesFiles(FILES).open("b.index") as source:
        assert 2 == source.pread_into(memoryview(buffer), 1)
    assert b"bc...." == buffer


def test_memory_has_no_holes() -> None:
    with BytesFiles(FILES).open("b.index") as source:
        assert [0, 2, None] == [source.next_data(position) for position in (0, 2, 3)]
