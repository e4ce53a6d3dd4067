"""Reads a partition directory (its small files, its segments, and its log end)."""

from collections.abc import Iterator, Mapping
from functools import lru_cache, partial
from itertools import zip_longest
from typing import Any

from kcheck.core.start.segments import is_tiered, log_start_offset
from kcheck.core.start.startup import first_pass, offset_of
from kcheck.disk.directory import Directory
from kcheck.formats import Format, leader_epoch_checkpoint, partition_metadata
from kcheck.jobs.guard import guarded
from kcheck.model.entries import RELATIVE_OFFSET_MAX, Batch, Offset
from kcheck.model.finding import Finding, Location
from kcheck.model.names import (
    CLUSTER_METADATA,
    LEADER_EPOCHS,
    PARTITION_METADATA,
    SNAPSHOT_ENDINGS,
    SWAP,
    TEMPORARY,
    UNMODELLED_DIRECTORIES,
    DirectoryState,
    FileKind,
    PartitionDirectory,
    log_name,
    parse_file,
    parse_metadata_snapshot,
    segment_bases,
)
from kcheck.model.parsed import BrokerReads, Parsed
from kcheck.model.release import Release
from kcheck.model.source import Files, Source
from kcheck.model.unreadable import UnreadableError
from kcheck.model.views import CheckpointOffsets, FileView, LogDirView, PartitionView, SegmentSummary
from kcheck.rules import kc001_unreadable
from kcheck.segments.batches import TailStart, Walk, tail_start
from kcheck.segments.gaps import Between, size_and_end

_ALIKE_COUNT, _ALIKE_SIZE_MAX = 1024, 256
"""Number and maximum size of small files in the cache, as files of many partitions have the same bytes."""


def read_partition(
    disk: Directory, directory: PartitionDirectory, where: Location, *, log_dir: LogDirView | None,
    offsets: CheckpointOffsets, walk_all: bool, release: Release, ends: bool = False,
    small_files: dict[str, bytes] | None = None,
) -> tuple[PartitionView, tuple[Finding, ...]]:  # fmt: skip
    """Return the partition as it is on disk, and a finding per unreadable file.

    `walk_all` reads every segment completely. Otherwise only the tail of the last one is read. `ends` also gives the
    log end of each segment, which shows the gaps. `small_files` gets the bytes of the epoch file and the metadata.
    """
    where = Location(where.broker_id, where.log_dir, where.dir, topic=directory.topic, partition=directory.partition)
    findings: list[Finding] = []
    files: frozenset[str] | None = None
    directories: frozenset[str] = frozenset()
    epochs = metadata = last = index_size = None
    segments: tuple[SegmentSummary, ...] = ()
    gaps: list[Between] | None = [] if ends else None
    strangers = 0
    try:
        with disk as folder:
            listing = folder.listing()
            strangers = listing.strangers
            # A link, device or directory with the name of a file is not a missing file: opening it gives the reason.
            directories = frozenset(name for name in listing.directories if _is_in_the_way(name, directory))
            in_place = (name for name in listing.directories if _is_in_place(name, directory))
            files = frozenset((*listing.files, *listing.others, *in_place))
            regular = files - directories
            kept = {} if small_files is None else small_files
            small = partial(_small, folder, regular, where, findings, release, kept)
            epochs = small(LEADER_EPOCHS, leader_epoch_checkpoint.FORMAT)
            metadata = small(PARTITION_METADATA, partition_metadata.FORMAT)
            segments, last, index_size = _segments(folder, regular, where, findings, walk_all=walk_all, gaps=gaps)
            index_size = None if directories or len(files) > len(listing.files) else index_size
    except UnreadableError as error:
        findings.append(kc001_unreadable.finding(where, error.why))
    first = segments[0].base_offset if segments else None
    start = None if files is None else _log_start(directory.state, offsets, first, epochs, files, release)
    # A broker creates an empty segment at the log start in a directory without one.
    end = segments[-1].end_offset if segments else start
    view = PartitionView(
        where=where,
        topic=directory.topic,
        partition=directory.partition,
        state=directory.state,
        topic_id=None if metadata is None else metadata.parsed.value.topic_id,
        log_start_checkpoint=offsets.log_start,
        log_start_offset=start,
        recovery_point=offsets.recovery_point,
        high_watermark=offsets.high_watermark,
        log_end_offset=end,
        size=sum([segment.size for segment in segments]),
        epochs=epochs,
        metadata=metadata,
        segments=segments,
        last_batch=last,
        gaps=None if gaps is None else tuple(gaps),
        index_size=index_size,
        clean_shutdown=None if log_dir is None else log_dir.clean_shutdown,
        cleaned=offsets.cleaned,
        files=files or frozenset(),
        strangers=strangers,
        directories=directories,
        disk=disk,
    )
    return view, tuple(findings)


def as_read_by(
    view: PartitionView, small_files: Mapping[str, bytes], offsets: CheckpointOffsets, release: Release
) -> PartitionView:
    """Return a view with the bytes of the small files as another release reads them. Batches do not differ."""
    epochs = _again(view.epochs, small_files.get(LEADER_EPOCHS), leader_epoch_checkpoint.FORMAT, release)
    metadata = _again(view.metadata, small_files.get(PARTITION_METADATA), partition_metadata.FORMAT, release)
    first = view.segments[0].base_offset if view.segments else None
    start = _log_start(view.state, offsets, first, epochs, view.files, release)
    end = view.log_end_offset if view.segments else start
    return view._replace(epochs=epochs, metadata=metadata, log_start_offset=start, log_end_offset=end)


def _again(file: FileView | None, data: bytes | None, kind: Format, release: Release) -> FileView | None:
    return file if file is None or data is None else view_of(data, kind, file.where, release)


def _log_start(
    state: DirectoryState, offsets: CheckpointOffsets, first: Offset | None, epochs: FileView | None,
    files: frozenset[str], release: Release,
) -> Offset | None:  # fmt: skip
    entries = () if epochs is None else tuple(epochs.parsed.value.entries)
    tiered = is_tiered(offsets.log_start, first, entries, files, release)
    tiered = tiered and state is not DirectoryState.DELETED
    return log_start_offset(offsets.log_start, _loaded(files, first, release), tiered=tiered)


def _is_in_the_way(name: str, directory: PartitionDirectory) -> bool:
    """Return whether a directory has the name of a file and disturbs the broker. KRaft's log lists directories too."""
    if directory.topic == CLUSTER_METADATA and _is_removed(name):
        return True
    return parse_file(name).kind not in (FileKind.OTHER, *UNMODELLED_DIRECTORIES)


def _is_removed(name: str) -> bool:
    """Return whether a KRaft node removes a file of this name when it starts, or fails on the name."""
    if name.endswith(SNAPSHOT_ENDINGS[0]):
        return parse_metadata_snapshot(name) is None
    return name.endswith(SNAPSHOT_ENDINGS) or name == f"{FileKind.QUORUM_STATE}{TEMPORARY}"


def _is_in_place(name: str, directory: PartitionDirectory) -> bool:
    """Return whether a directory blocks a file that a broker opens; the broker ignores other directories."""
    file = parse_file(name)
    if file.kind in UNMODELLED_DIRECTORIES:
        return not (directory.topic == CLUSTER_METADATA and _is_removed(name))
    return file.kind is not FileKind.OTHER and file.canonical and not file.suffix


def _loaded(files: frozenset[str], first: Offset | None, release: Release) -> Offset | None:
    """Return the base offset of the first segment that the broker loads, after it completes a compaction."""
    swaps = [name for name in files if name.endswith(f".log{SWAP}")]
    kept = first_pass(files, release).swaps if swaps else ()
    bases = (offset_of(name) for name in swaps if name in kept)
    return min((base for base in (*bases, first) if base is not None), default=None)


def try_partition(
    disk: Directory,
    directory: PartitionDirectory,
    where: Location,
    *,
    log_dir: LogDirView | None,
    offsets: CheckpointOffsets,
    walk_all: bool,
    release: Release,
    ends: bool = False,
    small_files: dict[str, bytes] | None = None,
) -> tuple[PartitionView | None, tuple[Finding, ...]]:
    """Return the result of `read_partition`; None, and finding KC000, after a bug in kcheck."""
    read = guarded(
        lambda: read_partition(
            disk,
            directory,
            where,
            log_dir=log_dir,
            offsets=offsets,
            walk_all=walk_all,
            release=release,
            ends=ends,
            small_files=small_files,
        ),
        where,
    )
    return (None, (read,)) if isinstance(read, Finding) else read


def read_small(
    files: Directory, name: str, kind: Format, where: Location, release: Release, *, size_max: int | None = None
) -> FileView:
    """Return a small file, parsed by kcheck and by the broker's reader; UnreadableError if it cannot be read."""
    return view_of(files.read_whole(name, size_max), kind, where, release)


def view_of(data: bytes, kind: Format, where: Location, release: Release) -> FileView:
    """Return the view of a small file's bytes."""
    parsed, reads = (_read_alike if len(data) <= _ALIKE_SIZE_MAX else _read)(data, kind, release)
    return FileView(kind.kind, where.file or "", where, len(data), parsed, reads)


def _read(data: bytes, kind: Format, release: Release) -> tuple[Parsed[Any], BrokerReads[Any] | None]:
    assert kind.parse is not None
    reads = None if kind.broker_reads is None else kind.broker_reads(data, release)
    return kind.parse(data), reads


_read_alike = lru_cache(_ALIKE_COUNT)(_read)


def _small(
    folder: Directory, files: frozenset[str], where: Location, findings: list[Finding], release: Release,
    small_files: dict[str, bytes], name: str, kind: Format,
) -> FileView | None:  # fmt: skip
    if name not in files:
        return None
    where = where.of_file(name)
    try:
        data = folder.read_short(name)
        data = small_files[name] = folder.read_whole(name) if data is None else data
        return view_of(data, kind, where, release)
    except UnreadableError as error:
        findings.append(kc001_unreadable.finding(where, error.why))
        return None


def _segments(
    folder: Directory, files: frozenset[str], where: Location, findings: list[Finding], *, walk_all: bool,
    gaps: list[Between] | None,
) -> tuple[tuple[SegmentSummary, ...], Batch | None, int | None]:  # fmt: skip
    """Return every segment, the last batch of the last one, and the size of its index (see `PartitionView`).

    What is between two segments goes into `gaps`, if that is a list.
    """
    bases = segment_bases(files)
    summaries: list[SegmentSummary] = []
    last: Batch | None = None
    index_size: int | None = None
    for base, following in zip_longest(bases, bases[1:]):
        name = log_name(base)
        try:
            if walk_all or base == bases[-1]:
                with folder.open(name) as source:
                    tail = TailStart() if walk_all else tail_start(folder, source, base)
                    summary, last, index_size = _summary(tail, source, base)
            elif gaps is not None and following is not None:
                size, end = size_and_end(folder, base)
                summary = SegmentSummary(base, size)
                if end < following:
                    gaps.append((end, following))
            else:
                summary = SegmentSummary(base, folder.readable_size(name))
            summaries.append(summary)
        except UnreadableError as error:
            findings.append(kc001_unreadable.finding(where._replace(file=name), error.why))
            summaries.append(SegmentSummary(base_offset=base, size=0))
            last = index_size = None
    return tuple(summaries), last, index_size


def _summary(tail: TailStart, source: Source, base: Offset) -> tuple[SegmentSummary, Batch | None, int | None]:
    """Read a segment completely, or from its last valid index entry, which gives no counts."""
    count, timestamp, last, rises = 0, -1, None, True
    walk = Walk(source, position=tail.position, window=tail.window)
    for batch in walk:
        count += 1
        timestamp = max(timestamp, -1 if batch.max_timestamp is None else batch.max_timestamp)
        above = batch.last_offset >= tail.offset if last is None else batch.base_offset > last.last_offset
        rises = rises and above and batch.magic == 2 and 0 <= batch.last_offset - base <= RELATIVE_OFFSET_MAX
        last = batch
    end = base if last is None else Offset(last.last_offset + 1)
    index_size = tail.index_size if rises and walk.position == source.size else None
    if tail.position:
        return SegmentSummary(base, source.size, end), last, index_size
    return SegmentSummary(base, source.size, end, count, timestamp if count else None), last, index_size


def batches_of(files: Files, base: Offset) -> Iterator[Batch]:
    """Yield the header of every batch of a segment; UnreadableError if the file cannot be read."""
    with files.open(log_name(base)) as source:
        yield from Walk(source)
