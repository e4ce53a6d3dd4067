"""A finding."""

import json

from kcheck.model.finding import Finding
from kcheck.model.report import Column, finding_row
from kcheck.tables._contract import KAFKA_DIFFERS, PLACE, ScanStep, Table

_DIFFERS = KAFKA_DIFFERS._replace(
    meaning="The end of the range of Kafka releases that the files fit, if the finding is absent or milder there. Null"
    " without a difference."
)
TABLE = Table(
    "findings",
    "A finding.",
    (
        Column("id", "string", "The id of the rule."),
        Column("name", "string", "The name of the rule."),
        Column("severity", "string", "info, warning, error or fatal."),
        Column("broker_id", "int64", "The broker id."),
        Column("log_dir", "string", "The log dir."),
        Column("dir", "string", "The partition directory in the log dir."),
        Column("file", "string", "The file in the partition directory, or in the log dir."),
        Column("line", "int64", "The line in a text file, from 1."),
        Column("position", "int64", "The position in the file, in bytes."),
        Column("topic", "string", "The topic."),
        Column("partition", "int64", "The partition number."),
        Column("message", "string", "What is wrong."),
        Column("effect", "string", "What the broker does about it."),
        Column("advice", "string", "What to do."),
        Column("data", "json", "The facts of the message as values; the fields depend on the rule."),
        Column("repair", "json", "The repair that fixes it, if there is one."),
    ),
    in_run=(*PLACE, _DIFFERS),
    steps=(*ScanStep,),
)


def row(finding: Finding) -> tuple[object, ...]:
    """Return the row of a finding with the values of its JSON; nested JSON is text."""
    *values, data, repair = finding_row(finding).values()
    return (*values, json.dumps(data), None if repair is None else json.dumps(repair))


IN_DIRECTORY = TABLE.run_columns[len(PLACE) :]
"""The columns of a run without the place, which the row of a directory has."""


def run_row(finding: Finding) -> tuple[object, ...]:
    """Return the row of a finding with the columns of IN_DIRECTORY."""
    return (finding.kafka_differs, *row(finding))
