"""An entry of an `.index`."""

from kcheck.model.report import Column
from kcheck.tables._contract import ENTRY, PATH, Table

TABLE = Table(
    "offset_index_entries",
    "An entry of an `.index`.",
    (
        PATH,
        ENTRY,
        Column("offset", "int64", "An offset."),
        Column("position", "int64", "Where in the `.log` to begin to look for it, in bytes."),
        Column("valid", "bool", "Whether it lies above the entry before it."),
    ),
)
