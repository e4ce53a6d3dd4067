"""Rebuilds the producer state from the log when the broker starts.

The methods are Log.rebuildProducerState 2.0 and UnifiedLog to 4.3.1. In 1.1 and earlier a load calls
Log.loadProducerState, and a recovery has a loop of its own. Each function returns the number of bytes that the broker
reads.
"""

from bisect import bisect_right
from collections.abc import Callable

import numpy as np

from kcheck.core.start.startup import segments_from
from kcheck.startup.producer_state import Producers, ends_start, follow
from kcheck.startup.segment import Segment
from kcheck.startup.sorted_map import SortedMap
from kcheck.startup.virtual_files import StartError

Segments = SortedMap[Segment]


def reload_log(producers: Producers, segments: Segments, start: int, end: int, *, clean: bool) -> int:
    """Rebuild the state at the log end."""
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
    """Rebuild the state at the base offset of a segment before its recovery."""
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
    for segment_base in bases:
        read += _replay(producers, segments[segment_base], max(segment_base, producers.map_end))
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
    """Load the newest snapshot, and replay the batches after it."""
    is_empty = not producers.states.entries and producers.map_end >= end
    producers.reload(start, end)
    if end <= producers.map_end or is_empty:
        return 0
    read = 0
    bases = segments.order
    for base in segments_from(bases, producers.map_end, end, release=producers.release):
        first_offset = max(base, producers.map_end, start)
        producers.map_end = first_offset
        if takes_snapshot(base):
            producers.take_snapshot()
        bounded = producers.release.replays_below_log_end or base == bases[bisect_right(bases, end) - 1]
        read += _replay(producers, segments[base], first_offset, end if bounded else None)
    return read


def _replay(producers: Producers, segment: Segment, first_offset: int, end: int | None = None) -> int:
    """Replay a segment from an offset on, up to the batch of `end` if it has one."""
    below_end = producers.release.replays_below_log_end
    tail = None if end is None or below_end else segment.search(end).batch
    head = segment.search(first_offset).batch
    if head is None:
        return 0
    if end is not None and below_end:
        if end < first_offset:
            return 0
        tail = segment.search(end, max(segment.offset_index.lookup(end), head.position)).batch
    limit = segment.size if tail is None else tail.position
    if limit < head.position:
        raise StartError(
            f"IllegalArgumentException: {segment.log_name} is out of order from position {head.position} on"
        )
    replay = producers.replay()
    for columns, _ in segment.windows(head.position, end=limit):
        _, problem = follow(segment, columns, np.arange(len(columns.position)), replay, [])
        if problem is not None:
            raise StartError(f"InvalidRecordException: {problem}")
    with ends_start(segment):
        replay.finish()
    return limit - head.position
