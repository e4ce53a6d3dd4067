"""What a start learns of producers by reading the log: Log.rebuildProducerState 2.0, UnifiedLog to 4.3.1.

Up to 1.1 a load does it by Log.loadProducerState, a recovery by a loop of its own. Each returns how many bytes
are read.
"""

from bisect import bisect_right
from collections.abc import Callable

import numpy as np

from kcheck.core.startup import segments_from
from kcheck.startup.producer_state import Producers, ends_start, follow
from kcheck.startup.segment import Segment
from kcheck.startup.sorted_map import SortedMap
from kcheck.startup.virtual_files import StartError

Segments = SortedMap[Segment]


def reload_log(producers: Producers, segments: Segments, start: int, end: int, *, clean: bool) -> int:
    """Learn of the producers from the log start to the log end."""
    bases = segments.order
    release = producers.release
    if not release.has_producer_state:
        return 0
    if (producers.latest_snapshot is None and clean) or not release.epoch_cache:
        for offset in (*bases[-2:], end):
            producers.map_end = offset
            producers.take_snapshot()
        return 0
    if release.replays_with_snapshots:
        read = _reload(producers, segments, start, end, takes_snapshot=lambda _: True)
        producers.map_end = end
        return read
    return _rebuild(producers, segments, start, end)


def reload_before(producers: Producers, segments: Segments, start: int, base: int) -> int:
    """Learn of the producers up to a segment that is to be recovered."""
    release = producers.release
    if not release.has_producer_state:
        return 0
    if not release.replays_with_snapshots:
        if release.epoch_cache:
            return _rebuild(producers, segments, start, base)
        return reload_log(producers, segments, start, base, clean=False)
    read = 0
    producers.reload(start, base)
    try:
        bases = segments_from(segments.order, producers.map_end, base, release=release)
    except ValueError as error:
        raise StartError(f"IllegalArgumentException: {error} from the log start {start} to {base}") from error
    for each in bases:
        read += _follow(producers, segments[each], max(each, producers.map_end))
    producers.map_end = base
    if release.recovery_takes_snapshots:
        producers.take_snapshot()
    return read


def _rebuild(producers: Producers, segments: Segments, start: int, end: int) -> int:
    snapshots = {*segments.order[-2:], end}
    read = _reload(producers, segments, start, end, takes_snapshot=snapshots.__contains__)
    producers.map_end = end
    producers.take_snapshot()
    return read


def _reload(
    producers: Producers, segments: Segments, start: int, end: int, *, takes_snapshot: Callable[[int], bool]
) -> int:
    """Begin with the newest snapshot, and read what is behind it."""
    nothing = not producers.states.entries and producers.map_end >= end
    producers.reload(start, end)
    if end <= producers.map_end or nothing:
        return 0
    read = 0
    bases = segments.order
    for base in segments_from(bases, producers.map_end, end, release=producers.release):
        begin = max(base, producers.map_end, start)
        producers.map_end = begin
        if takes_snapshot(base):
            producers.take_snapshot()
        bounded = producers.release.replays_below_log_end or base == bases[bisect_right(bases, end) - 1]
        read += _follow(producers, segments[base], begin, end if bounded else None)
    return read


def _follow(producers: Producers, segment: Segment, begin: int, end: int | None = None) -> int:
    """Read a segment from an offset on, up to the batch of `end` if that is there."""
    from_begin = producers.release.replays_below_log_end
    tail = None if end is None or from_begin else segment.search(end).found
    found = segment.search(begin).found
    if found is None:
        return 0
    if end is not None and from_begin:
        if end < begin:
            return 0
        tail = segment.search(end, max(segment.offset_index.lookup(end), found.position)).found
    limit = segment.size if tail is None else tail.position
    if limit < found.position:
        raise StartError(f"IllegalArgumentException: {segment.log_name} is out of order from {found.position} on")
    replay = producers.replay()
    for columns, _ in segment.windows(found.position, end=limit):
        _, problem = follow(segment, columns, np.arange(len(columns.position)), replay, [])
        if problem is not None:
            raise StartError(f"InvalidRecordException: {problem}")
    with ends_start(segment):
        replay.finish()
    return limit - found.position
