"""A producer in a `.snapshot`."""

from kcheck.model.report import Column
from kcheck.tables._contract import ENTRY, PATH, Table

TABLE = Table(
    "producer_snapshot_entries",
    "A producer in a `.snapshot`.",
    (
        PATH,
        ENTRY,
        Column("producer_id", "int64", "The producer."),
        Column("producer_epoch", "int64", "Its epoch."),
        Column("first_sequence", "int64", "Of its last batch."),
        Column("last_sequence", "int64", "Of its last batch."),
        Column("last_offset", "int64", "Of its last batch."),
        Column("offset_delta", "int64", "Offsets in its last batch, less one."),
        Column("timestamp", "int64", "Of its last batch, in ms since 1970."),
        Column("coordinator_epoch", "int64", "Of its last marker; -1 is none."),
        Column("current_txn_first_offset", "int64", "Of its open transaction; -1 is none."),
        Column("valid", "bool", "Whether the broker takes the file."),
    ),
)
