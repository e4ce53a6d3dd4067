"""Headers read as columns are those that the walk reads one by one, whatever stands in the file."""

import os
import struct
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np
import pytest

from kcheck.model.entries import Batch
from kcheck.model.segments import End
from kcheck.model.source import BytesSource
from kcheck.records.batch import body_from, checksum
from kcheck.segments import batch_boundaries
from kcheck.segments import header_columns as read
from kcheck.segments.batches import Walk
from kcheck.segments.header_columns import Array, HeaderColumns, HeaderReader
from tests.builders import HEADER_SIZE, Made, batch, log, message, run

BROKERS = Path(__file__).parents[2] / "fixtures" / "brokers"
SMALL = 100_000
WINDOWS = (4 << 20, 300)
"""A file in one window, and windows smaller than many a batch."""

Row = tuple[int, ...]


class Told(NamedTuple):
    """What was read of a file: a row a batch, which CRCs match, where valid data ends, and why."""

    rows: list[Row]
    valid: list[bool]
    position: int
    end: End


def told(data: bytes, *, size: int | None = None, verify: bool = True) -> Told:
    """Return what the reader tells of a file."""
    rows: list[Row] = []
    valid: list[bool] = []
    reader = HeaderReader(BytesSource(data), size, verify=verify)
    for columns in reader:
        assert len(columns.position) > 0
        rows.extend(rows_of(columns))
        if columns.valid is not None:
            valid.extend(columns.valid.tolist())
    return Told(rows, valid, reader.position, reader.end)


def rows_of(columns: HeaderColumns) -> list[Row]:
    """Return a window's batches as rows."""
    fields = (
        columns.position,
        columns.size,
        columns.magic,
        columns.base_offset,
        columns.last_offset,
        columns.epoch,
        columns.record_count,
        columns.max_timestamp,
        columns.attributes,
    )
    return list(zip(*(field.tolist() for field in fields), strict=True))


def walked(data: bytes) -> Told:
    """Return what the walk tells of a file, and the CRC of each batch by itself."""
    walk = Walk(BytesSource(data))
    found = list(walk)
    silent = End.WHOLE if walk.position == len(data) else End.TORN
    end = silent if walk.corrupt is None else End.CORRUPT
    return Told([row_of(each) for each in found], [valid_of(each, data) for each in found], walk.position, end)


def row_of(each: Batch) -> Row:
    """Return a batch as the columns tell it: numbers are those of Java, unknown is -1."""
    last = (each.last_offset + 2**63) % 2**64 - 2**63
    unknown = [-1 if value is None else int(value) for value in (each.epoch, each.record_count, each.max_timestamp)]
    return (each.position, each.size, signed(each.magic), each.base_offset, last, *unknown, each.attributes)


def valid_of(each: Batch, data: bytes) -> bool:
    """Whether the CRC of a batch matches, summed by itself."""
    magic = signed(each.magic)
    return checksum(data[each.position + body_from(magic) : each.position + each.size], magic) == each.crc


def signed(byte: int) -> int:
    """Return the byte as Java's."""
    return byte - 256 if byte > 127 else byte


def logs() -> list[bytes]:
    """Return the different small logs that real brokers left."""
    found = {path.read_bytes() for path in BROKERS.glob("*/*/*/*/*/*.log") if 0 < path.stat().st_size < SMALL}
    return sorted(found)


def mutated(data: bytes, random: Random, others: list[bytes]) -> bytes:
    """Return the bytes with a few things changed, most of them in headers."""
    found = bytearray(data)
    for _ in range(random.randint(1, 4)):
        at = random.randrange(len(found) + 1)
        if random.random() < 0.5:
            at = min(random.choice(positions(found)) + random.randrange(HEADER_SIZE), len(found))
        some = random.randint(1, 80)
        match random.randrange(8):
            case 0:
                del found[at:]
            case 1:
                del found[at : at + some]
            case 2:
                found[at:at] = random.randbytes(some)
            case 3:
                found[at : at + some] = bytes(some)
            case 4:
                found += random.choice(others)
            case 5:
                found[at:at] = found[at : at + some * 4]
            case 6:
                found[at : at + 4] = struct.pack(">i", random.choice([-(2**31), -1, 0, 13, 14, 48, 49, 2**31 - 1]))
            case _:
                found[at : at + 1] = bytes([random.choice([0, 1, 2, 3, 127, 128, 255, random.randrange(256)])])
        if not found:
            break
    return bytes(found)


def positions(data: bytearray) -> list[int]:
    """Return where entries begin, as far as sizes lead from one to the next."""
    found, at = [0], 0
    while at + 12 <= len(data):
        size = struct.unpack_from(">i", data, at + 8)[0]
        if size < 0:
            break
        at += size + 12
        found.append(at)
    return [each for each in found if each <= len(data)]


def test_there_are_logs_of_all_magics() -> None:
    found = {data[16] for data in logs()}
    assert {1, 2} <= found


def test_columns_of_real_logs_are_what_the_walk_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    for data in logs():
        expected = walked(data)
        assert all(expected.valid)
        for window in WINDOWS:
            monkeypatch.setattr(read, "WINDOW_SIZE", window)
            assert expected == told(data)


@pytest.mark.parametrize("seed", range(10))
def test_columns_of_damaged_logs_are_what_the_walk_finds(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """In one window or in many, and the CRC of each batch is judged as if it stood alone."""
    random = Random(seed)
    others = logs()
    small = [message(0, magic=0), message(1), message(9, magic=0, codec=1), message(19, magic=1, codec=2)]
    others += [log(small), log(run(0, 99)), log([*run(0, 19), *small, *run(20, 39)])]
    for _ in range(100):
        data = mutated(random.choice(others), random, others)
        expected = walked(data)
        for window in WINDOWS:
            monkeypatch.setattr(read, "WINDOW_SIZE", window)
            assert expected == told(data), data.hex()


def windows(data: bytes, starts: Array | None) -> tuple[list[list[list[int] | None]], int, End]:
    """Return every column of every window, where valid data ends, and why."""
    reader = HeaderReader(BytesSource(data), verify=True, starts=starts)
    found = [[None if column is None else column.tolist() for column in columns] for columns in reader]
    return found, reader.position, reader.end


def misleading(positions: list[int], random: Random) -> Array:
    """Return some of these positions as starts, most often with a few things changed."""
    found = sorted(random.sample(positions, random.randint(0, len(positions))))
    for _ in range(random.choice([0, 0, 1, 1, 3])):
        at = random.randrange(len(found) + 1)
        other = random.choice([0, -1, -(2**31), 2**31 - 1, positions[-1] + 1, random.randrange(positions[-1] + 1)])
        match random.randrange(4):
            case 0:
                found.insert(at, other)
            case 1:
                found = sorted({*found, other})
            case 2:
                found[at : at + 1] = [each + random.choice([-61, -1, 1, 17, 100]) for each in found[at : at + 1]]
            case _:
                found[at:] = [each + random.choice([-1, 1, 100]) for each in found[at:]]
    return np.array(found, np.int64)


@pytest.mark.sample(3)
@pytest.mark.parametrize("least", [1, 3])
@pytest.mark.parametrize("seed", range(4))
def test_starts_change_no_answer(monkeypatch: pytest.MonkeyPatch, seed: int, least: int) -> None:
    """Whatever stands in the log and whatever they say, side by side or one after the other, named or looked for."""
    monkeypatch.setattr(batch_boundaries, "_WALKS_MIN", least)
    monkeypatch.setattr(batch_boundaries, "_ENTRIES_PER_WALK", least)
    random = Random(seed)
    small = [message(0, magic=0), message(1), message(9, magic=0, codec=1)]
    uneven = [batch(base, payload=random.randbytes(random.randrange(300))) for base in range(300)]
    others = [log(run(0, 2999)), log(uneven), log([*run(0, 999), *small, *run(1000, 1999)]), log(small * 50)]
    for _ in range(40):
        sound = random.choice(others)
        data = mutated(sound, random, others) if random.random() < 0.7 else sound
        known = positions(bytearray(random.choice((sound, data))))
        for window in (4 << 20, 5000, 300):
            monkeypatch.setattr(read, "WINDOW_SIZE", window)
            starts = misleading(known, random)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(batch_boundaries, "_walk_in_parallel", lambda *_: None)
                serial = windows(data, None)
            assert serial == windows(data, None) == windows(data, starts), (data.hex(), starts)


@pytest.mark.parametrize("starts", [np.arange(1000, 200_000, 1000), None], ids=["named", "looked for"])
def test_sound_starts_are_used(monkeypatch: pytest.MonkeyPatch, starts: Array | None) -> None:
    """Only the end of a window is walked through batch by batch."""
    chase, begins = batch_boundaries._walk, list[int]()

    def watched(buffer: bytearray, at: int, filled: int, remaining: int, *, lax: bool) -> object:
        begins.append(at)
        return chase(buffer, at, filled, remaining, lax=lax)

    monkeypatch.setattr(batch_boundaries, "_walk", watched)
    windows(log(run(0, 19_999)), starts)
    assert begins[0] > 190_000
    assert len(begins) == 1


def test_without_verification_nothing_is_summed() -> None:
    found = told(damaged(run(0, 99), 3), verify=False)
    assert ([], 10, End.WHOLE) == (found.valid, len(found.rows), found.end)


def test_the_link_leads_to_where_every_crc_begins() -> None:
    """Bit by bit: 21 zero bytes turn the register into all ones."""
    register = read._LINK
    for _ in range(21 * 8):
        register = (register >> 1) ^ (0x82F63B78 if register & 1 else 0)
    assert register == 0xFFFFFFFF


def damaged(made: list[Made], *numbers: int) -> bytes:
    """Return the bytes of a log of 100 bytes a batch, in which the last byte of some is another."""
    data = bytearray(log(made))
    for number in numbers:
        data[number * 100 + 99] ^= 0xFF
    return bytes(data)


@pytest.mark.parametrize(
    "numbers",
    [(), (0,), (1,), (1999,), (3999,), (0, 3999), (7, 8), (3998, 3999)],
    ids=lambda numbers: "-".join(map(str, numbers)) or "none",
)
def test_wrong_crcs_among_thousands_are_found(numbers: tuple[int, ...]) -> None:
    """All batches of a window are summed by one call."""
    found = told(damaged(run(0, 39_999), *numbers))
    assert len(found.valid) == 4000
    assert list(numbers) == [number for number, valid in enumerate(found.valid) if not valid]


@pytest.mark.parametrize("at", range(17, 21))
def test_a_wrong_crc_of_the_header_is_found_in_its_batch(at: int) -> None:
    """The CRC that a header names takes part in the call over all of them: the batch behind is not blamed."""
    data = bytearray(log(run(0, 99)))
    data[300 + at] ^= 0xFF
    assert [3] == np.flatnonzero(~np.array(told(data).valid)).tolist()


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("size", [0, 200, 240, 1000, 200_000])
@pytest.mark.parametrize("wrong", [False, True])
def test_a_batch_by_itself_is_summed(monkeypatch: pytest.MonkeyPatch, window: int, size: int, *, wrong: bool) -> None:
    """In a window, as large as one, or read piece by piece."""
    monkeypatch.setattr(read, "WINDOW_SIZE", window)
    data = bytearray(batch(0, 5, payload=os.urandom(size)).data)
    data[-1] ^= wrong
    found = told(data)
    assert ([not wrong], len(data), End.WHOLE) == (found.valid, found.position, found.end)


@pytest.mark.parametrize("left", [0, 30, 100, 150, 299])
@pytest.mark.parametrize("window", WINDOWS)
def test_a_file_that_shrinks_ends_the_columns(monkeypatch: pytest.MonkeyPatch, left: int, window: int) -> None:
    """Somebody cuts it after its size was asked for."""
    monkeypatch.setattr(read, "WINDOW_SIZE", window)
    found = told(log(run(0, 29))[:left], size=300)
    assert (0, End.SHRUNK) == (found.position, found.end)


def test_a_file_that_shrinks_behind_a_window_keeps_what_was_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read, "WINDOW_SIZE", 300)
    found = told(log(run(0, 99))[:550], size=1000)
    assert (3, 300, End.SHRUNK) == (len(found.rows), found.position, found.end)
