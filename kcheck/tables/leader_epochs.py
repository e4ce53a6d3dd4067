"""An entry of a leader-epoch-checkpoint of a fleet."""

from collections.abc import Iterator

from kcheck.model.report import Column
from kcheck.model.views import PartitionView
from kcheck.tables._contract import DIRECTORY, ENTRY, PLACE, Table

OWN = (
    ENTRY,
    Column("epoch", "int64", "The leader epoch."),
    Column("start_offset", "int64", "The first offset of the epoch."),
)

TABLE = Table(
    "leader_epochs", "An entry of a leader-epoch-checkpoint that can be read.", (*DIRECTORY, *OWN), in_run=PLACE
)


def rows(view: PartitionView) -> Iterator[tuple[object, ...]]:
    """Yield the entries of a partition directory: what its row and theirs do not share."""
    for number, entry in enumerate(view.leader_epochs):
        yield number, entry.epoch, entry.start_offset
