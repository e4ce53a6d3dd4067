"""Something that is wrong."""

import json

from kcheck.model.finding import Finding
from kcheck.model.report import Column, finding_row
from kcheck.tables._contract import PLACE, Table

TABLE = Table(
    "findings",
    "Something that is wrong.",
    (
        Column("id", "string", "The rule."),
        Column("name", "string", "Its name."),
        Column("severity", "string", "info, warning, error or fatal."),
        Column("broker_id", "int64", "The broker."),
        Column("log_dir", "string", "The log dir."),
        Column("dir", "string", "The partition directory in it."),
        Column("file", "string", "The file in that."),
        Column("line", "int64", "The line in a text file, from 1."),
        Column("position", "int64", "Bytes from the start of the file."),
        Column("topic", "string", "The topic."),
        Column("partition", "int64", "The partition."),
        Column("message", "string", "What stands there."),
        Column("effect", "string", "What the broker does about it."),
        Column("advice", "string", "What to do."),
        Column("data", "json", "The same as values; they differ by rule."),
        Column("repair", "json", "What would repair it."),
    ),
    in_run=PLACE,
)


def row(finding: Finding) -> tuple[object, ...]:
    """Return the row of a finding: as JSON shows it, what is JSON in it as a text."""
    *values, data, repair = finding_row(finding).values()
    return (*values, json.dumps(data), None if repair is None else json.dumps(repair))
