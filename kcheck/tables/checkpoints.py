"""An entry of an offset checkpoint of a fleet."""

from collections.abc import Iterator

from kcheck.model.names import OFFSET_CHECKPOINTS
from kcheck.model.report import Column
from kcheck.model.views import LogDirView
from kcheck.tables._contract import LOG_DIR, PLACE, Table

TABLE = Table(
    "checkpoints",
    "An entry of an offset checkpoint that can be read, whether or not its partition is there.",
    (
        *LOG_DIR,
        Column("file", "string", "The checkpoint."),
        Column("topic", "string", "The topic."),
        Column("partition", "int64", "The partition."),
        Column("offset", "int64", "The offset that it names."),
    ),
    in_run=PLACE,
)


def rows(view: LogDirView) -> Iterator[tuple[object, ...]]:
    """Yield the entries of the checkpoints of a log dir."""
    where = view.where
    for name in sorted(set(OFFSET_CHECKPOINTS) & set(view.files)):
        for entry in view.files[name].parsed.value.entries:
            yield where.broker_id, where.log_dir, name, entry.topic, entry.partition, entry.offset
