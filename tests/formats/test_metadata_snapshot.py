"""KRaft's snapshots of metadata, as a controller of 4.3.1 wrote them, and with damage."""

from pathlib import Path

import pytest

from kcheck.core.releases.releases import release
from kcheck.formats.metadata_snapshot import FORMAT, MetadataSnapshot, broker_reads, parse
from kcheck.model.parsed import Defect, Parsed
from kcheck.records.batch import HEADER, OVERHEAD, body_from, checksum

LOG_DIR = Path(__file__).parents[2] / "fixtures" / "brokers" / "4.3.1" / "snapshot" / "broker-1" / "data1"
NAMES = ("bootstrap.checkpoint", *(path.name for path in sorted(LOG_DIR.glob("__cluster_metadata-0/*.checkpoint"))))
FILES = {name: next(LOG_DIR.rglob(name)).read_bytes() for name in NAMES}
BOOTSTRAP = FILES["bootstrap.checkpoint"]
FIRST_SIZE = OVERHEAD.size + int(OVERHEAD.unpack_from(BOOTSTRAP)[1])
NO_HEADER, NO_FOOTER = "no SNAPSHOT_HEADER record at the beginning", "no SNAPSHOT_FOOTER record at the end"

UNCOVERED = {*range(8), *range(12, 16)}
"""Bytes of a batch that no CRC covers: base offset and leader epoch, which no reader of a snapshot looks at."""


def starts(data: bytes) -> list[int]:
    """Return where the batches begin."""
    found = [0]
    while found[-1] < len(data):
        found.append(found[-1] + OVERHEAD.size + int(OVERHEAD.unpack_from(data, found[-1])[1]))
    return found[:-1]


@pytest.mark.parametrize("name", NAMES)
def test_what_a_node_wrote(name: str) -> None:
    """One batch of records; the snapshot of offset 0 holds control records alone."""
    said = parse(FILES[name])
    assert FORMAT.matches(name)
    assert (0 if name.startswith(f"{0:020d}-") else 1, ()) == (said.value.batches, said.defects)
    assert bool(said.value.batches) == ("metadata.version" in said.value.features)
    assert ((None, 0) if name == "bootstrap.checkpoint" else (1, 1)) == (
        said.value.kraft_version,
        len(said.value.voters),
    )


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", NAMES)
def test_every_byte_is_missed(name: str) -> None:
    """Changed, or with all that follows it."""
    data = FILES[name]
    begins = starts(data)
    for at in range(len(data)):
        assert parse(data[:at]).defects
        begin = max(each for each in begins if each <= at)
        if at - begin not in UNCOVERED:
            assert parse(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]).defects, at


def test_what_inspect_shows() -> None:
    snapshot = parse(FILES[f"{0:020d}-{0:010d}.checkpoint"]).value
    assert FORMAT.row is not None
    assert FORMAT.reads_row is not None
    (voter,) = snapshot.voters
    shown = FORMAT.row(snapshot)
    assert ([voter._asdict()], 1, 0) == (shown["voters"], shown["kraft_version"], shown["batches"])
    assert {} == FORMAT.reads_row(None)


def test_nothing_at_all() -> None:
    assert Parsed(MetadataSnapshot(), (Defect(NO_HEADER, 0), Defect(NO_FOOTER, 0))) == parse(b"")


def test_a_begin_and_an_end_that_say_something_else() -> None:
    """Records that are none of control, and a control record that cannot be read."""
    middle = BOOTSTRAP[FIRST_SIZE : starts(BOOTSTRAP)[-1]]
    assert (Defect(NO_HEADER, 0), Defect(NO_FOOTER, len(middle))) == parse(middle).defects
    assert parse(BOOTSTRAP).value == parse(middle).value
    fields = [*HEADER.unpack_from(BOOTSTRAP)]
    fields[-1] = 2  # records, where there is one
    batch = HEADER.pack(*fields) + BOOTSTRAP[HEADER.size : FIRST_SIZE]
    fields[4] = checksum(batch[body_from(2) :], 2)
    batch = HEADER.pack(*fields) + batch[HEADER.size :]
    assert Parsed(MetadataSnapshot(), (Defect(NO_FOOTER, len(batch)),)) == parse(batch)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (BOOTSTRAP, None),
        (b"", None),
        (BOOTSTRAP[:16], "no valid batch at position 0"),
        (BOOTSTRAP[:17], None),
        (BOOTSTRAP[:-1], None),
        (BOOTSTRAP + bytes(11), None),
        (BOOTSTRAP + bytes(12), f"no valid batch at position {len(BOOTSTRAP)}"),
        (BOOTSTRAP + BOOTSTRAP[:16] + b"\3", f"no valid batch at position {len(BOOTSTRAP)}"),
        (BOOTSTRAP[:16] + b"\1" + BOOTSTRAP[17:], "no valid batch at position 0"),
        (
            BOOTSTRAP[: FIRST_SIZE - 1] + b"x" + BOOTSTRAP[FIRST_SIZE:],
            "the CRC of the batch at position 0 does not match",
        ),
    ],
)
def test_what_ends_a_start_as_the_newest_snapshot(data: bytes, why: str | None) -> None:
    """The oracle tests hold the same with many more; up to 3.7 it depends on who reads it, and when."""
    assert why == broker_reads(data, release("4.3")).error
    assert broker_reads(data, release("3.7")).error is None
