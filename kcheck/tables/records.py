"""A record in a batch."""

from kcheck.model.report import Column
from kcheck.tables._contract import PATH, Table

TABLE = Table(
    "records",
    "A record in a batch.",
    (
        PATH,
        Column("batch_position", "int64", "Position of its batch in the file, in bytes."),
        Column("offset", "int64", "The offset of the record."),
        Column("timestamp_type", "string", "CreateTime or LogAppendTime."),
        Column("timestamp", "int64", "The timestamp, in ms since 1970."),
        Column("key_size", "int64", "Size of the key in bytes; null if there is no key."),
        Column("value_size", "int64", "Size of the value in bytes; null for a tombstone."),
        Column("sequence", "int64", "Sequence number of the producer, or -1."),
        Column("header_keys", "json", "The keys of its headers."),
        Column("crc", "int64", "The CRC that a message of magic 0 or 1 states."),
        Column("valid", "bool", "True if that CRC matches."),
        Column("control", "json", "The decoded control record."),
        Column("key", "string", "The key, with --print-data."),
        Column("value", "string", "The value, with --print-data."),
        Column("headers", "json", "The keys and values of the headers, with --print-data."),
        Column("escaped", "json", "The fields of key, value and headers with escaped bytes that are not valid UTF-8."),
        Column("decoded_key", "json", "The decoded key, with --decode."),
        Column("decoded_value", "json", "The decoded value, with --decode."),
    ),
)
