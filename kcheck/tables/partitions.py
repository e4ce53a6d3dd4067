"""A partition directory, in a run of `kcheck fleet scan`."""

from kcheck.model.names import DirectoryState
from kcheck.model.report import Column
from kcheck.model.views import PartitionView
from kcheck.tables._contract import DIRECTORY, PLACE, ScanStep, Table

TABLE = Table(
    "partitions",
    "A partition directory that could be listed.",
    (
        *DIRECTORY,
        Column("state", "string", f"{', '.join(DirectoryState)}, by the suffix of the directory name."),
        Column("topic_id", "string", "The topic id in its partition.metadata."),
        Column("log_start_checkpoint", "int64", "Its entry in log-start-offset-checkpoint."),
        Column("log_start_offset", "int64", "The larger of that entry and the base offset of the first segment."),
        Column("recovery_point", "int64", "Its entry in recovery-point-offset-checkpoint."),
        Column("high_watermark", "int64", "Its entry in replication-offset-checkpoint."),
        Column("log_end_offset", "int64", "The offset after the last valid batch."),
        Column("size", "int64", "Total size of its .log files, in bytes."),
        Column("clean_shutdown", "bool", "True if .kafka_cleanshutdown exists in the log dir."),
        Column("segments", "int64", "Number of segments."),
        Column("leader_epochs", "int64", "Number of readable entries in leader-epoch-checkpoint."),
        Column("latest_epoch", "int64", "The leader epoch of the last of these entries."),
        Column("last_batch_epoch", "int64", "The leader epoch of the last batch, or -1."),
        Column("complete", "bool", "True if every file to be read in the directory was readable."),
    ),
    in_run=PLACE,
    steps=(ScanStep.DIRECTORY,),
)


def row(view: PartitionView, *, complete: bool) -> tuple[object, ...]:
    """Return the row of a partition directory."""
    where, epochs, last = view.where, view.leader_epochs, view.last_batch
    return (
        where.broker_id,
        where.log_dir,
        where.dir,
        view.topic,
        view.partition,
        str(view.state),
        view.topic_id,
        view.log_start_checkpoint,
        view.log_start_offset,
        view.recovery_point,
        view.high_watermark,
        view.log_end_offset,
        view.size,
        view.clean_shutdown,
        len(view.segments),
        len(epochs),
        epochs[-1].epoch if epochs else None,
        None if last is None else last.epoch,
        complete,
    )
