"""`kcheck dump --records`: what is read of many batches side by side is what is read of them one by one."""

import io
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from kcheck.dumps import batch_columns as dump_columns
from kcheck.dumps import batches as dump_batches
from kcheck.dumps.filter import DumpDetail, Filter
from kcheck.model.report import Row, RowSlice
from kcheck.records.record import Data
from kcheck.renderers import Options, _text_dump, _text_records, text
from kcheck.renderers.ndjson import render
from kcheck.segments.header_columns import HeaderColumns
from kcheck.verbs.dump import dump
from tests.builders import FIRST_TIMESTAMP, flip_byte
from tests.record_bytes import batch_of, old_message, record, wrapper

MARKER = b"\0\0\0\1", b"\0\0\0\0\0\7"
NAMES = (None, b"", b"k", b"\xff\\", "\u043a\u043b\u044e\u0447".encode())
HEADERS = ((b"h", b"1"), (b"\xff", None), (b"", b"\xfe"), (b"100%s", b""))


def _said(key: Data | None, value: Data | None) -> tuple[Row | None, Row | None]:
    """Return something that tells keys and values apart; what an empty value says is damaged."""
    problem = {"problem": "nothing", "damaged": True} if value == b"" else {"data": bytes(value or b"").hex()}
    return None if key is None else {"data": bytes(key).hex()}, None if value is None else problem


def _spelled(key: Data | None, value: Data | None) -> tuple[Row | None, Row | None]:
    """Return texts with any characters."""
    return None if key is None else {"data": {"a": bytes(key).decode("latin-1")}}, {"data": [value is None, 0.5, -1]}


SHOWN = (
    DumpDetail(records=True),
    DumpDetail(records=True, data="utf8"),
    DumpDetail(records=True, data="utf8", java=True),
    DumpDetail(records=True, data="hex"),
    DumpDetail(records=True, data="base64"),
    DumpDetail(records=True, decode=_said),
)


def _records(random: Random, count: int) -> bytes:
    return b"".join(
        record(
            number, random.choice(NAMES), random.choice((*NAMES, bytes(300))),
            timestamp_delta=random.choice((0, -5, number)), headers=random.sample(HEADERS, random.choice((0, 0, 1, 3))),
        )
        for number in range(count)
    )  # fmt: skip


def _batch(random: Random, offset: int) -> tuple[bytes, int]:
    """Return a batch of any kind, and how many offsets it has."""
    kind, count = random.randrange(12), random.choice((1, 3, 20))
    if kind == 0:
        return old_message(offset, magic=random.randrange(2)), 1
    if kind == 1:
        inner = b"".join(old_message(number, b"k", None, timestamp=7) for number in range(2))
        return wrapper(offset + 1, inner, timestamp=7), 2
    if kind == 2:
        return batch_of(record(0, *MARKER), 1, base_offset=offset, attributes=0x30, producer=(7, 0, -1)), 1
    stated = count + (random.choice((-1, 1, -count)) if kind == 3 else 0)
    body = _records(random, count) + bytes(kind == 4)
    producer = random.choice(((-1, -1, -1), (7, 0, 5), (7, 0, 2**31 - 3)))
    times = (FIRST_TIMESTAMP, FIRST_TIMESTAMP + 20)
    codec, attributes = random.choice((0, 0, 1, 2, 3, 4, 5)), random.choice((0, 0, 8, 0x10, 0x40))
    made = batch_of(
        body, stated, base_offset=offset, last_offset=offset + count - 1, codec=codec, attributes=attributes,
        producer=producer, timestamps=times,
    )  # fmt: skip
    return made, count


@pytest.fixture
def segment(tmp_path: Path) -> Path:
    """Write a log of batches of all kinds, some of them damaged."""
    random = Random(4)
    path = tmp_path / "00000000000000000000.log"
    offset, parts = 0, []
    for _ in range(400):
        made, count = _batch(random, offset)
        parts.append(made)
        offset += count
    path.write_bytes(b"".join(parts))
    places = [len(part) for part in parts]
    for number in random.sample(range(len(parts)), 9):
        flip_byte(path, sum(places[: number + 1]) - 1)
    return path


def lines(path: Path, shown: DumpDetail) -> tuple[list[str], list[str]]:
    """Return what is written of a file, and what is told of it."""
    stream = io.StringIO()
    answer = dump([str(path)], as_kind=None, wanted=Filter(), shown=shown)
    render(answer.report(), stream, Options())
    return stream.getvalue().splitlines(), list(map(str, answer.damage))


def shown_text(path: Path, shown: DumpDetail, width: int) -> str:
    """Return the text that is written of a file."""
    stream = io.StringIO()
    text.render(dump([str(path)], as_kind=None, wanted=Filter(), shown=shown).report(), stream, Options(width=width))
    return stream.getvalue()


def _never(columns: HeaderColumns, *_: object) -> list[RowSlice | None]:
    return [None] * columns.position.size


@pytest.mark.sample(3)
@pytest.mark.parametrize("shown", SHOWN, ids=["sizes", "utf8", "java", "hex", "base64", "decoded"])
def test_side_by_side_as_one_by_one(segment: Path, shown: DumpDetail, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every kind of batch, and of damage, in the order of the file."""
    found = lines(segment, shown)
    monkeypatch.setattr(dump_batches, "record_parts", _never)
    assert lines(segment, shown) == found
    assert any("CRC" in each for each in found[1])
    assert any("is unreadable" in each for each in found[1])


@pytest.mark.sample(4)
@pytest.mark.parametrize("shown", [SHOWN[1], SHOWN[-1]], ids=["utf8", "decoded"])
@pytest.mark.parametrize(
    ("name", "value"),
    [("RECORD_COUNT", 25), ("_POOL_SIZE", 500), ("_UNPACKED_SIZE_MAX", 400), ("_DECODED_SIZE", 700)],
)
def test_bounds_change_nothing(
    segment: Path, name: str, value: int, shown: DumpDetail, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How many records are held at a time, and how many bytes are decompressed or decoded."""
    found = lines(segment, shown)
    monkeypatch.setattr(dump_columns, name, value)
    assert lines(segment, shown) == found


def test_few_batches_are_looked_at_one_by_one(segment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that are damaged, markers and old messages."""
    parts: list[RowSlice | None] = []
    made: Callable[..., list[RowSlice | None]] = dump_columns.record_parts

    def record_parts(*arguments: object) -> list[RowSlice | None]:
        some = made(*arguments)
        parts.extend(some)
        return some

    monkeypatch.setattr(dump_batches, "record_parts", record_parts)
    lines(segment, SHOWN[0])
    assert sum(part is not None for part in parts) > 200


@pytest.mark.sample(4)
@pytest.mark.parametrize("width", [20, 47, 80, 200])
@pytest.mark.parametrize(
    "shown",
    [SHOWN[0], SHOWN[1], SHOWN[-1], DumpDetail(records=True, decode=_spelled)],
    ids=["sizes", "utf8", "decoded", "spelled"],
)
def test_text_of_many_as_of_each(segment: Path, shown: DumpDetail, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches and records are laid out at once, or batch after batch."""
    together = shown_text(segment, shown, width)
    monkeypatch.setattr(dump_batches, "record_parts", _never)
    monkeypatch.setattr(_text_records, "batch_lines", lambda *_: None)
    assert shown_text(segment, shown, width) == together


PLAIN = (None, b"", b"key")


@pytest.mark.parametrize(
    "names", [(), (b"trace",), (b"trace", b"span"), (b"",), (b"end ",), (b"x" * 61,), (b"\xc3\xa9",)]
)
@pytest.mark.parametrize("length", [3, 1000])
def test_tables_of_many_as_of_each(
    tmp_path: Path, names: tuple[bytes, ...], length: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Records with and without the names of headers, in tables of so many rows."""
    random = Random(len(names))
    path = tmp_path / "00000000000000000000.log"
    parts, offset = list[bytes](), 0
    for count in (1, 3, 0, 7, 200, 4):
        body = b"".join(
            record(
                number,
                random.choice(PLAIN),
                random.choice(PLAIN),
                headers=[(name, b"") for name in names][: number % 3],
            )
            for number in range(count)
        )
        times = (FIRST_TIMESTAMP * count, FIRST_TIMESTAMP * count + 5)
        parts.append(
            batch_of(body, count, base_offset=offset, last_offset=offset + max(count - 1, 0), timestamps=times)
        )
        offset += max(count, 1)
    path.write_bytes(b"".join(parts))
    monkeypatch.setattr(_text_dump, "_RECORD", _text_dump._RECORD._replace(length=length))
    together = shown_text(path, SHOWN[0], 80)
    monkeypatch.setattr(_text_records, "record_tables", lambda *_: None)
    assert shown_text(path, SHOWN[0], 80) == together
