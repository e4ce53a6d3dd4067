"""Finds keys that one replica of a compacted topic still has, and that another one has deleted with their tombstones.

A log cleaner keeps the last record of each key. Only a tombstone is removed later, delete.retention.ms after the first
cleaning (Cleaner.shouldRetainRecord 0.9 to 4.3.1). A follower that was down for longer never fetches the tombstone.
"""

from collections.abc import Iterator
from typing import NamedTuple

from kcheck.model.entries import Offset
from kcheck.model.names import log_name
from kcheck.model.unreadable import UnreadableError
from kcheck.model.views import PartitionView, ReturningKeys
from kcheck.records.batch import TRANSACTIONAL
from kcheck.segments.batches import Walk
from kcheck.segments.record_keys import keyed_records

READ_SIZE_MAX = 16 << 20
"""Larger logs are not compared."""
_NEWEST_MAGIC = 2


class _Last(NamedTuple):
    offset: Offset
    has_value: bool
    is_final: bool
    """False for a record of a transaction, which may be aborted."""


def returning_keys(one: PartitionView, other: PartitionView) -> ReturningKeys | None:
    """Return the keys that `one` has, and `other`, a log that was cleaned, has deleted; None without any.

    None too if a log is too long, or if a segment cannot be read.
    """
    start, end = other.log_start_offset, other.log_end_offset
    if start is None or end is None or max(one.size, other.size) > READ_SIZE_MAX:
        return None
    try:
        known, last = {key for key, _ in _records(other)}, dict(_records(one))
    except UnreadableError:
        return None  # It is a finding of its own.
    found = [
        row.offset
        for key, row in last.items()
        if row.has_value and row.is_final and start <= row.offset < end and key not in known
    ]
    return ReturningKeys(one.where, other.where, len(found), min(found)) if found else None


def _records(view: PartitionView) -> Iterator[tuple[bytes, _Last]]:
    """Yield each key with its record, in the order of the log."""
    assert view.disk is not None
    for segment in view.segments:
        with view.disk.open(log_name(segment.base_offset)) as source:
            for batch in Walk(source):
                if batch.magic == _NEWEST_MAGIC:
                    is_final = not batch.attributes & TRANSACTIONAL
                    for key, record in keyed_records(source, batch, READ_SIZE_MAX):
                        yield key, _Last(record.offset, record.value is not None, is_final)
