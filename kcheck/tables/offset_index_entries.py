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
        Column("position", "int64", "The position in the `.log` where a search for the offset starts, in bytes."),
        Column("valid", "bool", "True if the entry is above the previous entry."),
    ),
)
