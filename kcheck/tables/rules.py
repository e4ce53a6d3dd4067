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
        Column("scope", "string", "The object of the rule, such as a file, a partition or a log dir."),
        Column("title", "string", "The problem, in a sentence."),
        Column("page", "string", "The behavior of the broker, and the advice."),
        Column("docs", "string", "Its place on the site of the pages, a relative link."),
        Column(
            "operation", "string", "The page about what to do when it is found, a relative link; null without a page."
        ),
    ),
)
