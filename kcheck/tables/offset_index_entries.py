"""An entry of an `.index`."""

from kcheck.model.report import Column
from kcheck.tables._contract import ENTRY, PATH, Table

TABLE = Table(
    "offset_index_entries",
    "An entry of an `.index`.",
    (
        PATH,
        ENTRY,
        Column("offset", "int64", "The absolute offset."),
        Column("position", "int64", "Where in the `.log` to start searching for the offset, in bytes."),
        Column("valid", "bool", "Whether the entry is above the one before it."),
    ),
)
