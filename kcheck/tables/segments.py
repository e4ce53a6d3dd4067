"""A segment, in a run of `kcheck fleet scan`."""

from collections.abc import Iterator

from kcheck.model.report import Column
from kcheck.model.views import PartitionView
from kcheck.tables._contract import DIRECTORY, PLACE, ScanStep, Table

OWN = (
    Column("base_offset", "int64", "The offset in its file name."),
    Column(
        "end_offset", "int64", "The offset after its last batch; only for the last segment, unless headers are read."
    ),
    Column("size", "int64", "Size of its .log, in bytes."),
    Column("batches", "int64", "Number of batches, if the segment was read from its beginning."),
    Column("max_timestamp", "time", "Largest timestamp of its batches, if the segment was read from its beginning."),
)

TABLE = Table("segments", "A segment.", (*DIRECTORY, *OWN), in_run=PLACE, steps=(ScanStep.DIRECTORY,))


def rows(view: PartitionView) -> Iterator[tuple[object, ...]]:
    """Yield the segments of a partition directory, without the columns that identify the directory; times in ms."""
    read = {segment.base_offset: segment for segment in view.read or ()}
    for summary in view.segments:
        segment = read.get(summary.base_offset)
        if segment is not None:
            yield segment.base_offset, segment.end_offset, segment.size, segment.batches, segment.max_timestamp
        else:
            yield summary.base_offset, summary.end_offset, summary.size, summary.batches, summary.max_timestamp
