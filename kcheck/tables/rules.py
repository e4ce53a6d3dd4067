"""A rule."""

from kcheck.model.report import Column
from kcheck.tables._contract import Table

TABLE = Table(
    "rules",
    "A rule.",
    (
        Column("id", "string", "The id of the rule: KC and a number."),
        Column("name", "string", "The name of the rule."),
        Column("severity", "string", "The usual severity: info, warning, error or fatal."),
        Column("scope", "string", "What the rule checks: a file, a partition, a log dir, ..."),
        Column("title", "string", "What is wrong, in a sentence."),
        Column("page", "string", "What the broker does, and what to do."),
        Column("docs", "string", "Its place on the site of the pages, a relative link."),
        Column(
            "operation", "string", "The page about what to do when it is found, a relative link; null if there is none."
        ),
    ),
)
