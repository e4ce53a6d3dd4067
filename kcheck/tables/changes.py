"""What is different between two runs of a fleet."""

from kcheck.model.report import Column
from kcheck.tables import findings
from kcheck.tables._contract import PLACE, Table

TABLE = Table(
    "changes",
    "A finding that two runs of `fleet scan` do not share, as `fleet diff` tells it.",
    (
        Column("change", "string", "new, gone or changed."),
        *PLACE,
        *findings.TABLE.columns,
        Column("before", "json", "Of one that changed: severity, line, position, message and data before."),
    ),
)
