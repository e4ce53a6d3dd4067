"""A log dir of a fleet."""

from kcheck.model.report import Column
from kcheck.model.views import LogDirView
from kcheck.tables._contract import LOG_DIR, PLACE, Table

TABLE = Table(
    "log_dirs",
    "A log dir.",
    (
        *LOG_DIR,
        Column("cluster_id", "string", "cluster.id of its meta.properties."),
        Column("directory_id", "string", "directory.id of its meta.properties."),
        Column("clean_shutdown", "bool", "Whether the broker left the mark of a clean stop."),
        Column("locked", "bool", "Whether a process held its .lock."),
        Column("directories", "int64", "Partition directories in it that were asked for, links to elsewhere too."),
    ),
    in_run=PLACE,
)


def row(view: LogDirView, directories: int) -> tuple[object, ...]:
    """Return the row of a log dir that has so many partition directories."""
    where = view.where
    identity = (where.broker_id, where.log_dir, view.cluster_id, view.directory_id)
    return (*identity, view.clean_shutdown, view.locked_by is not None, directories)
