"""The changes between two runs of `kcheck fleet scan`."""

from kcheck.model.report import Column
from kcheck.tables import findings
from kcheck.tables._contract import PLACE, Table

TABLE = Table(
    "changes",
    "A finding that differs between two runs of `fleet scan`, as shown by `fleet diff`.",
    (
        Column("change", "string", "new, gone, changed, or unknown (the later run has not looked)."),
        *PLACE,
        *findings.TABLE.columns,
        Column("before", "json", "The previous severity, line, position, message and data of a changed finding."),
    ),
)
