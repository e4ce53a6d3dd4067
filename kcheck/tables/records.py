"""A record in a batch."""

from kcheck.model.report import Column
from kcheck.tables._contract import PATH, Table

TABLE = Table(
    "records",
    "A record in a batch.",
    (
        PATH,
        Column("batch_position", "int64", "Where its batch begins, in bytes from the start of the file."),
        Column("offset", "int64", "Its offset."),
        Column("timestamp_type", "string", "CreateTime or LogAppendTime."),
        Column("timestamp", "int64", "In ms since 1970."),
        Column("key_size", "int64", "Bytes; null where there is no key."),
        Column("value_size", "int64", "Bytes; null is a tombstone."),
        Column("sequence", "int64", "Of its producer; -1 is none."),
        Column("header_keys", "json", "The names of its headers."),
        Column("crc", "int64", "The one that a message of magic 0 or 1 names."),
        Column("valid", "bool", "Whether that CRC matches."),
        Column("control", "json", "What a control record says."),
        Column("key", "string", "As --print-data writes it."),
        Column("value", "string", "As --print-data writes it."),
        Column("headers", "json", "Names and values."),
        Column("escaped", "json", "In which of key, value and headers bytes that are no UTF-8 are escaped."),
        Column("decoded_key", "json", "What the key says, with --decode."),
        Column("decoded_value", "json", "What the value says, with --decode."),
    ),
)
