"""A batch of a `.log` or of a KRaft snapshot. A message or wrapper of the old formats counts as a batch."""

from kcheck.model.report import Column
from kcheck.tables._contract import PATH, Table

TABLE = Table(
    "batches",
    "A batch of a `.log` or of a KRaft snapshot. A message or wrapper of the old formats counts as a batch.",
    (
        PATH,
        Column("position", "int64", "Position in the file, in bytes."),
        Column("size", "int64", "Size in bytes."),
        Column("magic", "int64", "0, 1 or 2."),
        Column(
            "base_offset",
            "int64",
            "Offset of the first record; null for wrappers of magic 0 and 1, which state only the last offset.",
        ),
        Column("last_offset", "int64", "Offset of the last record."),
        Column("count", "int64", "Number of records that the header states."),
        Column("base_sequence", "int64", "Sequence number of the first record, or -1."),
        Column("last_sequence", "int64", "Sequence number of the last record, or -1."),
        Column("producer_id", "int64", "Id of the producer, or -1."),
        Column("producer_epoch", "int64", "Epoch of the producer, or -1."),
        Column("leader_epoch", "int64", "Epoch of the leader that appended the batch, or -1."),
        Column("transactional", "bool", "True if the batch belongs to a transaction."),
        Column("control", "bool", "True if the batch contains control records."),
        Column("delete_horizon_ms", "int64", "When the cleaner may remove tombstones, in ms since 1970."),
        Column("timestamp_type", "string", "CreateTime or LogAppendTime."),
        Column("base_timestamp", "int64", "Base timestamp of the batch, in ms since 1970."),
        Column("max_timestamp", "int64", "Largest timestamp of the batch, in ms since 1970."),
        Column("compression", "string", "none, gzip, snappy, lz4 or zstd."),
        Column("crc", "int64", "The CRC that the header states."),
        Column("valid", "bool", "True if the CRC matches."),
    ),
)
