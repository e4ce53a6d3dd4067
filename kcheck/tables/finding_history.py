"""When findings appeared, over several runs of `kcheck fleet scan`."""

from kcheck.model.report import Column
from kcheck.tables._contract import DIRECTORY, PLACE, Table

TABLE = Table(
    "finding_history",
    "The findings of one rule about one file over several runs of `fleet scan`, as shown by `fleet trend`.",
    (
        Column("state", "string", "new (in the last run alone), open, gone, or unknown (the last run has not looked)."),
        *PLACE,
        *(column for column in DIRECTORY if column.name != "broker_id"),
        Column("file", "string", "The file, relative to the directory."),
        Column("id", "string", "The id of the rule."),
        Column("severity", "string", "The severity in the last run that has it, the worst of several."),
        Column("findings", "int64", "Number of these findings in that run."),
        Column("message", "string", "The message of one of them there."),
        Column("first_run", "string", "The first run that has it."),
        Column("first_seen", "time", "When that run ended."),
        Column("last_run", "string", "The last run that has it."),
        Column("last_seen", "time", "When that run ended."),
        Column("runs", "int64", "Number of the runs that have it."),
    ),
)
