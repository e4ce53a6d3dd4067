"""What the next start of a broker rests on, and whether that holds."""

from kcheck.model.report import Column
from kcheck.tables._contract import DIRECTORY, PLACE, ScanStep, Table

TABLE = Table(
    "premises",
    "A premise of a broker's next start, and what the files of a scan show of it. A scan judges nothing of the host.",
    (
        *DIRECTORY,
        Column("id", "string", "The id of the premise (docs/premises.md)."),
        Column("status", "string", "proven, refuted or not-seen."),
        Column("sentence", "string", "The fact that holds, does not hold, or was not seen."),
        Column("evidence", "json", "The path of each file about it, and what it says."),
        Column("provide", "string", "The file or option that would show what was not seen."),
    ),
    in_run=PLACE,
    steps=(ScanStep.BROKER,),
)
