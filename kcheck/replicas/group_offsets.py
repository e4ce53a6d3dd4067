"""The committed offsets of consumer groups, read from replicas of `__consumer_offsets`."""

from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import NamedTuple

import numpy as np

from kcheck.core.replication.group_offsets import (
    COMMIT_TYPES,
    COUNT_MAX,
    TYPE_SIZE,
    Commit,
    OffsetReplay,
    ReplayedReplica,
    last_commits,
)
from kcheck.disk.paths import split
from kcheck.model.entries import Offset
from kcheck.model.names import DirectoryState
from kcheck.model.source import Source
from kcheck.model.unreadable import UnreadableError
from kcheck.records import control_record
from kcheck.records.batch import CODEC_MASK, CONTROL, HEADER, MAGIC_AT, TRANSACTIONAL, BatchHeader, header_of
from kcheck.records.record import Record, read_records
from kcheck.replicas.replica import LogFile
from kcheck.schemas.records import Decoder, decoder
from kcheck.segments.header_columns import PADDING, Array, HeaderColumns, HeaderReader
from kcheck.segments.record_columns import BatchBodies, decode_fields, record_positions

_BATCH_SIZE_MAX = 64 << 20
"""Maximum size of a batch, before and after decompression. Coordinators write at most `segment.bytes` at once."""
_NEWEST_MAGIC = 2
_NOT_PLAIN = CODEC_MASK | TRANSACTIONAL | CONTROL


class GroupOffset(NamedTuple):
    """A committed offset."""

    group: str
    """The consumer group."""
    topic: str
    """The topic."""
    partition: int
    """The partition."""
    offset: Offset
    """The offset that the group reads next."""


class CommittedOffsets(NamedTuple):
    """The committed offsets of all groups."""

    by_partition: Mapping[tuple[str, int], tuple[GroupOffset, ...]]
    """By topic and partition, each sorted by group."""
    is_complete: bool
    """False if a part of a log is unreadable, or if there are more commits than kcheck holds."""


def committed_offsets(logs: Iterable[tuple[LogFile, ...]]) -> CommittedOffsets:
    """Return the last committed offset of every group; each item of `logs` has the segments of one replica.

    Replicas are of the same partition if their directories have the same name. At most `COUNT_MAX` commits are held.
    """
    by_directory: dict[str, list[tuple[LogFile, ...]]] = {}
    for log in logs:
        if log:
            by_directory.setdefault(split(split(log[0].path)[0])[1], []).append(log)
    by_partition: dict[tuple[str, int], list[GroupOffset]] = {}
    count, is_complete = 0, True
    for replicas in by_directory.values():
        held, replayed = count, list[ReplayedReplica]()
        for log in replicas:
            replica = _replayed(log, COUNT_MAX - held)
            held += len(replica.commits) + len(replica.pending)
            is_complete = is_complete and replica.is_whole
            replayed.append(replica)
        for (group, topic, partition), committed in last_commits(replayed):
            count += 1
            by_partition.setdefault((topic, partition), []).append(GroupOffset(group, topic, partition, committed))
    return CommittedOffsets({key: tuple(sorted(of_one)) for key, of_one in sorted(by_partition.items())}, is_complete)


def offsets_of_group(paths: Iterable[str], group: str) -> tuple[dict[tuple[str, int], Offset], bool]:
    """Return the committed offsets of a group in the log dirs of paths, and whether these were read completely.

    A directory that the broker serves goes before every other directory, such as -stray.
    """
    from kcheck.exports.sources import offset_logs
    from kcheck.replicas.replica import logs_of

    views = sorted(offset_logs(paths), key=lambda view: view.state is DirectoryState.CURRENT)
    offsets, is_complete = dict[tuple[str, int], Offset](), True
    for _, of_state in groupby(views, key=lambda view: view.state is DirectoryState.CURRENT):
        committed = committed_offsets(logs_of(view) for view in of_state)
        is_complete = is_complete and committed.is_complete
        for key, of_partition in committed.by_partition.items():
            offsets.update((key, commit.offset) for commit in of_partition if commit.group == group)
    return offsets, is_complete


def _replayed(log: tuple[LogFile, ...], count_max: int) -> ReplayedReplica:
    """Return the commits of one replica; unreadable parts are passed over."""
    replay, decode = OffsetReplay(count_max), decoder("offsets")
    end, is_whole = log[0].base_offset, True
    for file in log:
        try:
            with file.open() as source:
                reader = HeaderReader(source, file.size, verify=True)
                for columns in reader:
                    is_whole &= _take_window(source, columns, reader.window, replay, decode)
                    end = max(end, Offset(int(columns.last_offset.max()) + 1))
                is_whole &= reader.position == file.size
        except UnreadableError:
            is_whole = False
    return replay.replayed(log[0].base_offset, end, is_whole=is_whole)


def _take_window(
    source: Source, columns: HeaderColumns, window: bytearray, replay: OffsetReplay, decode: Decoder
) -> bool:
    """Add the records of the batches in a window; return whether all of them are readable."""
    assert columns.valid is not None
    plain = columns.valid & (columns.magic == _NEWEST_MAGIC) & (columns.attributes & _NOT_PLAIN == 0)
    fits = int(columns.position[-1] - columns.position[0] + columns.size[-1]) <= len(window) - PADDING
    is_whole = _take_plain(columns, np.flatnonzero(plain), window, replay, decode) if fits and plain.any() else None
    rest = columns.valid if is_whole is None else columns.valid & ~plain
    is_whole = bool(columns.valid.all()) and is_whole is not False
    for position, size in zip(columns.position[rest].tolist(), columns.size[rest].tolist(), strict=True):
        is_whole &= _take(source, position, size, replay, decode)
    return is_whole


def _take_plain(
    columns: HeaderColumns, rows: Array, window: bytearray, replay: OffsetReplay, decode: Decoder
) -> bool | None:
    """Add the records of batches without compression and transactions; None if they cannot be decoded together.

    Of each key only the last record in the window is decoded. Groups commit the same partitions again and again.
    """
    at = columns.position[rows] - columns.position[0]
    bodies = BatchBodies(at + HEADER.size, at + columns.size[rows], columns.record_count[rows])
    positions = record_positions(window, bodies)
    if (positions.counts != bodies.stated).any():
        return None
    bases, is_whole = columns.base_offset[rows], True
    latest: dict[bytes, tuple[int, int, int]] = {}
    for fields in decode_fields(window, positions):
        if not fields.sound.all():
            return None
        offsets = bases[fields.batch] + fields.offset_delta
        for offset, key_size, key_end, value_size, value_end in zip(
            offsets.tolist(), fields.key_size.tolist(), fields.key_end.tolist(), fields.value_size.tolist(),
            fields.value_end.tolist(), strict=True,
        ):  # fmt: skip
            key = bytes(window[key_end - key_size : key_end]) if key_size >= 0 else b""
            if key.startswith(COMMIT_TYPES):
                latest[key] = offset, value_end - value_size, value_end if value_size >= 0 else -1
            is_whole &= len(key) >= TYPE_SIZE
    for key, (offset, begin, end) in latest.items():
        value = None if end < 0 else bytes(window[begin:end])
        is_whole &= _commit(key, value, Offset(offset), replay, decode)
    return is_whole


def _take(source: Source, position: int, size: int, replay: OffsetReplay, decode: Decoder) -> bool:
    """Add the records of one batch; return whether all of them are readable."""
    data = source.pread(size, position) if size <= _BATCH_SIZE_MAX else b""
    if len(data) < size or not 0 <= data[MAGIC_AT] <= _NEWEST_MAGIC:
        return False
    header, is_whole = header_of(data, total=size), True
    for record in read_records(data, _BATCH_SIZE_MAX):
        if not isinstance(record, Record):
            return is_whole and record.passed
        if record.valid is False:
            is_whole = False
        elif header.control:
            is_whole &= _end(record, header, replay)
        else:
            key, value = (None if part is None else bytes(part) for part in (record.key, record.value))
            producer_id = header.producer_id if header.transactional else None
            is_whole &= _commit(key, value, record.offset, replay, decode, producer_id)
    return is_whole


def _end(record: Record, header: BatchHeader, replay: OffsetReplay) -> bool:
    control = control_record.parse(record.key, record.value)
    if control.type in (control_record.ABORT, control_record.COMMIT) and header.producer_id is not None:
        replay.end(header.producer_id, commits=control.type == control_record.COMMIT)
    return control.type is not None


def _commit(
    key: bytes | None, value: bytes | None, offset: Offset, replay: OffsetReplay, decode: Decoder,
    producer_id: int | None = None,
) -> bool:  # fmt: skip
    """Add a record; return whether it is readable."""
    if key is None or not key.startswith(COMMIT_TYPES):
        return key is not None and len(key) >= TYPE_SIZE
    decoded = decode(key, value)
    fields = None if decoded.key is None else decoded.key.data
    committed = None
    if decoded.value is not None:
        if decoded.value.data is None:
            return False
        committed = decoded.value.data["offset"]
    if fields is None:
        return False
    group, topic, partition = fields["group"], fields["topic"], fields["partition"]
    assert isinstance(group, str)
    assert isinstance(topic, str)
    assert isinstance(partition, int)
    assert committed is None or isinstance(committed, int)
    commit = Commit(offset, None if committed is None else Offset(committed))
    replay.take((group, topic, partition), commit, producer_id=producer_id)
    return True
