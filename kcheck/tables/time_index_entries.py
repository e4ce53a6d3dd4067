"""An entry of a `.timeindex`."""

from kcheck.model.report import Column
from kcheck.tables._contract import ENTRY, PATH, Table

TABLE = Table(
    "time_index_entries",
    "An entry of a `.timeindex`.",
    (
        PATH,
        ENTRY,
        Column("timestamp", "int64", "A timestamp in ms since 1970; no record up to the offset has a larger one."),
        Column("offset", "int64", "The absolute offset."),
        Column("valid", "bool", "True if the entry is above the previous entry."),
    ),
)
