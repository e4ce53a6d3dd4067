"""A log dir, in a run of `kcheck fleet scan`."""

from kcheck.model.report import Column
from kcheck.model.unreadable import Unreadable
from kcheck.model.views import LogDirView
from kcheck.tables._contract import LOG_DIR, PLACE, ScanStep, Table

TABLE = Table(
    "log_dirs",
    "A log dir.",
    (
        *LOG_DIR,
        Column("cluster_id", "string", "The cluster.id in its meta.properties."),
        Column("directory_id", "string", "The directory.id in its meta.properties."),
        Column("clean_shutdown", "bool", "True if .kafka_cleanshutdown exists, as after a clean shutdown."),
        Column("locked", "bool", "True if a process held its .lock."),
        Column(
            "directories", "int64", "Number of partition directories in it that were selected, symbolic links included."
        ),
        Column("mode", "string", "The mode of its broker, kraft or zk."),
        Column("shutdown_epoch", "int64", "The broker epoch in its .kafka_cleanshutdown."),
        Column("kafka", "string", "The Kafka release that was modelled for its broker."),
        Column("kafka_lowest", "string", "The lowest release that the files of its broker fit, with --kafka auto."),
        Column("kafka_highest", "string", "The highest one, likewise."),
        Column("kafka_from", "string", "The evidence for that, likewise."),
        Column("metadata_log", "bool", "True if a KRaft node keeps __cluster_metadata-0 there."),
        Column("problem", "string", "The reason why it could not be listed; null if it was."),
    ),
    in_run=PLACE,
    steps=(ScanStep.BROKER,),
)


def row(
    view: LogDirView,
    directories: int,
    mode: str,
    kafka: tuple[str | None, str | None, str | None, str | None],
    unlisted: Unreadable | None,
    *,
    metadata_log: bool,
) -> tuple[object, ...]:
    """Return the row of a log dir with its number of partition directories, and its broker's mode and release."""
    where = view.where
    identity = (where.broker_id, where.log_dir, view.cluster_id, view.directory_id)
    problem = None if unlisted is None else unlisted.words
    marks = (view.clean_shutdown, view.locked_by is not None)
    return (*identity, *marks, directories, mode, view.shutdown_epoch, *kafka, metadata_log, problem)
