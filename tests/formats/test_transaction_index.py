"""Transaction indexes: the aborted transactions, and what each release's reader refuses."""

import pytest

from kcheck.core.releases.releases import release
from kcheck.formats.transaction_index import FORMAT, AbortedTxn, broker_reads, parse, serialize

DATA = bytes.fromhex("000000000000000003e8000000000000000a000000000000000f0000000000000010")
ENTRY = AbortedTxn(0, 1000, 10, 15, 16)
NEXT = AbortedTxn(0, 1001, 12, 18, 19)


def test_a_file_as_brokers_write_it() -> None:
    parsed = parse(DATA)
    assert (parsed.value, parsed.defects) == ((ENTRY,), ())
    assert serialize(parsed.value) == DATA
    assert broker_reads(DATA, release("4.3")).value == (ENTRY,)


@pytest.mark.parametrize(
    ("entries", "index", "message"),
    [
        ((ENTRY, NEXT._replace(version=1)), 1, "entry 1 has unknown version 1, expected 0"),
        ((ENTRY._replace(producer_id=-1), NEXT), 0, "entry 0 has a negative number"),
        ((ENTRY._replace(first_offset=-1), NEXT), 0, "entry 0 has a negative number"),
        ((ENTRY._replace(first_offset=16), NEXT), 0, "entry 0 ends at offset 15, below its start 16"),
        ((ENTRY, ENTRY), 1, "entry 1 does not end above the entry before it"),
    ],
)
def test_defects(entries: tuple[AbortedTxn, ...], index: int, message: str) -> None:
    (defect,) = parse(serialize(entries)).defects
    assert (message, 34 * index) == (defect.message, defect.position)


def test_a_marker_that_ended_nothing_is_no_defect() -> None:
    """Brokers 0.11 to 2.7 write an entry of it that begins with the marker (ProducerAppendInfo.appendEndTxnMarker)."""
    assert not parse(serialize((ENTRY._replace(first_offset=15), NEXT))).defects


def test_a_torn_entry_is_passed_over() -> None:
    data = DATA + DATA[:20]
    (defect,) = parse(data).defects
    assert (defect.position, defect.message) == (34, "20 bytes after the last complete entry")
    assert broker_reads(data, release("4.3")).value == (ENTRY,)


@pytest.mark.parametrize(
    ("version", "refusing"), [(1, ["4.4"]), (256, ["0.11.0", "4.3", "4.4"]), (-256, ["4.4"]), (0, [])]
)
def test_readers_look_at_the_version(version: int, refusing: list[str]) -> None:
    """Up to 4.3 at its high byte only, and only above 0."""
    data = serialize((ENTRY, NEXT._replace(version=version)))
    newest = release("4.3")
    known = {name: release(name) for name in ("0.11.0", "4.3")} | {"4.4": newest._replace(version=(4, 4, 0))}
    assert refusing == [name for name, chosen in known.items() if broker_reads(data, chosen).error == "KafkaException"]


def test_no_broker_up_to_0_10_2_has_one() -> None:
    assert broker_reads(DATA, release("0.10.2")).value == ()


def test_json() -> None:
    assert FORMAT.row is not None
    assert FORMAT.row((ENTRY,)) == {"entries": (ENTRY._asdict(),)}
    assert FORMAT.matches("00000000000000000000.txnindex")
