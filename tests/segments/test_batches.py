"""The walk over a `.log` ends where FileLogInputStream ends, and the tail of a log leads to the same end."""

import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kcheck.disk.read import opened
from kcheck.model.entries import Batch, Offset
from kcheck.segments import batches as scanned
from kcheck.segments.batches import Walk, index_path, tail_of
from tests.builders import HEADER_SIZE, Made, batch, flip_byte, index, index_of, log, message, run

BASE = Offset(0)


@contextmanager
def walk_of(
    tmp_path: Path, data: bytes, *, position: int = 0, verify: bool = False, size: int | None = None
) -> Iterator[Walk]:
    """Give a walk over a file with these bytes."""
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(data)
    with opened(str(path)) as source:
        yield Walk(source, size, position=position, verify=verify)


def walked(tmp_path: Path, data: bytes, **how: int) -> tuple[list[int], int, str | None]:
    """Return the base offsets of the batches, where the walk ended, and why."""
    with walk_of(tmp_path, data, **how) as walk:
        found = [int(batch.base_offset) for batch in walk]
    return found, walk.position, walk.corrupt


def test_a_batch_is_told_as_its_header_says(tmp_path: Path) -> None:
    made = batch(5, 3, epoch=7, payload=b"12345", timestamp=1000)
    with walk_of(tmp_path, made.data) as walk:
        (found,) = walk
    expected = (0, 66, 2, 5, 7, 7, 3, 1003)
    assert expected == tuple(found[:8])
    assert found == Batch(*expected, 0, found.crc)


def test_messages_of_magic_0_and_1_are_told(tmp_path: Path) -> None:
    """A wrapper's offset is its last one, and how many it wraps is not known."""
    made = [message(0, magic=0), message(1, magic=1), message(9, magic=0, codec=1), message(19, magic=1, codec=2)]
    with walk_of(tmp_path, log(made), verify=True) as walk:
        found = [(b.magic, b.base_offset, b.record_count, b.epoch, b.max_timestamp is None) for b in walk]
    expected = [(0, 0, 1, None, True), (1, 1, 1, None, False), (0, 9, None, None, True), (1, 19, None, None, False)]
    assert expected == found
    assert walk.corrupt is None


def test_an_empty_file_has_no_batch(tmp_path: Path) -> None:
    assert ([], 0, None) == walked(tmp_path, b"")


@pytest.mark.parametrize("left", [1, 11, 12, 16, 17])
@pytest.mark.parametrize("fill", [b"\0", b"\xff"])
def test_up_to_17_bytes_are_left_alone(tmp_path: Path, left: int, fill: bytes) -> None:
    """They cannot hold the header up to the magic byte: the broker reads no further, without a word."""
    assert ([0], 61, None) == walked(tmp_path, batch(0).data + fill * left)


@pytest.mark.parametrize("size", [-(2**31), -1, 0, 13])
def test_an_entry_below_14_bytes_is_corrupt(tmp_path: Path, size: int) -> None:
    """CorruptRecordException of FileLogInputStream.nextBatch."""
    entry = struct.pack(">qi", 1, size) + b"\0" * 20
    why = f"an entry of {size} bytes is too small for a batch"
    assert ([0], 61, why) == walked(tmp_path, batch(0).data + entry)


def test_18_zero_bytes_are_corrupt(tmp_path: Path) -> None:
    """The tail of a preallocated or torn segment: size 0."""
    assert ([0], 61, "an entry of 0 bytes is too small for a batch") == walked(tmp_path, batch(0).data + bytes(18))


@pytest.mark.parametrize("cut", [1, 10, 43])
def test_an_entry_past_the_end_ends_the_walk_without_a_word(tmp_path: Path, cut: int) -> None:
    """A torn write: nextBatch returns null."""
    assert ([0], 61, None) == walked(tmp_path, batch(0).data + batch(1).data[:-cut])


def test_an_entry_of_the_largest_size_ends_the_walk_without_a_word(tmp_path: Path) -> None:
    entry = struct.pack(">qi", 1, 2**31 - 1) + bytes(100)
    assert ([0], 61, None) == walked(tmp_path, batch(0).data + entry)


@pytest.mark.parametrize("size", [14, 48])
def test_an_entry_of_magic_2_below_its_header_is_corrupt(tmp_path: Path, size: int) -> None:
    """Nobody can say where its records begin."""
    entry = struct.pack(">qiib", 1, size, 0, 2) + bytes(size - 5)
    why = f"an entry of {size} bytes is too small for a batch"
    assert ([0], 61, why) == walked(tmp_path, batch(0).data + entry)


def test_an_entry_of_magic_2_of_its_header_alone_is_a_batch(tmp_path: Path) -> None:
    """An empty batch: compaction keeps one of a producer that still lives."""
    assert ([0, 1], 2 * HEADER_SIZE, None) == walked(tmp_path, batch(0).data + batch(1, 0, last_offset=5).data)


def test_a_batch_larger_than_the_window_is_one_batch(tmp_path: Path) -> None:
    """Memory is one window, whatever the size of a batch."""
    large = batch(0, 10, payload=os.urandom(300_000))
    data = large.data + batch(10).data
    assert ([0, 10], len(data), None) == walked(tmp_path, data)
    assert ([0, 10], len(data), None) == walked(tmp_path, data, verify=True)


@pytest.mark.parametrize("shift", range(0, 70, 3))
@pytest.mark.parametrize("verify", [False, True])
def test_a_header_may_lie_across_two_windows(tmp_path: Path, shift: int, *, verify: bool) -> None:
    """Wherever the window ends in it."""
    first = batch(0, payload=bytes(scanned._WINDOW_SIZE - HEADER_SIZE - shift))
    data = first.data + batch(1).data + batch(2).data
    assert ([0, 1, 2], len(data), None) == walked(tmp_path, data, verify=verify)


@pytest.mark.parametrize("position", range(61))
def test_a_flipped_byte_of_a_header_ends_a_verified_walk(tmp_path: Path, position: int) -> None:
    """Offset and epoch stand outside of the CRC: a broker sets them after the producer has computed it."""
    path = tmp_path / "flipped"
    path.write_bytes(log(run(0, 29)))
    flip_byte(path, 100 + position)
    _, end, corrupt = walked(tmp_path, path.read_bytes(), verify=True)
    outside = position < 8 or 12 <= position < 16
    assert ((300, True) if outside else (100, False)) == (end, corrupt is None and end == 300)


@pytest.mark.parametrize("position", [61, 80, 99])
def test_a_flipped_byte_of_the_records_ends_a_verified_walk(tmp_path: Path, position: int) -> None:
    path = tmp_path / "flipped"
    path.write_bytes(log(run(0, 29)))
    flip_byte(path, 100 + position)
    assert ([0], 100, "the CRC does not match") == walked(tmp_path, path.read_bytes(), verify=True)
    assert ([0, 10, 20], 300, None) == walked(tmp_path, path.read_bytes())


def test_a_flipped_byte_behind_the_window_is_seen(tmp_path: Path) -> None:
    """A batch that no window holds is verified piece by piece."""
    path = tmp_path / "flipped"
    path.write_bytes(batch(0, payload=bytes(300_000)).data)
    flip_byte(path, -1)
    assert ([], 0, "the CRC does not match") == walked(tmp_path, path.read_bytes(), verify=True)


@pytest.mark.parametrize("magic", [0, 1])
def test_a_flipped_byte_of_a_message_is_seen(tmp_path: Path, magic: int) -> None:
    path = tmp_path / "flipped"
    path.write_bytes(log([message(0, magic=magic), message(1, magic=magic)]))
    flip_byte(path, -1)
    found, _, corrupt = walked(tmp_path, path.read_bytes(), verify=True)
    assert ([0], "the CRC does not match") == (found, corrupt)


@pytest.mark.parametrize("left", [0, 30, 61, 150])
@pytest.mark.parametrize("verify", [False, True])
def test_a_file_that_shrinks_ends_the_walk(tmp_path: Path, left: int, *, verify: bool) -> None:
    """Somebody cuts it after its size was asked for: what is there is told, and nothing hangs or fails."""
    data = log(run(0, 29))
    found, end, _ = walked(tmp_path, data[:left], size=len(data), verify=verify)
    assert len(found) * 100 == end
    assert end <= left or not verify


def test_a_walk_begins_where_it_is_told(tmp_path: Path) -> None:
    assert ([10, 20], 300, None) == walked(tmp_path, log(run(0, 29)), position=100)


@pytest.mark.parametrize("position", [300, 301, 10**12])
def test_a_walk_from_behind_the_end_finds_nothing(tmp_path: Path, position: int) -> None:
    assert ([], position, None) == walked(tmp_path, log(run(0, 29)), position=position)


def test_a_walk_from_a_negative_position_begins_at_the_start(tmp_path: Path) -> None:
    """A damaged index may say so."""
    assert ([0, 10, 20], 300, None) == walked(tmp_path, log(run(0, 29)), position=-8)


def tail(tmp_path: Path, made: list[Made], index_bytes: bytes | None, *, behind: bytes = b"") -> tuple[int, int]:
    """Return where the search for the log end begins, and the log end that it leads to."""
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(log(made) + behind)
    beside = path.with_suffix(".index")
    beside.unlink(missing_ok=True)
    if index_bytes is not None:
        beside.write_bytes(index_bytes)
    with opened(str(path)) as source:
        start = tail_of(partial(opened, index_path(str(path))), source, BASE).position
        ends = [batch.last_offset + 1 for batch in Walk(source, position=start)]
    return start, ends[-1] if ends else BASE


def test_the_last_entry_of_the_index_leads_to_the_end(tmp_path: Path) -> None:
    made = run(0, 99)
    assert (900, 100) == tail(tmp_path, made, index_of(made, 0))


@pytest.mark.parametrize("data", [None, b"", b"1234567"], ids=["missing", "empty", "less than an entry"])
def test_without_an_entry_the_log_is_walked_from_its_start(tmp_path: Path, data: bytes | None) -> None:
    assert (0, 100) == tail(tmp_path, run(0, 99), data)


def test_the_zeros_that_a_running_broker_keeps_ahead_are_no_entries(tmp_path: Path) -> None:
    """10 MiB of them, where nobody has stopped the broker cleanly."""
    made = run(0, 99)
    assert (900, 100) == tail(tmp_path, made, index_of(made, 0) + bytes(10 << 20))


def test_an_index_of_zeros_alone_has_no_entry(tmp_path: Path) -> None:
    assert (0, 100) == tail(tmp_path, run(0, 99), bytes(10 << 20))


def test_half_an_entry_at_the_end_is_left_alone(tmp_path: Path) -> None:
    made = run(0, 99)
    assert (900, 100) == tail(tmp_path, made, index_of(made, 0) + b"\x01\x02\x03")


@pytest.mark.parametrize(
    "bogus",
    [(2000, 10**6), (99, -5), (-7, 900), (99, 950), (50, 900), (2**31 - 1, 1000), (0, 1)],
    ids=["past the file", "negative", "below the base", "in a batch", "offset too low", "at the end", "shifted"],
)
def test_an_entry_that_leads_nowhere_is_passed_over(tmp_path: Path, bogus: tuple[int, int]) -> None:
    """The one before it leads to the same end."""
    made = run(0, 99)
    assert (900, 100) == tail(tmp_path, made, index_of(made, 0) + index(bogus))


def test_many_bogus_entries_are_given_up(tmp_path: Path) -> None:
    """Then the log is walked from its start: slower, the same answer."""
    made = run(0, 99)
    assert (0, 100) == tail(tmp_path, made, index_of(made, 0) + index((99, 950)) * 100)


def test_the_zero_tail_of_a_preallocated_segment_is_no_batch(tmp_path: Path) -> None:
    made = run(0, 99)
    assert (900, 100) == tail(tmp_path, made, index_of(made, 0), behind=bytes(1 << 20))


def test_an_index_that_is_a_link_is_not_read(tmp_path: Path) -> None:
    """The log is walked from its start."""
    made = run(0, 99)
    (tmp_path / "elsewhere").write_bytes(index_of(made, 0))
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(log(made))
    path.with_suffix(".index").symlink_to("elsewhere")
    with opened(str(path)) as source:
        assert tail_of(partial(opened, index_path(str(path))), source, BASE).position == 0


@st.composite
def logs(draw: st.DrawFn) -> list[Made]:
    """Batches of any sizes, with gaps between them and inside of them."""
    made: list[Made] = []
    at = 0
    for _ in range(draw(st.integers(0, 40))):
        base = at + draw(st.integers(0, 3))
        count = draw(st.integers(0, 5))
        last = base + max(count - 1, 0) + draw(st.integers(0, 3))
        size = draw(st.one_of(st.integers(0, 300), st.integers(60_000, 70_000)))
        made.append(batch(base, count, last_offset=last, payload=bytes(size), epoch=draw(st.integers(0, 3))))
        at = last + 1
    return made


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    made=logs(),
    every=st.integers(1, 20),
    kept=st.one_of(st.none(), st.integers(0, 400)),
    room=st.integers(0, 100),
    bogus=st.lists(st.tuples(st.integers(-(2**31), 2**31 - 1), st.integers(-(2**31), 2**31 - 1)), max_size=12),
    behind=st.sampled_from([b"", bytes(1000), b"\x01" * 17, batch(10**6).data[:40]]),
)
def test_the_tail_leads_to_the_end_of_a_walk_from_the_start(
    tmp_path: Path,
    made: list[Made],
    every: int,
    kept: int | None,
    room: int,
    bogus: list[tuple[int, int]],
    behind: bytes,
) -> None:
    """The log end of an undamaged log is where a walk from position 0 ends, whatever its index holds."""
    data = index_of(made, 0, every=every) + index(*bogus) + bytes(room * 8)
    _, end = tail(tmp_path, made, data if kept is None else data[:kept], behind=behind)
    assert (made[-1].last_offset + 1 if made else 0) == end
