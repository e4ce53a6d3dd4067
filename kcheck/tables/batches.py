"""A batch of a `.log` or of a KRaft snapshot; an old message, or a wrapper of messages, is a batch."""

from kcheck.model.report import Column
from kcheck.tables._contract import PATH, Table

TABLE = Table(
    "batches",
    "A batch of a `.log` or of a KRaft snapshot; an old message, or a wrapper of messages, is a batch.",
    (
        PATH,
        Column("position", "int64", "Bytes from the start of the file."),
        Column("size", "int64", "Bytes."),
        Column("magic", "int64", "0, 1 or 2."),
        Column("base_offset", "int64", "Null where only the last one is written: magic 0 and 1."),
        Column("last_offset", "int64", "Offset of the last record."),
        Column("count", "int64", "Records, as the header names them."),
        Column("base_sequence", "int64", "Of the first record; -1 is none."),
        Column("last_sequence", "int64", "Of the last record; -1 is none."),
        Column("producer_id", "int64", "-1 is none."),
        Column("producer_epoch", "int64", "-1 is none."),
        Column("leader_epoch", "int64", "Of the leader that took it; -1 is none."),
        Column("transactional", "bool", "Whether it belongs to a transaction."),
        Column("control", "bool", "Whether it holds control records."),
        Column("delete_horizon_ms", "int64", "When the cleaner may remove tombstones, in ms since 1970."),
        Column("timestamp_type", "string", "CreateTime or LogAppendTime."),
        Column("base_timestamp", "int64", "In ms since 1970."),
        Column("max_timestamp", "int64", "In ms since 1970."),
        Column("compression", "string", "none, gzip, snappy, lz4 or zstd."),
        Column("crc", "int64", "The one that the header names."),
        Column("valid", "bool", "Whether the CRC matches."),
    ),
)
