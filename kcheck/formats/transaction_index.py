"""`.txnindex`: the aborted transactions whose ABORT marker is in a segment (TransactionIndex 0.11 to 4.3.1)."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kcheck.formats import _entry_file
from kcheck.formats._contract import Format
from kcheck.formats._layout import Layout
from kcheck.model.mapped import Mapped
from kcheck.model.names import FileKind, parse_file
from kcheck.model.parsed import BrokerReads, Parsed
from kcheck.model.release import Release

ABORTED_TXN = Layout(
    (
        ("version", "i16"),
        ("producer_id", "i64"),
        ("first_offset", "i64"),
        ("last_offset", "i64"),
        ("last_stable_offset", "i64"),
    )
)
assert ABORTED_TXN.size == 34


class AbortedTxn(NamedTuple):
    """An aborted transaction: `first_offset` to `last_offset`, that of its ABORT marker; offsets are absolute."""

    version: int
    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int


AbortedTxns = Sequence[AbortedTxn]


def parse(data: bytes) -> Parsed[AbortedTxns]:
    """Return the entries. Defects: a torn entry, an unknown version, offsets out of order."""
    found = _entry_file.read(data, ABORTED_TXN, has_room=False)
    return Parsed(value=entries(data), defects=_entry_file.defects(data, ABORTED_TXN, found, problem))


def entries(data: bytes) -> AbortedTxns:
    """Return every whole entry."""
    return _entry_file.Unpacked(data, ABORTED_TXN, AbortedTxn._make, end=len(data))


def problem(index: int, before: Sequence[int], found: Sequence[int]) -> str | None:
    """Return what is wrong with an entry behind the one `before`, which says nothing for the first."""
    last, each = AbortedTxn._make(before), AbortedTxn._make(found)
    if each.version != 0:
        return f"entry {index} has the version {each.version}, only 0 is known"
    if each.producer_id < 0 or each.first_offset < 0:
        return f"entry {index} has a negative number"
    # Up to 2.7 a marker that ended no transaction stands there too, as one that began with itself.
    if each.first_offset > each.last_offset:
        return f"entry {index} ends at offset {each.last_offset}, below its start {each.first_offset}"
    if index and each.last_offset <= last.last_offset:
        return f"entry {index} does not end above the one before it"
    return None


def serialize(value: AbortedTxns) -> bytes:
    """Return the file."""
    return _entry_file.write(value, ABORTED_TXN)


def broker_reads(data: bytes, release: Release) -> BrokerReads[AbortedTxns]:
    """Return what TransactionIndex.allAbortedTxns returns: every whole entry; KafkaException for a version.

    Up to 0.10.2 there is no such file.
    """
    if not release.has_producer_state:
        return BrokerReads(value=())
    found = entries(data)
    if any(refuses(each, release) for each in found):
        return BrokerReads(value=None, error="KafkaException")
    return BrokerReads(value=found)


def refuses(entry: AbortedTxn, release: Release) -> bool:
    """Whether a broker refuses the version of an entry, with KafkaException.

    Up to 4.3 only the high byte of the version counts, and only above 0; 4.4 wants all 16 bits to be 0.
    """
    return entry.version != 0 if release.reads_txnindex_version_strictly else entry.version >> 8 > 0


def row(value: AbortedTxns) -> Mapping[str, object]:
    """Return the fields of JSON."""
    return {"entries": Mapped(AbortedTxn._asdict, value)}


FORMAT = Format(
    kind="transaction-index",
    title="Transaction index",
    matches=lambda name: parse_file(name).kind is FileKind.TRANSACTION_INDEX,
    parse=parse,
    serialize=serialize,
    row=row,
    broker_reads=broker_reads,
    reads_row=row,
)
