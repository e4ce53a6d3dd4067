"""A segment of a fleet."""

from collections.abc import Iterator

from kcheck.model.report import Column
from kcheck.model.views import PartitionView
from kcheck.tables._contract import DIRECTORY, PLACE, Table

OWN = (
    Column("base_offset", "int64", "The offset in its name."),
    Column("end_offset", "int64", "The offset after its last batch; only of the last one, unless headers are read."),
    Column("size", "int64", "Bytes of its .log."),
    Column("batches", "int64", "How many batches it has, where it was read from its start."),
    Column("max_timestamp", "time", "Of its batches, where it was read from its start."),
)

TABLE = Table("segments", "A segment.", (*DIRECTORY, *OWN), in_run=PLACE)


def rows(view: PartitionView) -> Iterator[tuple[object, ...]]:
    """Yield the segments of a partition directory: what its row and theirs do not share; times are in ms."""
    read = {segment.base_offset: segment for segment in view.read or ()}
    for summary in view.segments:
        found = read.get(summary.base_offset)
        if found is not None:
            yield found.base_offset, found.end_offset, found.size, found.batches, found.max_timestamp
        else:
            yield summary.base_offset, summary.end_offset, summary.size, summary.batches, summary.max_timestamp
