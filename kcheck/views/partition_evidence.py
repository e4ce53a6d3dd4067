"""Gathers what partition directories tell about the release of their broker, from few of them."""

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from kcheck.core.releases.release_evidence import Clue, EvidenceKind
from kcheck.disk.listing import Listing
from kcheck.disk.paths import join
from kcheck.disk.tree import Tree
from kcheck.model.entries import Batch
from kcheck.model.names import (
    CLUSTER_METADATA,
    COMPACTED,
    DELETED,
    PARTITION_METADATA,
    DirectoryState,
    FileKind,
    log_name,
    parse_directory,
    parse_file,
    segment_bases,
)
from kcheck.model.source import Source
from kcheck.model.unreadable import UnreadableError
from kcheck.records.batch import CODEC_MASK, COMPRESSION, is_modern
from kcheck.records.record import Record, read_records
from kcheck.segments.batches import Walk

_SAMPLE = 16
"""Number of partition directories of a log dir that are read; they are spread over all."""
_COORDINATOR_SAMPLE = 4
"""Number of partitions of each internal topic that are read."""
_RECORDS_SIZE_MAX = 64 << 10
"""Number of bytes of a segment that are read for the versions of its records."""
_BY_FILE = {
    FileKind.TIME_INDEX: EvidenceKind.TIME_INDEX,
    FileKind.PRODUCER_SNAPSHOT: EvidenceKind.PRODUCER_SNAPSHOT,
    FileKind.TRANSACTION_INDEX: EvidenceKind.TRANSACTION_INDEX,
    FileKind.REMOTE_SNAPSHOT: EvidenceKind.REMOTE_SNAPSHOT,
    FileKind.LEADER_EPOCHS: EvidenceKind.LEADER_EPOCHS,
}
_ZSTD = COMPRESSION.index("zstd")
_Known: TypeAlias = tuple[tuple[int, EvidenceKind], ...]
_GROUPS, _TRANSACTIONS = COMPACTED
_GROUP_TYPES: _Known = (
    (17, EvidenceKind.STREAMS_GROUP),
    (9, EvidenceKind.SHARE_GROUP),
    (3, EvidenceKind.CONSUMER_GROUP),
)
"""The lowest record type of each kind of group, from the newest kind to the oldest."""
_COMMIT_TYPES, _GROUP_TYPE = (0, 1), 2
_COMMIT_VERSIONS: _Known = ((4, EvidenceKind.GROUP_V4), (2, EvidenceKind.OFFSET_V2))
_GROUP_VERSIONS: _Known = ((4, EvidenceKind.GROUP_V4), (3, EvidenceKind.GROUP_V3))
_TRANSACTION_VERSIONS: _Known = ((1, EvidenceKind.TRANSACTION_V1),)


def sample(path: str, listing: Listing) -> list[str]:
    """Return some of the partition directories that the broker serves."""
    served = _served(path, listing)
    return served[:: max(1, len(served) // _SAMPLE)][:_SAMPLE]


def of_partitions(tree: Tree, paths: Iterable[str], broker_id: int | None) -> Iterator[Clue]:
    """Yield the evidence in the files of partitions, each kind once.

    A topic id proves more than everything else, so nothing more is read then.
    """
    clues: dict[EvidenceKind, Clue] = {}
    for path in paths:
        where = join(path, PARTITION_METADATA)
        if tree.exists(where):
            yield Clue(EvidenceKind.TOPIC_ID, where, broker_id)
            return
        for kind, name in _of_partition(tree, path):
            clues.setdefault(kind, Clue(kind, join(path, name), broker_id))
    yield from clues.values()


def _of_partition(tree: Tree, path: str) -> Iterator[tuple[EvidenceKind, str]]:
    files = tree.directory(path)
    try:
        names = files.listing().files
        for name in names:
            file = parse_file(name)
            kind = _BY_FILE.get(file.kind)
            if kind is not None:
                yield kind, name
            if file.kind is FileKind.PRODUCER_SNAPSHOT and file.suffix == DELETED:
                yield EvidenceKind.DELETED_SNAPSHOT, name
        for base in segment_bases(names)[-1:]:
            with files.open(log_name(base)) as source:
                # The magic of a corrupt batch may be what is corrupt.
                for batch in _batches(source):
                    yield from ((kind, log_name(base)) for kind in _of_batch(batch))
                    break
    except UnreadableError:
        return


def _of_batch(batch: Batch) -> Iterator[EvidenceKind]:
    if batch.magic:
        yield EvidenceKind.MAGIC_2 if is_modern(batch.magic) else EvidenceKind.MAGIC_1
    if batch.attributes & CODEC_MASK == _ZSTD:
        yield EvidenceKind.ZSTD


def of_coordinators(tree: Tree, path: str, listing: Listing, broker_id: int | None) -> Iterator[Clue]:
    """Yield what the versions of records in the internal topics say, each thing once."""
    clues: dict[EvidenceKind, Clue] = {}
    for topic in (_GROUPS, _TRANSACTIONS):
        for partition in _served(path, listing, topic)[:_COORDINATOR_SAMPLE]:
            for kind, name in _of_coordinator(tree, partition, topic):
                clues.setdefault(kind, Clue(kind, join(partition, name), broker_id))
    yield from clues.values()


def _of_coordinator(tree: Tree, path: str, topic: str) -> Iterator[tuple[EvidenceKind, str]]:
    """Yield the evidence in the records at the beginning of the last segment."""
    files = tree.directory(path)
    try:
        for base in segment_bases(files.entries().sizes)[-1:]:
            with files.open(log_name(base)) as source:
                for batch in _batches(source):
                    data = source.pread(batch.size, batch.position)
                    for record in read_records(data, _RECORDS_SIZE_MAX):
                        kind = _of_record(topic, record) if isinstance(record, Record) else None
                        if kind is not None:
                            yield kind, log_name(base)
    except UnreadableError:
        return


def _of_record(topic: str, record: Record) -> EvidenceKind | None:
    """Return the evidence in the type of a record and the version of its value."""
    kind = int.from_bytes(bytes(record.key or b"")[:2], "big", signed=True)
    version = int.from_bytes(bytes(record.value or b"")[:2], "big", signed=True)
    if topic == _TRANSACTIONS:
        known, number = _TRANSACTION_VERSIONS, version
    elif kind in _COMMIT_TYPES:
        known, number = _COMMIT_VERSIONS, version
    elif kind == _GROUP_TYPE:
        known, number = _GROUP_VERSIONS, version
    else:
        known, number = _GROUP_TYPES, kind
    return next((said for least, said in known if number >= least), None)


def _batches(source: Source) -> Iterator[Batch]:
    """Return the intact batches at the beginning of a segment."""
    return iter(Walk(source, min(source.size, _RECORDS_SIZE_MAX), verify=True))


def _served(path: str, listing: Listing, topic: str | None = None) -> list[str]:
    directories = ((name, parse_directory(name)) for name in listing.directories)
    return [
        join(path, name) for name, directory in directories
        if directory is not None and directory.state is DirectoryState.CURRENT
        and directory.topic != CLUSTER_METADATA and topic in (None, directory.topic)
    ]  # fmt: skip
