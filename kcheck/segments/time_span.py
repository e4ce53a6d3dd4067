"""Which segments hold records of a span of time, as their time indexes and their first batches tell."""

from typing import NamedTuple

from kcheck.formats import _entry_file
from kcheck.formats.record_batch import HEADER, header_of
from kcheck.formats.time_index import TIME_INDEX_ENTRY
from kcheck.model.entries import Offset
from kcheck.model.names import log_name, segment_prefix
from kcheck.model.source import Files
from kcheck.model.unreadable import UnreadableError
from kcheck.segments.batches import Walk, tail_of

_TAIL_SIZE_MAX = 1 << 20
"""What the time index does not know of the last segment must be so small, or the segment is read."""


class TimeSpan(NamedTuple):
    """A span of time, in ms since 1970, both ends in it; None: no end."""

    since: int | None = None
    until: int | None = None

    def leaves_out(self, files: Files, base: Offset, *, active: bool) -> bool:
        """Whether the segment of this base offset is outside the span; `active` is the last segment of its log.

        Its time index must be whole and in order: that names the largest timestamp. All records are taken to be as
        young as the first, which is so where brokers set timestamps; where producers do, older ones may follow.
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
    """Return the largest timestamp of a segment, None where the time index does not tell.

    A broker ends the index of a segment with it when it rolls or closes the segment (LogSegment
    .onBecomeInactiveSegment 0.10.1 to 4.3.1). Before, the batches behind the last entry of the offset index may have
    larger ones, and the index has room.
    """
    data, size = files.read_filled(segment_prefix(base) + ".timeindex")
    used = _entry_file.used_part(data, size, TIME_INDEX_ENTRY)
    if not used or size % TIME_INDEX_ENTRY.size or (len(used) < size and not active):
        return None
    import numpy as np  # only where a span is asked for

    from kcheck.segments.header_columns import dtype_of  # the same

    rows = np.frombuffer(used, dtype_of(TIME_INDEX_ENTRY))
    timestamp, offset = rows["timestamp"].astype(np.int64), rows["relative_offset"].astype(np.int64)
    if timestamp[0] < 0 or offset[0] < 0 or (timestamp[1:] <= timestamp[:-1]).any() or (np.diff(offset) < 0).any():
        return None
    newest = int(timestamp[-1])
    if not active:
        return newest
    with files.open(log_name(base)) as source:
        start = tail_of(files, source, base).position
        walk = Walk(source, position=start)
        if source.size - start > _TAIL_SIZE_MAX:
            return None
        newest = max([newest, *(batch.max_timestamp or -1 for batch in walk)])
        return newest if walk.position == source.size else None


def _first(files: Files, base: Offset) -> int | None:
    """Return the timestamp of the first batch, None where there is none; compaction may put another time there."""
    with files.open(log_name(base)) as source:
        header = source.pread(HEADER.size, 0)
    if len(header) < HEADER.size:
        return None
    found = header_of(header, total=source.size)
    by_producer = found.timestamp_type == "CreateTime" and found.base_timestamp is not None
    timestamp = found.base_timestamp if by_producer else found.max_timestamp
    return None if found.delete_horizon_ms is not None or timestamp is None or timestamp < 0 else timestamp
