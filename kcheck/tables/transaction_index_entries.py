"""An entry of a `.txnindex`, which is an aborted transaction."""

from kcheck.model.report import Column
from kcheck.tables._contract import ENTRY, PATH, Table

TABLE = Table(
    "transaction_index_entries",
    "An entry of a `.txnindex`, which is an aborted transaction.",
    (
        PATH,
        ENTRY,
        Column("version", "int64", "The version of the entry: 0."),
        Column("producer_id", "int64", "The producer of the transaction."),
        Column("first_offset", "int64", "Offset of its first batch."),
        Column("last_offset", "int64", "Offset of its ABORT marker."),
        Column("last_stable_offset", "int64", "The last stable offset of the log when the marker was written."),
        Column("valid", "bool", "True if the version is known and the offsets are in order."),
    ),
)
