"""Whether two replicas hold the same records where they hold the same offsets, by the CRCs of their batches."""

from collections.abc import Callable, Iterator

import numpy as np

from kcheck.formats.record_batch import DELETE_HORIZON
from kcheck.model.entries import Epoch, Offset
from kcheck.model.names import log_name
from kcheck.model.source import Files
from kcheck.model.unreadable import UnreadableError
from kcheck.model.views import Different, PartitionView
from kcheck.segments.header_columns import HeaderColumns, HeaderReader, Mask


def difference(
    one: PartitionView, other: PartitionView, files_of: Callable[[PartitionView], Files]
) -> Different | None:
    """Return the batches of the same offsets and epoch with another CRC, None where there are none.

    `files_of` gives the files of a partition directory.

    A batch that compaction has thinned out, or marked for deletion, may differ between replicas and is left out.
    """
    left, right = _windows(one, files_of(one)), _windows(other, files_of(other))
    a, b = next(left, None), next(right, None)
    first: Different | None = None
    while a is not None and b is not None:
        _, i, j = np.intersect1d(a.base_offset, b.base_offset, return_indices=True)
        same = (a.last_offset[i] == b.last_offset[j]) & (a.epoch[i] == b.epoch[j]) & _whole(a)[i] & _whole(b)[j]
        found = i[same & (a.crc[i] != b.crc[j])]
        if found.size:
            at = int(found[0])
            first = first or Different(
                one.where, other.where, Offset(int(a.base_offset[at])), Offset(int(a.last_offset[at])),
                Epoch(int(a.epoch[at])), 0,
            )  # fmt: skip
            first = first._replace(batches=first.batches + int(found.size))
        if a.last_offset[-1] <= b.last_offset[-1]:
            a = next(left, None)
        else:
            b = next(right, None)
    return first


def _whole(columns: HeaderColumns) -> Mask:
    """Return which batches are as they were produced: every offset has its record."""
    full: Mask = columns.record_count == columns.last_offset - columns.base_offset + 1
    full &= (columns.magic == 2) & (columns.epoch >= 0) & (columns.attributes & DELETE_HORIZON == 0)
    return full


def _windows(view: PartitionView, files: Files) -> Iterator[HeaderColumns]:
    """Yield the batches of a partition, segment by segment; what cannot be read is told elsewhere."""
    for segment in view.segments:
        try:
            with files.open(log_name(segment.base_offset)) as source:
                yield from HeaderReader(source, verify=False)
        except UnreadableError:
            continue
