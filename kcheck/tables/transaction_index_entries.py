"""An entry of a `.txnindex`: an aborted transaction."""

from kcheck.model.report import Column
from kcheck.tables._contract import ENTRY, PATH, Table

TABLE = Table(
    "transaction_index_entries",
    "An entry of a `.txnindex`: an aborted transaction.",
    (
        PATH,
        ENTRY,
        Column("version", "int64", "0."),
        Column("producer_id", "int64", "Its producer."),
        Column("first_offset", "int64", "Of its first batch."),
        Column("last_offset", "int64", "Of its marker."),
        Column("last_stable_offset", "int64", "Of the log when the marker was written."),
        Column("valid", "bool", "Whether its version is known and its offsets are in order."),
    ),
)
