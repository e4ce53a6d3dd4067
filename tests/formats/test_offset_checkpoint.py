"""The four offset checkpoints: what kcheck reads, what each release's reader makes of it."""

import pytest

from kcheck.core.releases.releases import release
from kcheck.formats import _checkpoint_file
from kcheck.formats._checkpoint_file import DEFECT_COUNT_MAX
from kcheck.formats.offset_checkpoint import FORMAT, OffsetCheckpoint, broker_reads, parse, serialize
from kcheck.model.entries import OffsetEntry
from kcheck.model.parsed import FOUND_SIZE_MAX

VALID = b"0\n3\norders.eu-west 0 1843\norders.eu-west 11 0\n__consumer_offsets 7 92\n"
ENTRIES = [
    OffsetEntry("orders.eu-west", 0, 1843),
    OffsetEntry("orders.eu-west", 11, 0),
    OffsetEntry("__consumer_offsets", 7, 92),
]
R1, R2, R3, R4, R5, R6 = "0.9.0", "0.10.2", "0.11.0", "2.0", "3.0", "4.3"
READERS = (R1, R2, R3, R4, R5, R6)


def _defects(data: bytes) -> list[tuple[int | None, int | None, int, bool]]:
    return [(defect.line, defect.column, defect.position, defect.accepted) for defect in parse(data).defects]


def _error(data: bytes, kafka: str) -> str | None:
    return broker_reads(data, release(kafka)).error


def test_a_file_as_brokers_write_it() -> None:
    """Order and version are kept; the file is written back to the byte."""
    parsed = parse(VALID)
    assert not parsed.defects
    assert (parsed.value.version, len(parsed.value)) == (0, 3)
    assert ENTRIES == list(parsed.value.entries) == list(parsed.value)
    assert VALID == serialize(parsed.value)
    assert parsed.value.by_topic() == {"orders.eu-west": {0: 1843, 11: 0}, "__consumer_offsets": {7: 92}}
    for kafka in READERS:
        assert ENTRIES == list(broker_reads(VALID, release(kafka)).value or ())


@pytest.mark.parametrize("data", [b"", b"0\n0\n"])
def test_empty_files(data: bytes) -> None:
    """A broker makes a file of 0 bytes, and writes an empty set later."""
    parsed = parse(data)
    assert not parsed.defects
    assert data == serialize(parsed.value)
    for kafka in READERS:
        assert not list(broker_reads(data, release(kafka)).value or ())
        assert _error(data, kafka) is None


def test_a_cut_number_is_a_smaller_one() -> None:
    """The defect stands behind the last byte, because the last line may have lost digits."""
    cut = VALID[:-2]
    assert _defects(cut) == [(5, 23, len(cut), True)]
    assert list(parse(cut).value)[2].offset == 9
    assert _defects(b"0\r1\rt 0 5")[-1] == (3, 6, 9, True)


@pytest.mark.parametrize(
    ("data", "defects"),
    [
        (b"\n", [(1, 1, 0, False), (1, 1, 0, True)]),
        (b"x\n1\nt 0 5\n", [(1, 1, 0, False)]),
        (b"1\n1\nt 0 5\n", [(1, 1, 0, False)]),
        (b"0\nx\nt 0 5\n", [(2, 1, 2, False)]),
        (b"0\n2\nt 0 5\n", [(2, 1, 2, False)]),
        (b"0\n-1\nt 0 5\n", [(2, 1, 2, False)]),
        (b"0\n1\n\nt 0 5\n", [(3, 1, 4, False)]),
        (b"0\n1\nt 0 5\n\n", [(4, 1, 10, False)]),
        (b"0\n1\n t 0 5\n", [(3, 1, 4, False), (2, 1, 2, False)]),
        (b"0\n0\nt 0\n", [(3, 1, 4, False)]),
        (b"0\n0\nt\n", [(3, 1, 4, False)]),
        (b"0\n1\ntt  0x  5\nt 0 5\n", [(3, 5, 4, False)]),
        (b"0\n1\n55 5 5x\nt 0 5\n", [(3, 6, 4, False)]),
        (b"0\n1\nt\xff 0 5\n", [(3, 2, 4, False), (3, 1, 4, True)]),
        (b"0\n1\n\xe2\x82\xac\xff 0 5\n", [(3, 2, 4, False), (3, 1, 4, True)]),
        (b"0\n2\nt 0 5\nt 0 6\n", [(3, 1, 0, False)]),
        (b"0\n1\nt 2147483648 5\nt 0 5\n", [(3, 3, 4, False)]),
    ],
)  # fmt: skip
def test_defects_have_their_place(data: bytes, defects: list[tuple[int, int, int, bool]]) -> None:
    """Line and column count from 1, the column in characters, the position in bytes."""
    assert defects == _defects(data)


def test_a_defect_says_what_is_wrong_and_quotes_the_bytes() -> None:
    messages = [defect.message for defect in parse(b"7\nx\na b\na b c d\n\nt x 5\nt 5 x\n").defects]
    assert messages == [
        "unknown version 7, expected 0",
        '"x" is not a count',
        '"a b" has 2 fields instead of 3',
        '"a b c d" has more than 3 fields',
        '"" has no fields instead of 3',
        '"x" is not a partition number',
        '"x" is not an offset',
    ]
    long = parse(b"0\n0\n" + b"x" * 100 + b"\n").defects[0]
    assert long.message == f'"{"x" * FOUND_SIZE_MAX}"... has 1 field instead of 3'
    assert long.found == b"x" * FOUND_SIZE_MAX


def test_good_lines_around_a_bad_one_are_kept() -> None:
    parsed = parse(b"0\n3\na 0 1\nbad\nb 0 2\n")
    assert list(parsed.value) == [OffsetEntry("a", 0, 1), OffsetEntry("b", 0, 2)]


def test_a_million_defects_are_counted() -> None:
    """The first thousand are kept; one more says how many there are besides."""
    defects = parse(b"0\n0\n" + b"x\n" * 5000).defects
    assert len(defects) == DEFECT_COUNT_MAX + 1
    assert defects[-1].message == "4000 more defects"


def test_a_file_of_too_many_defects_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time is bounded like memory: enough lines that no broker reads end it, after some part of a large file."""
    monkeypatch.setattr(_checkpoint_file, "REFUSED_COUNT_MAX", 2 * DEFECT_COUNT_MAX)
    parsed = parse(b"0\n0\n" + (b"x" * 400 + b"\n") * 8_000 + b"t 0 5\n")
    assert parsed.defects[-1].message.endswith("more defects, and the rest of the file was not read")
    assert not list(parsed.value)


def test_a_file_of_many_chunks_is_read_whole() -> None:
    """A chunk with an odd line is read line by line; the line numbers go on."""
    lines = [f"topic.{i % 7} {i} {i * 37}\n" for i in range(100_000)]
    lines[70_000] = "topic.0 +70000 5\n"
    data = f"0\n{len(lines)}\n{''.join(lines)}".encode()
    assert len(data) > 2 << 20
    parsed = parse(data)
    assert [defect.line for defect in parsed.defects] == [70_003]
    assert len(parsed.value) == 100_000
    assert list(parsed.value)[70_000] == OffsetEntry("topic.0", 70_000, 5)


def test_of_a_repeated_partition_the_last_line_counts() -> None:
    read = broker_reads(b"0\n3\nt 0 5\nu 1 7\nt 0 6\n", release("4.3"))
    assert list(read.value or ()) == [OffsetEntry("t", 0, 6), OffsetEntry("u", 1, 7)]


def test_json() -> None:
    rows = ({"topic": "t", "partition": 0, "offset": 5},)
    value = parse(b"0\n1\nt 0 5\n").value
    assert FORMAT.row is not None
    assert FORMAT.reads_row is not None
    assert FORMAT.row(value) == {"version": 0, "entries": rows}
    assert FORMAT.reads_row(value) == {"entries": rows}
    assert FORMAT.matches("cleaner-offset-checkpoint")
    assert not FORMAT.matches("leader-epoch-checkpoint")


def test_an_unknown_version_is_written_back() -> None:
    assert serialize(OffsetCheckpoint(1, ["t"], [0], [5])) == b"1\n1\nt 0 5\n"
    assert serialize(OffsetCheckpoint(None, ["t"], [0], [5])) == b"0\n1\nt 0 5\n"
