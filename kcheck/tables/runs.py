"""A run of `kcheck fleet scan`."""

from kcheck.model.report import Column
from kcheck.tables._contract import Table

TABLE = Table(
    "runs",
    "A run of `kcheck fleet scan`.",
    (
        Column("id", "string", "The id of the run, as in the name of its directory."),
        Column("started", "time", "When the run started."),
        Column("ended", "time", "When its last row was known."),
        Column("kcheck", "string", "The version of kcheck."),
        Column(
            "kafka",
            "string",
            "The Kafka release that was modeled; auto if it is the release of each broker, in log_dirs.",
        ),
        Column("depth", "string", "The --depth of the scan."),
        Column("roots", "json", "The scanned places, as named on the command line."),
        Column("log_dirs", "int64", "Number of rows in log_dirs."),
        Column("partitions", "int64", "Number of rows in partitions."),
        Column("findings", "int64", "Number of rows in findings."),
        Column("finished", "bool", "True if everything that was named could be scanned."),
        Column("log_dirs_expected", "int64", "Log dirs that were named, that match the layout, or are missing."),
        Column("log_dirs_reached", "int64", "Number of these that could be listed and are not empty."),
        Column("releases", "json", "The releases that were modelled, each with the number of its brokers."),
        Column("since", "string", "The run of --since-run; null without one."),
        Column(
            "carried_over",
            "int64",
            "Number of partition directories with the sizes and times of that run. This run did not read them again.",
        ),
    ),
    in_run=(),
)
