"""Batches behind damage are found if their CRCs match, and the search ends whatever stands there."""

import struct
from random import Random

import pytest

from kcheck.model.segments import Beyond
from kcheck.model.source import BytesSource, Source
from kcheck.segments import batches_after_damage as beyond
from kcheck.segments.batches import batch_crc
from kcheck.segments.batches_after_damage import intact_batches
from tests.builders import Made, batch, log, message, run


def found(data: bytes, position: int, *, base: int = 0, after: int = -1) -> Beyond | None:
    """Return what is found in a file behind a position."""
    return intact_batches(BytesSource(data), position, len(data), base=base, after=after)


def wrong(made: Made) -> bytes:
    """Return the bytes of a batch whose CRC does not match."""
    return made.data[:-1] + bytes([made.data[-1] ^ 0xFF])


@pytest.mark.parametrize("fill", [b"\0", b"\xff", b"\2"])
@pytest.mark.parametrize("size", [1, 33, 100, 5000])
def test_batches_behind_garbage_are_found(fill: bytes, size: int) -> None:
    data = log(run(0, 49)) + fill * size + log(run(50, 99))
    assert Beyond(500 + size, 50, 99, 5) == found(data, 500, after=49)


@pytest.mark.parametrize("length", [0, -1, 13, 10**6, 2**31 - 1])
def test_batches_behind_a_destroyed_length_are_found(length: int) -> None:
    """The first of them is the one behind it."""
    data = bytearray(log(run(0, 99)))
    data[508:512] = struct.pack(">i", length)
    assert Beyond(600, 60, 99, 4) == found(bytes(data), 500, after=49)


@pytest.mark.parametrize("piece", [1, 60, 61, 62, 100])
@pytest.mark.parametrize("size", [0, 1, 38, 39, 40, 99, 123])
def test_a_header_may_lie_across_two_pieces(monkeypatch: pytest.MonkeyPatch, piece: int, size: int) -> None:
    monkeypatch.setattr(beyond, "_PIECE_SIZE", piece)
    data = b"\xff" * size + log(run(50, 99))
    assert Beyond(size, 50, 99, 5) == found(data, 0)


@pytest.mark.parametrize("shift", [-61, -60, -30, -1, 0, 1])
def test_a_batch_far_behind_is_found(shift: int) -> None:
    """The search goes piece by piece."""
    size = (1 << 20) + shift
    assert Beyond(size, 5, 5, 1) == found(bytes(size) + batch(5).data, 0)


def test_a_batch_of_its_header_alone_is_found_at_the_end() -> None:
    assert Beyond(7, 5, 9, 1) == found(bytes(7) + batch(5, 0, last_offset=9).data, 0)


def test_batches_whose_crc_is_wrong_are_not_found() -> None:
    data = bytes(20) + b"".join(wrong(made) for made in run(50, 99))
    assert found(data, 0) is None


def test_a_batch_behind_one_whose_crc_is_wrong_is_found() -> None:
    made = run(50, 99)
    data = bytes(20) + wrong(made[0]) + log(made[1:3]) + wrong(made[3]) + made[4].data
    assert Beyond(120, 60, 79, 2) == found(data, 0)


def test_a_run_ends_where_offsets_do_not_rise() -> None:
    data = bytes(20) + log([*run(50, 69), *run(69, 98)])
    assert Beyond(20, 50, 69, 2) == found(data, 0)


def test_a_run_ends_with_an_entry_that_is_cut() -> None:
    data = bytes(20) + log(run(50, 99))[:-1]
    assert Beyond(20, 50, 89, 4) == found(data, 0)


def test_offsets_at_or_below_the_last_one_are_not_taken() -> None:
    """They are what was overwritten, or a copy."""
    data = bytes(20) + log(run(0, 99))
    assert Beyond(20, 0, 99, 10) == found(data, 0, after=-1)
    assert Beyond(720, 70, 99, 3) == found(data, 0, after=69)
    assert Beyond(820, 80, 99, 2) == found(data, 0, after=70)
    assert found(data, 0, after=99) is None


def test_offsets_of_another_segment_are_not_taken() -> None:
    """Below the base offset, or farther above it than an index can tell."""
    data = bytes(20) + log(run(0, 99))
    assert Beyond(520, 50, 99, 5) == found(data, 0, base=50)
    assert found(data, 0, base=100) is None
    assert found(batch(2**31 - 1).data, 0) == Beyond(0, 2**31 - 1, 2**31 - 1, 1)
    assert found(batch(2**31 - 1, 2).data, 0) is None
    assert found(batch(2**31).data, 0) is None


def test_messages_are_not_looked_for() -> None:
    """Their header says too little to tell them from other bytes."""
    assert found(bytes(20) + log([message(0), message(1, magic=0)]) + bytes(100), 0) is None


@pytest.mark.parametrize("left", [0, 1, 17, 60])
def test_less_than_a_header_is_no_batch(left: int) -> None:
    assert found(batch(0).data[:left], 0) is None
    assert found(log(run(0, 9)) + batch(10).data[:left], 100) is None


def test_a_file_that_shrinks_has_nothing_behind() -> None:
    source = BytesSource(bytes(70))
    assert intact_batches(source, 0, 10**9, base=0, after=-1) is None
    assert intact_batches(source, 100, 10**9, base=0, after=-1) is None


@pytest.mark.parametrize("seed", range(5))
def test_random_bytes_hold_no_batch(seed: int) -> None:
    random = Random(seed)
    data = bytes(random.choice((0, 0, 0, 1, 2, 50)) for _ in range(20_000))
    assert found(data, 0) is None


def count_tries(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that gets the position of each place where a batch is tried."""
    tried: list[int] = []

    def counted(source: Source, position: int, size: int, magic: int) -> int | None:
        tried.append(position)
        return batch_crc(source, position, size, magic)

    monkeypatch.setattr("kcheck.segments.batches_after_damage.batch_crc", counted)
    return tried


def test_fake_headers_do_not_hide_a_batch() -> None:
    fake = wrong(batch(5))
    assert Beyond(6100, 9, 9, 1) == found(fake * 100 + batch(9).data, 0)


def test_fake_headers_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """So many tries are made, then the search ends, even if a batch stands farther behind."""
    monkeypatch.setattr(beyond, "_TRIED_SIZE_MAX", 40_000)
    tried = count_tries(monkeypatch)
    assert found(wrong(batch(5)) * 1000 + batch(9).data, 0) is None
    assert len(tried) == 40_000 // beyond._TRY_SIZE


def test_fake_headers_that_claim_all_that_is_left_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """What each costs is counted, not how many there are: here every 17th byte begins one."""
    size = 4 << 20
    tried = count_tries(monkeypatch)
    fake = struct.pack(">qiiB", 5, size // 2, 0, 2)
    assert found(fake * (size // len(fake)) + batch(9).data, 0) is None
    assert 1 <= len(tried) <= beyond._TRIED_SIZE_MAX // (size // 2) + 1


def test_bytes_that_all_look_like_a_magic_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """The offset that they spell is that of no such segment, or their length leads behind the file."""
    tried = count_tries(monkeypatch)
    data = b"\2" * 1_000_000
    assert found(data, 0) is None
    assert found(data, 0, base=0x0202020202020202) is None
    assert tried == []


@pytest.mark.parametrize("base", [2**63 - 1, 2**63 - 101])
def test_offsets_end_where_those_of_java_do(base: int) -> None:
    """A `.log` of any number can lie there: what a segment may hold above its base offset ends at 2^63 - 1."""
    data = b"garbage" + log(run(base - base % 100, base - base % 100 + 9))
    assert found(data, 0, base=base, after=base - 1) is None
    assert found(data, 0, base=base, after=2**63 - 1) is None
