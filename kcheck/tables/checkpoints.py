"""An entry of an offset checkpoint, in a run of `kcheck fleet scan`."""

from collections.abc import Iterator

from kcheck.model.names import OFFSET_CHECKPOINTS
from kcheck.model.report import Column
from kcheck.model.views import LogDirView
from kcheck.tables._contract import LOG_DIR, PLACE, ScanStep, Table

TABLE = Table(
    "checkpoints",
    "A readable entry of an offset checkpoint, whether or not its partition exists.",
    (
        *LOG_DIR,
        Column("file", "string", "The name of the checkpoint file."),
        Column("topic", "string", "The topic."),
        Column("partition", "int64", "The partition number."),
        Column("offset", "int64", "The offset of the entry."),
    ),
    in_run=PLACE,
    steps=(ScanStep.BROKER,),
)


def rows(view: LogDirView) -> Iterator[tuple[object, ...]]:
    """Yield the rows of a log dir, which are the entries of its checkpoints."""
    where = view.where
    for name in sorted(set(OFFSET_CHECKPOINTS) & set(view.files)):
        for entry in view.files[name].parsed.value.entries:
            yield where.broker_id, where.log_dir, name, entry.topic, entry.partition, entry.offset
