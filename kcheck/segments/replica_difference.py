"""Compares the records of two replicas at the same offsets, by the CRCs of their batches."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from kcheck.model.entries import Epoch, Offset
from kcheck.model.names import log_name
from kcheck.model.unreadable import UnreadableError
from kcheck.model.views import Different, PartitionView
from kcheck.records.batch import DELETE_HORIZON
from kcheck.segments.header_columns import HeaderColumns, HeaderReader, Mask


def first_difference(one: PartitionView, other: PartitionView) -> Different | None:
    """Return the first batch with equal offsets and epoch but another CRC, and the count of these; or None.

    Compaction works on each replica by itself. So batches that it reduced, or marked for deletion, are not compared.
    """
    left, right = _windows(one, verify=False), _windows(other, verify=False)
    a, b = next(left, None), next(right, None)
    first: Different | None = None
    while a is not None and b is not None:
        _, i, j = np.intersect1d(a.base_offset, b.base_offset, return_indices=True)
        same = (a.last_offset[i] == b.last_offset[j]) & (a.epoch[i] == b.epoch[j]) & _unchanged(a)[i] & _unchanged(b)[j]
        rows = i[same & (a.crc[i] != b.crc[j])]
        if rows.size:
            at = int(rows[0])
            first = first or Different(
                one.where, other.where, Offset(int(a.base_offset[at])), Offset(int(a.last_offset[at])),
                Epoch(int(a.epoch[at])), 0,
            )  # fmt: skip
            first = first._replace(batches=first.batches + int(rows.size))
        if a.last_offset[-1] <= b.last_offset[-1]:
            a = next(left, None)
        else:
            b = next(right, None)
    return first


def _unchanged(columns: HeaderColumns) -> Mask:
    """Return which batches compaction has not changed, as every offset has its record."""
    full: Mask = columns.record_count == columns.last_offset - columns.base_offset + 1
    full &= (columns.magic == 2) & (columns.epoch >= 0) & (columns.attributes & DELETE_HORIZON == 0)
    return full


def first_contradiction(one: PartitionView, other: PartitionView) -> Offset | None:
    """Return the first offset that two replicas have in different batches; None if they agree.

    For a topic without compaction, where followers keep the batches of the leader unchanged (ReplicaFetcherThread 0.8.2
    to 4.3.1). A batch with a wrong CRC is not compared.
    """
    left, right = _batches(one), _batches(other)
    a, b = next(left, None), next(right, None)
    while a is not None and b is not None:
        if a.last_offset < b.base_offset:
            a = next(left, None)
        elif b.last_offset < a.base_offset:
            b = next(right, None)
        elif a != b:
            return max(a.base_offset, b.base_offset)
        else:
            a, b = next(left, None), next(right, None)
    return None


class _CheckedBatch(NamedTuple):
    base_offset: Offset
    last_offset: Offset
    epoch: int
    crc: int


def _batches(view: PartitionView) -> Iterator[_CheckedBatch]:
    """Yield the batches with a correct CRC."""
    for columns in _windows(view, verify=True):
        rows = (columns.base_offset, columns.last_offset, columns.epoch, columns.crc)
        yield from map(_CheckedBatch._make, zip(*(row[columns.valid].tolist() for row in rows), strict=True))


def _windows(view: PartitionView, *, verify: bool) -> Iterator[HeaderColumns]:
    """Yield the batches of a partition, segment by segment; another check reports what cannot be read."""
    for segment in view.segments:
        assert view.disk is not None
        try:
            with view.disk.open(log_name(segment.base_offset)) as source:
                yield from HeaderReader(source, verify=verify)
        except UnreadableError:
            continue
