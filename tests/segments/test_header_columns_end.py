"""Where the batches of a file end, and why, as they are read as columns."""

import struct

import pytest

from kcheck.model.segments import End
from kcheck.segments import header_columns as read
from tests.builders import batch, log, run
from tests.segments.test_header_columns import WINDOWS, Told, told


def ends(tail: bytes) -> tuple[int, int, End]:
    """Return how many batches there are, where they end and why, with `tail` behind 10 of them in 1000 bytes.

    The same in windows of both sizes.
    """
    answers: list[Told] = []
    for window in WINDOWS:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(read, "WINDOW_SIZE", window)
            answers.append(told(log(run(0, 99)) + tail))
    found, other = answers
    assert found == other
    return len(found.rows), found.position, found.end


def test_the_end_of_batches_alone() -> None:
    assert (10, 1000, End.WHOLE) == ends(b"")


def test_the_end_of_an_empty_file() -> None:
    assert Told([], [], 0, End.WHOLE) == told(b"")


@pytest.mark.parametrize("left", [1, 11, 12, 16, 17])
@pytest.mark.parametrize("fill", [b"\0", b"\xff"])
def test_the_end_of_a_file_with_up_to_17_bytes_more(left: int, fill: bytes) -> None:
    """They cannot hold the header up to the magic byte, whatever they say."""
    assert (10, 1000, End.TORN) == ends(fill * left)


@pytest.mark.parametrize("cut", [1, 10, 43, 82])
def test_the_end_of_an_entry_that_is_cut(cut: int) -> None:
    assert (10, 1000, End.TORN) == ends(run(100, 109)[0].data[:-cut])


def test_the_end_of_an_entry_of_the_largest_size() -> None:
    assert (10, 1000, End.TORN) == ends(struct.pack(">qi", 1, 2**31 - 1) + bytes(500))


@pytest.mark.parametrize("zeros", [18, 100, 5000])
def test_the_end_of_zeros(zeros: int) -> None:
    """The tail of a preallocated segment: size 0."""
    assert (10, 1000, End.CORRUPT) == ends(bytes(zeros))


@pytest.mark.parametrize("size", [-(2**31), -13, -12, -1, 0, 13])
def test_the_end_of_an_entry_below_14_bytes(size: int) -> None:
    assert (10, 1000, End.CORRUPT) == ends(struct.pack(">qi", 1, size) + bytes(400))


@pytest.mark.parametrize("magic", [2, 3, 127])
@pytest.mark.parametrize("size", [14, 48])
def test_the_end_of_a_batch_below_its_header(magic: int, size: int) -> None:
    """Nobody can say where its records begin."""
    entry = struct.pack(">qiiB", 1, size, 0, magic) + bytes(size - 5)
    assert (10, 1000, End.CORRUPT) == ends(entry)
    assert (10, 1000, End.CORRUPT) == ends(entry + log(run(100, 199)))


@pytest.mark.parametrize("magic", [0, 1, 128, 255])
def test_the_end_of_a_message_below_that_header(magic: int) -> None:
    """A message may be so small, and a magic above 127 is negative: a message to the broker."""
    entry = struct.pack(">qiiB", 1, 14, 0, magic) + bytes(9)
    assert (11, 1026, End.WHOLE) == ends(entry)


def test_the_end_of_a_batch_of_its_header_alone() -> None:
    """An empty batch: compaction keeps one of a producer that still lives."""
    assert (11, 1061, End.WHOLE) == ends(batch(100, 0, last_offset=105).data)
