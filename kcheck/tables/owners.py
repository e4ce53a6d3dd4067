"""The teams that own topics, by the file of `kcheck fleet scan --owners`."""

from kcheck.model.report import Column
from kcheck.tables._contract import PLACE, Table

TABLE = Table(
    "owners",
    "A topic of a run and its owner. Topics without an owner have no row.",
    (
        Column("topic", "string", "The topic."),
        Column("owner", "string", "The owner, by the first row of the file that matches."),
    ),
    in_run=PLACE[:1],
)
