"""A producer in a `.snapshot`."""

from kcheck.model.report import Column
from kcheck.tables._contract import ENTRY, PATH, Table

TABLE = Table(
    "producer_snapshot_entries",
    "A producer in a `.snapshot`.",
    (
        PATH,
        ENTRY,
        Column("producer_id", "int64", "The producer id."),
        Column("producer_epoch", "int64", "The producer epoch."),
        Column("first_sequence", "int64", "First sequence number of its last batch."),
        Column("last_sequence", "int64", "Last sequence number of its last batch."),
        Column("last_offset", "int64", "Last offset of its last batch."),
        Column("offset_delta", "int64", "Last offset minus first offset of its last batch."),
        Column("timestamp", "int64", "Timestamp of its last batch, in ms since 1970."),
        Column("coordinator_epoch", "int64", "Coordinator epoch of its last transaction marker, or -1."),
        Column("current_txn_first_offset", "int64", "First offset of its open transaction, or -1."),
        Column("valid", "bool", "True if the broker accepts the file."),
    ),
)
