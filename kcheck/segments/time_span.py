"""Finds segments with records in a span of time, by their time indexes and their first batches."""

from typing import NamedTuple

from kcheck.formats.time_index import TIME_INDEX_ENTRY
from kcheck.model.entries import Offset
from kcheck.model.names import log_name, segment_prefix
from kcheck.model.source import Files
from kcheck.model.unreadable import UnreadableError
from kcheck.records import entry_file
from kcheck.records.batch import HEADER, header_of
from kcheck.segments.batches import Walk, tail_start

_TAIL_SIZE_MAX = 1 << 20
"""If more of the last segment follows its last index entry, `excludes` does not read it to decide."""


class TimeSpan(NamedTuple):
    """A span of time in milliseconds since 1970; both ends belong to it."""

    since: int | None = None
    """Its beginning; None without one."""
    until: int | None = None
    """Its end; None if it has none."""

    def excludes(self, files: Files, base: Offset, *, active: bool) -> bool:
        """Return whether the segment of this base offset is outside the span; `active` is the last segment of its log.

        False if in doubt. The time index names the largest timestamp, if it is complete and in order. The first record
        counts as the oldest. That is true if brokers set the timestamps. If producers do, older records may follow.
        """
        if self.since is None and self.until is None:
            return False
        try:
            newest = _newest(files, base, active=active)
            if newest is None:
                return False
            if self.since is not None and newest < self.since:
                return True
            first = None if self.until is None else _first(files, base)
        except UnreadableError:
            return False
        return self.until is not None and first is not None and first > self.until


def _newest(files: Files, base: Offset, *, active: bool) -> int | None:
    """Return the largest timestamp of a segment; None if the time index does not name it.

    A broker appends it as the last entry when it rolls or closes the segment (LogSegment.onBecomeInactiveSegment 0.10.1
    to 4.3.1). In an active segment the batches after the last entry of the offset index may have a larger one.
    """
    data, size = files.read_filled(segment_prefix(base) + ".timeindex")
    used = entry_file.used_part(data, size, TIME_INDEX_ENTRY)
    if not used or size % TIME_INDEX_ENTRY.size or (len(used) < size and not active):
        return None
    import numpy as np  # only if the user named a span

    from kcheck.segments.header_columns import dtype_of  # the same

    rows = np.frombuffer(used, dtype_of(TIME_INDEX_ENTRY))
    timestamp, offset = rows["timestamp"].astype(np.int64), rows["relative_offset"].astype(np.int64)
    if timestamp[0] < 0 or offset[0] < 0 or (timestamp[1:] <= timestamp[:-1]).any() or (np.diff(offset) < 0).any():
        return None
    newest = int(timestamp[-1])
    if not active:
        return newest
    with files.open(log_name(base)) as source:
        start = tail_start(files, source, base).position
        walk = Walk(source, position=start)
        if source.size - start > _TAIL_SIZE_MAX:
            return None
        newest = max([newest, *(batch.max_timestamp or -1 for batch in walk)])
        return newest if walk.position == source.size else None


def _first(files: Files, base: Offset) -> int | None:
    """Return the timestamp of the first batch; None without one, or with a deletion time of compaction."""
    with files.open(log_name(base)) as source:
        header = source.pread(HEADER.size, 0)
    if len(header) < HEADER.size:
        return None
    batch = header_of(header, total=source.size)
    by_producer = batch.timestamp_type == "CreateTime" and batch.base_timestamp is not None
    timestamp = batch.base_timestamp if by_producer else batch.max_timestamp
    return None if batch.delete_horizon_ms is not None or timestamp is None or timestamp < 0 else timestamp
