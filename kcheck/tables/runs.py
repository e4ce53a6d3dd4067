"""A run of `kcheck fleet scan`."""

from kcheck.model.report import Column
from kcheck.tables._contract import Table

TABLE = Table(
    "runs",
    "A run of `kcheck fleet scan`: one row.",
    (
        Column("id", "string", "Its id, as in the name of its directory."),
        Column("started", "time", "When it began."),
        Column("ended", "time", "When its last row was known."),
        Column("kcheck", "string", "The version of kcheck."),
        Column("kafka", "string", "The Kafka whose behaviour was meant."),
        Column("depth", "string", "How much was read."),
        Column("roots", "json", "What was to be scanned, as it was named."),
        Column("log_dirs", "int64", "Rows of log_dirs."),
        Column("partitions", "int64", "Rows of partitions."),
        Column("findings", "int64", "Rows of findings."),
        Column("finished", "bool", "Whether all that was named could be looked at."),
    ),
    in_run=(),
)
