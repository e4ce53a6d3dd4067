"""A rule."""

from kcheck.model.report import Column
from kcheck.tables._contract import Table

TABLE = Table(
    "rules",
    "A rule.",
    (
        Column("id", "string", "KC and a number."),
        Column("name", "string", "Its name."),
        Column("severity", "string", "info, warning, error or fatal, as it usually is."),
        Column("scope", "string", "What it looks at."),
        Column("title", "string", "What is wrong, in a sentence."),
        Column("page", "string", "What the broker does, and what to do."),
    ),
)
