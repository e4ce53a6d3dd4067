"""The assumptions about the next start of a broker, and whether they hold."""

from kcheck.model.report import Column
from kcheck.tables._contract import DIRECTORY, KAFKA_DIFFERS, PLACE, ScanStep, Table

_DIFFERS = KAFKA_DIFFERS._replace(
    meaning="The end of the range of Kafka releases that the files fit, if its status is better there. Null without a"
    " difference."
)
TABLE = Table(
    "premises",
    "A premise of a broker's next start, and what the files of a scan show of it. A scan judges nothing of the host.",
    (
        *DIRECTORY,
        Column("id", "string", "The id of the premise (docs/premises.md)."),
        Column("status", "string", "proven, refuted or not-seen."),
        Column("sentence", "string", "The statement that holds, does not hold, or was not seen."),
        Column("evidence", "json", "The path of each file about it, and what it says."),
        Column("provide", "string", "The file or option that would show what was not seen."),
    ),
    in_run=(*PLACE, _DIFFERS),
    steps=(ScanStep.BROKER,),
)
