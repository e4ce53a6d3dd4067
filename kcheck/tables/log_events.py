"""The messages of brokers in their logs about logs, checkpoints, replicas and metadata."""

from kcheck.model.report import Column
from kcheck.tables._contract import PLACE, Table

TABLE = Table(
    "log_events",
    "A message in a broker's log that says something about its files, or that kcheck does not know.",
    (
        Column("file", "string", "The log; null for stdin and for a pasted line."),
        Column("line", "int64", "The number of the line, from 1."),
        Column("time", "int64", "When it was written, in ms since 1970; a log without a zone counts as UTC."),
        Column("level", "string", "INFO, WARN, ERROR or FATAL."),
        Column("class", "string", "The logger."),
        Column("rule", "string", "The rule of the message, as L008; null if kcheck does not know it."),
        Column("severity", "string", "info, warning, error or fatal."),
        Column("broker_id", "int64", "The broker that wrote it."),
        Column("log_dir", "string", "The log dir that it is about."),
        Column("topic", "string", "The topic."),
        Column("partition", "int64", "The partition number."),
        Column("values", "json", "The values in the message, by name."),
        Column("means", "string", "What happened."),
        Column("next", "string", "What Kafka does next."),
        Column("look", "string", "The kcheck command that shows more."),
        Column("findings", "json", "The rules of kcheck check that see the same on disk."),
        Column("releases", "string", "The lines of releases that write this wording."),
        Column("since", "string", "The first line of releases that writes a message of this meaning."),
        Column("message", "string", "The message, at most 500 characters of it."),
    ),
    in_run=PLACE,
)
