"""Which objects of a remote store belong to which segment, and which of them are missing or belong to none."""

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import NamedTuple

from kcheck.model.entries import Offset
from kcheck.model.remote_log import RemoteSegment, SegmentObjects, SegmentState, Store, StoredLog, StoreObject

_OBJECT = re.compile(r"(\d{20})-([A-Za-z0-9_-]{22})\.([A-Za-z_-]+)$")
"""The end of a key of LocalTieredStorage and of the Aiven plugin."""
_LOCAL = frozenset({"log", "index", "timeindex", "leader_epoch_checkpoint", "snapshot"})
_AIVEN = frozenset({"log", "indexes", "rsm-manifest"})
YOUNG_MS = 3_600_000
"""A copy may run while log dirs and store are read one after the other."""
_LISTINGS = tuple(
    map(
        re.compile,
        (
            r"(?P<key>.+)\t(?P<size>\d+)",  # find -printf '%p\t%s\n'
            r"(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) +(?P<size>\d+) (?P<key>.+)",  # aws s3 ls --recursive
            r" *(?P<size>\d+) +(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)Z +(?P<key>.+)",  # gsutil ls -l
            r" *(?P<size>\d+) (?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\.\d+ (?P<key>.+)",  # rclone lsl
        ),
    )
)


def listed_object(line: str) -> StoreObject | None:
    """Return the object in a line of a listing by find, aws, gsutil or rclone; None for any other line."""
    for form in _LISTINGS:
        match = form.fullmatch(line)
        if match is not None:
            return StoreObject(match["key"], int(match["size"]), _time(match.groupdict().get("time")))
    return None


def _time(text: str | None) -> int | None:
    if text is None:
        return None
    try:
        return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)
    except ValueError:
        return None


def objects_by_segment(objects: Iterable[StoreObject]) -> dict[str, SegmentObjects]:
    """Return the objects of each segment; others in the store are not of Kafka."""
    segments: dict[str, SegmentObjects] = {}
    for key, size, modified in objects:
        match = _OBJECT.search(key)
        if match is not None:
            known = segments.setdefault(match[2], SegmentObjects(Offset(int(match[1])), {}))
            known.sizes[match[3]] = size
            latest = max((time for time in (known.modified_ms, modified) if time is not None), default=None)
            segments[match[2]] = known._replace(modified_ms=latest)
    return segments


class MissingObjects(NamedTuple):
    """A finished segment that lacks objects."""

    segment: RemoteSegment
    """The segment."""
    suffixes: tuple[str, ...]
    """What its store lacks, such as `.log`."""


def missing_objects(log: StoredLog) -> Iterator[MissingObjects]:
    """Yield the finished segments of a partition that lack objects."""
    for segment in log.remote.segments:
        if segment.is_finished:
            sizes = log.objects[segment.segment_id].sizes if segment.segment_id in log.objects else {}
            wanted = _AIVEN if sizes.keys() & {"indexes", "rsm-manifest"} else _LOCAL
            lacks = tuple(f".{suffix}" for suffix in sorted(wanted - sizes.keys()))
            if lacks:
                yield MissingObjects(segment, lacks)


def dangling_objects(log: StoredLog) -> tuple[SegmentObjects, ...]:
    """Return the objects of segments whose copy never finished, or that are deleted."""
    left = (SegmentState.COPY_STARTED, SegmentState.DELETE_FINISHED)
    ids = (segment.segment_id for segment in log.remote.segments if segment.state in left)
    return _old((log.objects[number] for number in ids if number in log.objects), log.now_ms)


def orphaned_objects(store: Store) -> tuple[SegmentObjects, ...]:
    """Return the objects of segments that no metadata names; none if a part of the metadata is not given."""
    if not store.is_complete:
        return ()
    return _old((found for number, found in store.objects.items() if number not in store.named), store.now_ms)


def _old(objects: Iterable[SegmentObjects], now_ms: int) -> tuple[SegmentObjects, ...]:
    return tuple(row for row in objects if row.modified_ms is None or now_ms - row.modified_ms >= YOUNG_MS)


def stored_bytes(objects: Iterable[SegmentObjects]) -> int:
    """Return the size of objects in bytes."""
    return sum(sum(row.sizes.values()) for row in objects)
