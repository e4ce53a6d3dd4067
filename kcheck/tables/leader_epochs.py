"""An entry of a leader-epoch-checkpoint, in a run of `kcheck fleet scan`."""

from collections.abc import Iterator

from kcheck.model.report import Column
from kcheck.model.views import PartitionView
from kcheck.tables._contract import DIRECTORY, ENTRY, PLACE, ScanStep, Table

OWN = (
    ENTRY,
    Column("epoch", "int64", "The leader epoch."),
    Column("start_offset", "int64", "The first offset of the epoch."),
)

TABLE = Table(
    "leader_epochs",
    "A readable entry of a leader-epoch-checkpoint.",
    (*DIRECTORY, *OWN),
    in_run=PLACE,
    steps=(ScanStep.DIRECTORY,),
)


def rows(view: PartitionView) -> Iterator[tuple[object, ...]]:
    """Yield the entries of a partition directory, without the columns that identify the directory."""
    for number, entry in enumerate(view.leader_epochs):
        yield number, entry.epoch, entry.start_offset
