"""`.txnindex`: the aborted transactions whose ABORT marker is in the segment (TransactionIndex 0.11 to 4.3.1)."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kcheck.formats._contract import Format
from kcheck.model.mapped import Mapped
from kcheck.model.names import FileKind, parse_file
from kcheck.model.parsed import BrokerReads, Parsed
from kcheck.model.release import Release
from kcheck.records import entry_file
from kcheck.records.layout import Layout

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
    """An aborted transaction. Offsets are absolute."""

    version: int
    """The version of the entry: 0."""
    producer_id: int
    """The producer of the transaction."""
    first_offset: int
    """The offset of the transaction's first record."""
    last_offset: int
    """The offset of its ABORT marker."""
    last_stable_offset: int
    """The last stable offset of the log when the marker was written."""


AbortedTxns = Sequence[AbortedTxn]


def parse(data: bytes) -> Parsed[AbortedTxns]:
    """Return the entries. Defects: an incomplete entry, an unknown version, offsets out of order."""
    contents = entry_file.read(data, ABORTED_TXN, has_room=False)
    return Parsed(value=entries(data), defects=entry_file.defects(data, ABORTED_TXN, contents, problem))


def entries(data: bytes) -> AbortedTxns:
    """Return every complete entry."""
    return entry_file.Unpacked(data, ABORTED_TXN, AbortedTxn._make, end=len(data))


def problem(index: int, before: Sequence[int], current: Sequence[int]) -> str | None:
    """Return the fault of an entry, given the entry before it (the first entry is given twice)."""
    last, txn = AbortedTxn._make(before), AbortedTxn._make(current)
    if txn.version != 0:
        return f"entry {index} has unknown version {txn.version}, expected 0"
    if txn.producer_id < 0 or txn.first_offset < 0:
        return f"entry {index} has a negative number"
    # Up to 2.7 an ABORT marker without a transaction also has an entry; it begins and ends at the marker.
    if txn.first_offset > txn.last_offset:
        return f"entry {index} ends at offset {txn.last_offset}, below its start {txn.first_offset}"
    if index and txn.last_offset <= last.last_offset:
        return f"entry {index} does not end above the entry before it"
    return None


def serialize(value: AbortedTxns) -> bytes:
    """Return the bytes of the file."""
    return entry_file.write(value, ABORTED_TXN)


def broker_reads(data: bytes, release: Release) -> BrokerReads[AbortedTxns]:
    """Return the entries of TransactionIndex.allAbortedTxns, or KafkaException for an invalid version.

    It returns every complete entry. In 0.10.2 and earlier this file does not exist.
    """
    if not release.has_producer_state:
        return BrokerReads(value=())
    txns = entries(data)
    if any(refuses(txn, release) for txn in txns):
        return BrokerReads(value=None, error="KafkaException")
    return BrokerReads(value=txns)


def refuses(entry: AbortedTxn, release: Release) -> bool:
    """Return whether a broker refuses the version of an entry, with KafkaException.

    Up to 4.3 it refuses a version whose high byte is above 0; 4.4 refuses every version but 0.
    """
    return entry.version != 0 if release.reads_txnindex_version_strictly else entry.version >> 8 > 0


def row(value: AbortedTxns) -> Mapping[str, object]:
    """Return the JSON fields."""
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
