"""The objects of a remote store, in a run of `kcheck fleet scan --store`."""

from kcheck.model.report import Column
from kcheck.tables._contract import Table

TABLE = Table(
    "remote_objects",
    "An object of the store that --store names. kcheck deletes none.",
    (
        Column("key", "string", "Its key."),
        Column("bytes", "int64", "Its size in bytes."),
        Column("modified_ms", "int64", "When it was written, in ms since 1970."),
        Column("segment_id", "string", "The segment, by its key; null if the key is not one of a segment."),
        Column(
            "verdict",
            "string",
            "used, deleting, unfinished, dangling (no longer needed), orphan, not-known or other (not a segment). No "
            "metadata names an orphan. For not-known a part of the metadata is not in the scan.",
        ),
    ),
    in_run=(),
)
