"""Matches the objects of a remote store with segments, and finds missing objects and orphans."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from kcheck.core.tiered.manifests import remote_size
from kcheck.core.tiered.stored_objects import NamedSegments, StoredObjects
from kcheck.model.entries import Offset
from kcheck.model.remote_log import RemoteSegment, SegmentObjects, SegmentState, Store, StoredLog, StoreObject

_OBJECT = re.compile(r"(?P<offset>\d{20})-(?P<segment>[A-Za-z0-9_-]{22})\.(?P<suffix>[A-Za-z_-]+)$")
"""The end of a key of LocalTieredStorage and of the Aiven plugin."""
_IN_TABLE = re.compile(r"/metadata/(?P<segment>[A-Za-z0-9_-]{22})\.puffin$")
"""The end of the key of a manifest in an Iceberg table (IcebergRemoteStorageManager 1.1.1 of the Aiven plugin)."""
PUFFIN = "puffin"
"""The suffix of these manifests. The records are in data files of the table."""
_TOPIC = re.compile(r"-([A-Za-z0-9_-]{22})/(?:\d+/)?$")
"""The folder of both: TOPIC-PARTITION-ID of LocalTieredStorage, TOPIC-ID/PARTITION of the Aiven plugin."""
_GROUPS = ("offset", "segment", "suffix")
_LOCAL = frozenset({"log", "index", "timeindex", "leader_epoch_checkpoint", "snapshot"})
_ABORTED = frozenset({"txnindex"})
_AIVEN = frozenset({"log", "indexes", "rsm-manifest"})
YOUNG_MS = 3_600_000
"""A copy may run while log dirs and store are read one after the other."""


def layout_of(pattern: str) -> re.Pattern[str]:
    """Return the layout of another plugin; ValueError unless it has the named groups offset, segment and suffix."""
    try:
        layout = re.compile(pattern)
    except re.error as error:
        raise ValueError(str(error)) from error
    if not set(_GROUPS) <= layout.groupindex.keys():
        raise ValueError(f"needs the named groups {', '.join(f'(?P<{name}>...)' for name in _GROUPS)}")
    return layout


def segment_id_of(key: str, layout: re.Pattern[str] | None = None) -> str | None:
    """Return the segment of an object; None if the key is not of the layout."""
    match = (layout or _OBJECT).search(key) or (None if layout else _IN_TABLE.search(key))
    return None if match is None else match["segment"]


def is_in_table(key: str) -> bool:
    """Return whether a key names a manifest in an Iceberg table."""
    return _IN_TABLE.search(key) is not None


def objects_by_segment(
    objects: Iterable[StoreObject], layout: re.Pattern[str] | None = None, named: NamedSegments | None = None
) -> StoredObjects:
    """Return the objects of each segment; other objects are not of Kafka. `named` has all segments in metadata."""
    segments = StoredObjects(named)
    for key, size, modified in objects:
        match = (layout or _OBJECT).search(key)
        if match is not None and match["offset"].isdecimal():
            topic = _TOPIC.search(key, 0, match.start())
            segments.add(
                match["segment"], match["suffix"], size, modified, start=Offset(int(match["offset"])),
                topic_id=None if topic is None else topic[1],
            )  # fmt: skip
        elif layout is None and (match := _IN_TABLE.search(key)) is not None:
            segments.add(match["segment"], PUFFIN, size, modified, start=Offset(0), topic_id=None)
    return segments


def usual_suffixes(objects: Mapping[str, SegmentObjects]) -> frozenset[str]:
    """Return the suffixes of more than half of the segments, which a segment of an unknown plugin needs."""
    counts = Counter(suffix for found in objects.values() for suffix in found.sizes)
    return frozenset(suffix for suffix, count in counts.items() if 2 * count > len(objects))


class MissingObjects(NamedTuple):
    """A finished segment that lacks objects, or whose objects have another size."""

    segment: RemoteSegment
    """The segment."""
    suffixes: tuple[str, ...]
    """The missing suffixes in its store, such as `.log`."""
    size: int | None = None
    """The size of its objects in the store in bytes, if that is wrong."""
    expected: int | None = None
    """The right size in bytes."""

    @property
    def is_readable(self) -> bool:
        """True if consumers can read the segment, but get aborted records."""
        return self.suffixes == (".txnindex",)


def missing_objects(log: StoredLog) -> Iterator[MissingObjects]:
    """Yield the finished segments of a partition that lack objects, or bytes of them.

    The `.log` of LocalTieredStorage has all bytes of the segment. The Aiven plugin may compress and encrypt.
    The sizes of its objects are in custom metadata and manifests.
    """
    for segment in () if log.is_left else log.remote.segments:
        if segment.is_finished:
            sizes = log.objects[segment.segment_id].sizes if segment.segment_id in log.objects else {}
            is_aiven = bool(sizes.keys() & {"indexes", "rsm-manifest"})
            wanted = _wanted(log, segment, sizes, is_aiven=is_aiven)
            lacks = tuple(f".{suffix}" for suffix in sorted(wanted - sizes.keys()))
            has_no_size = bool(lacks) or log.suffixes is not None or PUFFIN in wanted
            size, expected = (None, None) if has_no_size else _sizes(log, segment, sizes, is_aiven)
            if lacks or size != expected:
                yield MissingObjects(segment, lacks, size, expected)


def _wanted(log: StoredLog, segment: RemoteSegment, sizes: Mapping[str, int], *, is_aiven: bool) -> frozenset[str]:
    """Return the suffixes that a segment needs."""
    if log.suffixes is not None:
        return log.suffixes
    if PUFFIN in sizes or (log.in_tables and not sizes):
        return frozenset({PUFFIN})
    if is_aiven:
        return _AIVEN
    return _LOCAL | _ABORTED if segment.has_aborted else _LOCAL


def _sizes(
    log: StoredLog, segment: RemoteSegment, sizes: Mapping[str, int], is_aiven: bool
) -> tuple[int | None, int | None]:
    """Return the size of objects in the store and the right one; None for both if unknown."""
    if not is_aiven:
        return sizes["log"], segment.size
    if segment.segment_id in log.wrong_sizes:
        return sizes["log"], log.wrong_sizes[segment.segment_id]
    expected = remote_size(segment.custom)
    return (None, None) if expected is None else (sum(sizes[suffix] for suffix in _AIVEN), expected)


def dangling_objects(log: StoredLog) -> Iterator[SegmentObjects]:
    """Yield the objects of segments whose copy never finished, or that are deleted, or whose log is unused.

    The Iceberg mode of the Aiven plugin deletes nothing, because the table keeps the records.
    """
    left = (SegmentState.COPY_STARTED, SegmentState.DELETE_FINISHED)
    ids = (segment.segment_id for segment in log.remote.segments if log.is_left or segment.state in left)
    rows = (log.objects[number] for number in ids if number in log.objects)
    yield from (row for row in rows if _is_old(row, log.now_ms) and PUFFIN not in row.sizes)


def orphaned_objects(store: Store) -> Iterator[tuple[str, SegmentObjects]]:
    """Yield the segments that no metadata names; none if a part of the metadata is not given."""
    if store.is_complete:
        for number, row in store.objects.items():
            if number not in store.named and _is_old(row, store.now_ms):
                yield number, row


def is_of_no_topic(store: Store, row: SegmentObjects) -> bool:
    """Return whether no given cluster has the topic of orphaned objects.

    Nothing can read them again. An orphan of a topic that exists may be the only copy of its records.
    """
    return bool(store.topic_ids and row.topic_id) and row.topic_id not in store.topic_ids


def of_no_topic(store: Store) -> Iterator[str]:
    """Yield the segments with orphaned objects whose topic no given cluster has."""
    return (number for number, row in orphaned_objects(store) if is_of_no_topic(store, row))


def object_verdict(
    segment_id: str | None,
    states: Mapping[str, SegmentState],
    modified_ms: int | None,
    *,
    now_ms: int,
    is_complete: bool,
    in_table: bool = False,
) -> str:
    """Return the purpose of an object, by the states of all segments.

    `is_complete` is true if all metadata was read. A young object is never dangling or an orphan, as a copy may run. A
    manifest `in_table` belongs to the table.
    """
    if segment_id is None:
        return "other"
    is_young = modified_ms is not None and now_ms - modified_ms < YOUNG_MS
    if in_table and states.get(segment_id) is not SegmentState.COPY_FINISHED:
        return "other"
    match states.get(segment_id):
        case None:
            return "orphan" if is_complete and not is_young else "not-known"
        case SegmentState.COPY_FINISHED:
            return "used"
        case SegmentState.DELETE_STARTED:
            return "deleting"
        case SegmentState.COPY_STARTED if is_young:
            return "unfinished"
    return "dangling"


def _is_old(row: SegmentObjects, now_ms: int) -> bool:
    return row.modified_ms is None or now_ms - row.modified_ms >= YOUNG_MS


def stored_bytes(objects: Iterable[SegmentObjects]) -> int:
    """Return the size of objects in bytes."""
    return sum(sum(row.sizes.values()) for row in objects)
