"""Facts in the end of a time index about its segment (its age, closed or not, or another log's batches)."""

from collections.abc import Container

from kcheck.formats.time_index import TIME_INDEX_ENTRY
from kcheck.model.entries import Offset
from kcheck.model.names import log_name, segment_prefix
from kcheck.model.source import Files
from kcheck.model.unreadable import UnreadableError
from kcheck.segments.batches import Walk

_SLOT = TIME_INDEX_ENTRY.size


def older_date(files: Files, base: Offset, rebuilt: Container[str] = ()) -> int | None:
    """Return the timestamp that a time index gives its segment, if it is older than the records; else None.

    `rebuilt` are the files that the broker makes when it starts. Only the last two slots of the index count. If these
    are out of order or zeros, batches up to the first newer one count. A negative timestamp counts as none. Then the
    time of the `.log` decides (LogSegment.largestTimestamp).
    """
    name = segment_prefix(base) + ".timeindex"
    if name in rebuilt:
        return None
    try:
        first, last = _last_dates(files, name)
        if last < 0 or (last > 0 and last >= first):
            return None
        with files.open(log_name(base)) as source:
            newer = first > last or any((batch.max_timestamp or 0) > last for batch in Walk(source))
    except UnreadableError:
        return None
    return last if newer else None


def date_of(files: Files, base: Offset, rebuilt: Container[str] = ()) -> int | None:
    """Return the timestamp that a time index gives its segment; None without one, or of a rebuilt index."""
    name = segment_prefix(base) + ".timeindex"
    try:
        last = 0 if name in rebuilt else _last_dates(files, name)[1]
    except UnreadableError:
        return None
    return last if last > 0 else None


def is_closed(files: Files, base: Offset, end: Offset) -> bool:
    """Return whether the time index of a segment, which ends at `end`, ends in an entry of its newest record.

    A broker trims the indexes of a segment to their entries when it begins a newer one (LogSegment
    .onBecomeInactiveSegment). The indexes of the last one have room until it stops.
    """
    try:
        timestamp, offset = last_entry(files, base)
        if timestamp <= 0 or not base <= offset < end:
            return False
        with files.open(log_name(base)) as source:
            return bool(timestamp == max((batch.max_timestamp or 0 for batch in Walk(source)), default=0))
    except UnreadableError:
        return False


def last_entry(files: Files, base: Offset) -> tuple[int, Offset]:
    """Return the timestamp and the offset in the last slot of a time index.

    Zero and `base` if it is incomplete. UnreadableError without one.
    """
    with files.open(segment_prefix(base) + ".timeindex") as index:
        slot = index.pread(_SLOT, index.size - _SLOT) if index.size and index.size % _SLOT == 0 else b""
    timestamp, relative = TIME_INDEX_ENTRY.unpack_from(slot) if len(slot) == _SLOT else (0, 0)
    return timestamp, Offset(base + relative)


def _last_dates(files: Files, name: str) -> tuple[int, int]:
    """Return the timestamps in the last two slots of a time index.

    An only slot counts twice. Without a slot they are negative.
    """
    data = files.read_short(name)
    if data is None:
        with files.open(name) as index:
            kept = 2 * _SLOT
            data = index.pread(kept, index.size // _SLOT * _SLOT - kept)
            if len(data) < kept:
                return -1, -1  # The file became shorter.
    end = len(data) // _SLOT * _SLOT
    if not end:
        return -1, -1
    last = TIME_INDEX_ENTRY.unpack_from(data, end - _SLOT)[0]
    return (last if end == _SLOT else TIME_INDEX_ENTRY.unpack_from(data, end - 2 * _SLOT)[0]), last
