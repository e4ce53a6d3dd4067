"""The walk over a `.log` ends where FileLogInputStream ends, and the tail of a log leads to the same end."""

import os
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kcheck.model.entries import Batch, Offset
from kcheck.model.source import BytesSource
from kcheck.segments import batches as scanned
from kcheck.segments.batches import Walk, last_offset, tail_start
from tests.builders import HEADER_SIZE, BytesFiles, Made, batch, flipped, index, index_of, log, message, run

BASE = Offset(0)


def walked(data: bytes, **how: int) -> tuple[list[int], int, str | None]:
    """Return the base offsets of the batches, where the walk ended, and why."""
    walk = Walk(BytesSource(data), **how)
    found = [int(batch.base_offset) for batch in walk]
    return found, walk.position, walk.corrupt


def test_a_batch_is_told_as_its_header_says() -> None:
    made = batch(5, 3, epoch=7, payload=b"12345", timestamp=1000)
    (found,) = Walk(BytesSource(made.data))
    expected = (0, 66, 2, 5, 7, 7, 3, 1003)
    assert expected == tuple(found[:8])
    assert found == Batch(*expected, 0, found.crc)


def test_messages_of_magic_0_and_1_are_told() -> None:
    """A wrapper's offset is its last one, and how many it wraps is not known."""
    made = [message(0, magic=0), message(1, magic=1), message(9, magic=0, codec=1), message(19, magic=1, codec=2)]
    walk = Walk(BytesSource(log(made)), verify=True)
    found = [(b.magic, b.base_offset, b.record_count, b.epoch, b.max_timestamp is None) for b in walk]
    expected = [(0, 0, 1, None, True), (1, 1, 1, None, False), (0, 9, None, None, True), (1, 19, None, None, False)]
    assert expected == found
    assert walk.corrupt is None


def test_an_empty_file_has_no_batch() -> None:
    assert ([], 0, None) == walked(b"")


@pytest.mark.parametrize("left", [1, 11, 12, 16, 17])
@pytest.mark.parametrize("fill", [b"\0", b"\xff"])
def test_up_to_17_bytes_are_left_alone(left: int, fill: bytes) -> None:
    """They cannot hold the header up to the magic byte: the broker reads no further, without a word."""
    assert ([0], 61, None) == walked(batch(0).data + fill * left)


@pytest.mark.parametrize("size", [-(2**31), -1, 0, 13])
def test_an_entry_below_14_bytes_is_corrupt(size: int) -> None:
    """CorruptRecordException of FileLogInputStream.nextBatch."""
    entry = struct.pack(">qi", 1, size) + b"\0" * 20
    why = f"an entry of {size} bytes is too small for a batch"
    assert ([0], 61, why) == walked(batch(0).data + entry)


def test_18_zero_bytes_are_corrupt() -> None:
    """The tail of a preallocated or torn segment: size 0."""
    assert ([0], 61, "an entry of 0 bytes is too small for a batch") == walked(batch(0).data + bytes(18))


@pytest.mark.parametrize("cut", [1, 10, 43])
def test_an_entry_past_the_end_ends_the_walk_without_a_word(cut: int) -> None:
    """A torn write: nextBatch returns null."""
    assert ([0], 61, None) == walked(batch(0).data + batch(1).data[:-cut])


def test_an_entry_of_the_largest_size_ends_the_walk_without_a_word() -> None:
    entry = struct.pack(">qi", 1, 2**31 - 1) + bytes(100)
    assert ([0], 61, None) == walked(batch(0).data + entry)


@pytest.mark.parametrize("size", [14, 48])
def test_an_entry_of_magic_2_below_its_header_is_corrupt(size: int) -> None:
    """Nobody can say where its records begin."""
    entry = struct.pack(">qiib", 1, size, 0, 2) + bytes(size - 5)
    why = f"an entry of {size} bytes is too small for a batch"
    assert ([0], 61, why) == walked(batch(0).data + entry)


def test_an_entry_of_magic_2_of_its_header_alone_is_a_batch() -> None:
    """An empty batch: compaction keeps one of a producer that still lives."""
    assert ([0, 1], 2 * HEADER_SIZE, None) == walked(batch(0).data + batch(1, 0, last_offset=5).data)


def test_a_batch_larger_than_the_window_is_one_batch() -> None:
    """Memory is one window, whatever the size of a batch."""
    large = batch(0, 10, payload=os.urandom(300_000))
    data = large.data + batch(10).data
    assert ([0, 10], len(data), None) == walked(data)
    assert ([0, 10], len(data), None) == walked(data, verify=True)


@pytest.mark.parametrize("shift", range(0, 70, 3))
@pytest.mark.parametrize("verify", [False, True])
def test_a_header_may_lie_across_two_windows(shift: int, *, verify: bool) -> None:
    """Wherever the window ends in it."""
    first = batch(0, payload=bytes(scanned._WINDOW_SIZE - HEADER_SIZE - shift))
    data = first.data + batch(1).data + batch(2).data
    assert ([0, 1, 2], len(data), None) == walked(data, verify=verify)


@pytest.mark.parametrize("position", range(61))
def test_a_flipped_byte_of_a_header_ends_a_verified_walk(position: int) -> None:
    """Offset and epoch stand outside of the CRC: a broker sets them after the producer has computed it."""
    data = flipped(log(run(0, 29)), 100 + position)
    _, end, corrupt = walked(data, verify=True)
    outside = position < 8 or 12 <= position < 16
    assert ((300, True) if outside else (100, False)) == (end, corrupt is None and end == 300)


@pytest.mark.parametrize("position", [61, 80, 99])
def test_a_flipped_byte_of_the_records_ends_a_verified_walk(position: int) -> None:
    data = flipped(log(run(0, 29)), 100 + position)
    assert ([0], 100, "the CRC does not match") == walked(data, verify=True)
    assert ([0, 10, 20], 300, None) == walked(data)


def test_a_flipped_byte_behind_the_window_is_seen() -> None:
    """A batch that no window holds is verified piece by piece."""
    data = flipped(batch(0, payload=bytes(300_000)).data, -1)
    assert ([], 0, "the CRC does not match") == walked(data, verify=True)


@pytest.mark.parametrize("magic", [0, 1])
def test_a_flipped_byte_of_a_message_is_seen(magic: int) -> None:
    data = flipped(log([message(0, magic=magic), message(1, magic=magic)]), -1)
    found, _, corrupt = walked(data, verify=True)
    assert ([0], "the CRC does not match") == (found, corrupt)


@pytest.mark.parametrize("left", [0, 30, 61, 150])
@pytest.mark.parametrize("verify", [False, True])
def test_a_file_that_shrinks_ends_the_walk(left: int, *, verify: bool) -> None:
    """Somebody cuts it after its size was asked for: what is there is told, and nothing hangs or fails."""
    data = log(run(0, 29))
    found, end, _ = walked(data[:left], size=len(data), verify=verify)
    assert len(found) * 100 == end
    assert end <= left or not verify


def test_a_walk_begins_where_it_is_told() -> None:
    assert ([10, 20], 300, None) == walked(log(run(0, 29)), position=100)


@pytest.mark.parametrize("position", [300, 301, 10**12])
def test_a_walk_from_behind_the_end_finds_nothing(position: int) -> None:
    assert ([], position, None) == walked(log(run(0, 29)), position=position)


def test_a_walk_from_a_negative_position_begins_at_the_start() -> None:
    """A damaged index may say so."""
    assert ([0, 10, 20], 300, None) == walked(log(run(0, 29)), position=-8)


def tail(made: list[Made], index_bytes: bytes | None, *, behind: bytes = b"") -> tuple[int, int]:
    """Return where the search for the log end begins, and the log end that it leads to."""
    source = BytesSource(log(made) + behind)
    files = BytesFiles({} if index_bytes is None else {"00000000000000000000.index": index_bytes})
    start = tail_start(files, source, BASE).position
    ends = [batch.last_offset + 1 for batch in Walk(source, position=start)]
    return start, ends[-1] if ends else BASE


def test_the_last_entry_of_the_index_leads_to_the_end() -> None:
    made = run(0, 99)
    assert (900, 100) == tail(made, index_of(made, 0))


@pytest.mark.parametrize("data", [None, b"", b"1234567"], ids=["missing", "empty", "less than an entry"])
def test_without_an_entry_the_log_is_walked_from_its_start(data: bytes | None) -> None:
    assert (0, 100) == tail(run(0, 99), data)


def test_the_zeros_that_a_running_broker_keeps_ahead_are_no_entries() -> None:
    """10 MiB of them, where nobody has stopped the broker cleanly."""
    made = run(0, 99)
    assert (900, 100) == tail(made, index_of(made, 0) + bytes(10 << 20))


def test_an_index_of_zeros_alone_has_no_entry() -> None:
    assert (0, 100) == tail(run(0, 99), bytes(10 << 20))


def test_half_an_entry_at_the_end_is_left_alone() -> None:
    made = run(0, 99)
    assert (900, 100) == tail(made, index_of(made, 0) + b"\x01\x02\x03")


@pytest.mark.parametrize(
    "bogus",
    [(2000, 10**6), (99, -5), (-7, 900), (99, 950), (50, 900), (2**31 - 1, 1000), (0, 1)],
    ids=["past the file", "negative", "below the base", "in a batch", "offset too low", "at the end", "shifted"],
)
def test_an_entry_that_leads_nowhere_is_passed_over(bogus: tuple[int, int]) -> None:
    """The one before it leads to the same end."""
    made = run(0, 99)
    assert (900, 100) == tail(made, index_of(made, 0) + index(bogus))


def test_many_bogus_entries_are_given_up() -> None:
    """Then the log is walked from its start: slower, the same answer."""
    made = run(0, 99)
    assert (0, 100) == tail(made, index_of(made, 0) + index((99, 950)) * 100)


def test_the_zero_tail_of_a_preallocated_segment_is_no_batch() -> None:
    made = run(0, 99)
    assert (900, 100) == tail(made, index_of(made, 0), behind=bytes(1 << 20))


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


@settings(max_examples=60)
@given(
    made=logs(),
    every=st.integers(1, 20),
    kept=st.one_of(st.none(), st.integers(0, 400)),
    room=st.integers(0, 100),
    bogus=st.lists(st.tuples(st.integers(-(2**31), 2**31 - 1), st.integers(-(2**31), 2**31 - 1)), max_size=12),
    behind=st.sampled_from([b"", bytes(1000), b"\x01" * 17, batch(10**6).data[:40]]),
)
def test_the_tail_leads_to_the_end_of_a_walk_from_the_start(
    made: list[Made],
    every: int,
    kept: int | None,
    room: int,
    bogus: list[tuple[int, int]],
    behind: bytes,
) -> None:
    """The log end of an undamaged log is where a walk from position 0 ends, whatever its index holds."""
    data = index_of(made, 0, every=every) + index(*bogus) + bytes(room * 8)
    _, end = tail(made, data if kept is None else data[:kept], behind=behind)
    assert (made[-1].last_offset + 1 if made else 0) == end


MIXED = [batch(5, 3, epoch=7).data, batch(9, payload=b"x" * 30).data, message(20, magic=0).data, message(30).data]


@given(
    st.lists(st.sampled_from([*MIXED, b"", bytes(17), bytes(61)])),
    st.integers(0, 80),
    st.lists(st.integers(0, 8 * 400), max_size=2),
)
def test_the_last_offset_of_a_short_file_is_that_of_the_walk(parts: list[bytes], cut: int, flips: list[int]) -> None:
    """Whole, torn or with flipped bits: the same end without a value for each batch."""
    data = b"".join(parts)
    data = data[: max(len(data) - cut, 0)]
    for position in flips:
        data = flipped(data, position // 8) if position // 8 < len(data) else data
    ends = [batch.last_offset for batch in Walk(BytesSource(data))]
    assert last_offset(data) == (ends[-1] if ends else None)
