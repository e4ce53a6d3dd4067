"""`kcheck check`: every rule over all that is named, as deep as is asked for."""

from collections.abc import Iterable, Iterator
from enum import StrEnum
from itertools import zip_longest

from kcheck.disk.read import UnreadableError
from kcheck.disk.walk import join, split
from kcheck.formats import producer_snapshot, transaction_index
from kcheck.model.entries import Offset
from kcheck.model.finding import Finding, Location
from kcheck.model.names import CLUSTER_METADATA, DirectoryState, FileKind, parse_file, segment_prefix
from kcheck.model.release import Release
from kcheck.model.report import Report, Wanted
from kcheck.model.segments import Aborted, SegmentView
from kcheck.model.views import Different, FileView, PartitionView, ReplicasView
from kcheck.rules import kc001_unreadable
from kcheck.scan.batches import log_name
from kcheck.scan.contents import difference
from kcheck.scan.inputs import Kind, Target, replica_targets
from kcheck.scan.look import Look, format_of
from kcheck.scan.partition import read_small
from kcheck.scan.replicas import agree
from kcheck.scan.rules import check_file, check_replicas, check_segment
from kcheck.scan.segment import examine
from kcheck.scan.snapshots import Follower
from kcheck.scan.swaps import read_swaps
from kcheck.scan.transactions import Open, follow


class Depth(StrEnum):
    """How much is read; each depth does what those before it do."""

    CHECKPOINTS = "checkpoints"
    """The small files, and the tail of each log."""
    HEADERS = "headers"
    """Every batch header and every index entry."""
    CRC = "crc"
    """Every byte of every batch."""


def check(arguments: list[str], *, depth: Depth, as_kind: str | None, wanted: Wanted, release: Release) -> Report:
    """Return a report of findings, and of how much was looked at."""
    found = replica_targets(arguments)
    kinds = {target: format_of(target.path, as_kind) for target in found if target.kind is Kind.FILE}
    deep = _Deep(depth, release)
    look = Look(wanted=wanted, release=release, deepen=None if depth is Depth.CHECKPOINTS else deep.partition)
    cluster = _Cluster(compared=sum(target.kind is Kind.LOG_DIR for target in found) > 1, depth=depth)
    for target in found:
        match target.kind:
            case Kind.LOG_DIR:
                log_dir, views = look.log_dir(target)
                deep.count_files(log_dir.view.files.values())
                deep.log_dirs += 1
                agree(target, log_dir)
                for view in views:
                    deep.count(view)
                    cluster.take(log_dir.view.cluster_id, view)
            case Kind.PARTITION:
                alone = look.partition(target)
                if alone is not None:
                    deep.count(alone)
            case Kind.FILE if kinds[target].parse is None:
                deep.segment(target, look)
            case Kind.FILE:
                small = look.file(target, kinds[target])
                deep.count_files(() if small is None else (small,))
    look.compare()
    look.collected.extend(cluster.findings(release))
    return Report(
        verb="check",
        kafka=release.name,
        body={"depth": str(depth), "checked": deep.checked()},
        collected=look.collected,
        checked=tuple(path for target in found for path in (target.path, target.config) if path is not None),
    )


class _Deep:
    """Reads the segments of partitions from their start, and counts what is read."""

    def __init__(self, depth: Depth, release: Release) -> None:
        self.log_dirs = 0
        self._partitions = 0
        self._segments = 0
        self._files = 0
        self._bytes = 0
        self._depth = depth
        self._release = release

    def checked(self) -> dict[str, int]:
        """Return how much was looked at; `files` and `bytes` are those read whole."""
        return {
            "log_dirs": self.log_dirs,
            "partitions": self._partitions,
            "segments": self._segments,
            "files": self._files,
            "bytes": self._bytes,
        }

    def count(self, view: PartitionView) -> None:
        """Count a partition directory, its segments and its small files."""
        self._partitions += 1
        self._segments += len(view.segments)
        self.count_files(file for file in (view.epochs, view.metadata) if file is not None)

    def count_files(self, files: Iterable[FileView]) -> None:
        """Count small files."""
        for file in files:
            self._files += 1
            self._bytes += file.size

    def partition(self, view: PartitionView, collected: list[Finding]) -> PartitionView:
        """Return a partition with its segments read from their start, if a broker loads it."""
        if view.state not in (DirectoryState.CURRENT, DirectoryState.FUTURE):
            return view
        folder = join(view.where.log_dir or "", view.where.dir or "")
        small = self._small_files(view, folder, collected)
        read: list[SegmentView] = []
        open_before: Open | None = {}
        producers = Follower({name: file for name, file in small.items() if name.endswith(".snapshot")})
        for segment, behind in zip_longest(view.segments, view.segments[1:]):
            name = log_name(segment.base_offset)
            where = view.where._replace(file=name)
            cuts = producers.cuts(segment.base_offset, None if behind is None else behind.base_offset)
            try:
                found = self._examine(join(folder, name), where, segment.base_offset, cuts)
            except UnreadableError as error:
                producers.take(None, segment.base_offset)
                collected.append(kc001_unreadable.finding(where, str(error)))
                continue
            prefix = name.removesuffix(".log")
            open_before, transactions = follow(open_before, found.transactions)
            producers.take(found.producers, segment.base_offset)
            found = found._replace(
                transactions=transactions,
                producers=None,
                stated=_stated(small.get(prefix + ".txnindex")),
                files=view.files & {prefix + ending for ending in (".log", ".index", ".timeindex")},
                active=behind is None,
                scanned=_scanned(view, None if behind is None else behind.base_offset),
            )
            read.append(found)
            collected.extend(_unread(found))
        swaps = tuple(read_swaps(view, folder, collected, verify=self._depth is Depth.CRC))
        return view._replace(read=tuple(read), producers=producers.view(), swaps=swaps)

    def _small_files(self, view: PartitionView, folder: str, collected: list[Finding]) -> dict[str, FileView]:
        """Return the transaction indexes and producer snapshots by name, checked by their rules."""
        found: dict[str, FileView] = {}
        for name in sorted(view.files):
            named = parse_file(name)
            kind = None if named.suffix else _RULED.get(named.kind)
            if kind is not None:
                where = view.where._replace(file=name)
                try:
                    found[name] = read_small(join(folder, name), kind, where, self._release)
                except UnreadableError as error:
                    collected.append(kc001_unreadable.finding(where, str(error)))
                else:
                    collected.extend(check_file(found[name], self._release))
        self.count_files(found.values())
        return found

    def segment(self, target: Target, look: Look) -> None:
        """Look at a `.log` that was named by itself."""
        base = parse_file(split(target.path)[1]).offset
        where = Location(broker_id=target.broker_id, file=target.path)
        try:
            found = self._examine(target.path, where, base or Offset(0))
        except UnreadableError as error:
            look.unreadable(target, error)
            return
        self._segments += 1
        look.collected.extend(check_segment(found, self._release))

    def _examine(self, path: str, where: Location, base: Offset, cuts: tuple[Offset, ...] = ()) -> SegmentView:
        found = examine(path, where, base, verify=self._depth is Depth.CRC, cuts=cuts)
        sizes = [found.size, *(index.size for index in (found.offset_index, found.time_index) if index is not None)]
        self._files += len(sizes)
        self._bytes += sum(sizes)
        return found


class _Cluster:
    """The replicas of each partition, where several brokers are looked at."""

    def __init__(self, *, compared: bool, depth: Depth) -> None:
        self._compared = compared
        self._depth = depth
        self._views: dict[tuple[object, ...], dict[int, PartitionView]] = {}

    def take(self, cluster_id: str | None, view: PartitionView) -> None:
        """Keep what the comparison needs of a replica; the metadata log of KRaft has rules of its own."""
        broker_id = view.where.broker_id
        live = view.state is DirectoryState.CURRENT and view.topic != CLUSTER_METADATA
        if self._compared and live and broker_id is not None:
            slim = view._replace(files=frozenset(), metadata=None, last_batch=None)
            self._views.setdefault((cluster_id, view.topic, view.partition), {})[broker_id] = slim

    def findings(self, release: Release) -> Iterator[Finding]:
        """Yield what the rules about replicas find."""
        counts: dict[tuple[object, ...], int] = {}
        for topic, by_broker in self._views.items():
            counts[topic[:2]] = max(counts.get(topic[:2], 0), len(by_broker))
        for topic, by_broker in self._views.items():
            replicas = tuple(by_broker[broker_id] for broker_id in sorted(by_broker))
            if counts[topic[:2]] > 1:
                different = () if self._depth is Depth.CHECKPOINTS else _different(replicas)
                yield from check_replicas(ReplicasView(replicas, different, counts[topic[:2]]), release)


def _different(replicas: tuple[PartitionView, ...]) -> tuple[Different, ...]:
    """Compare the records of each replica with those of the first."""
    found = (difference(replicas[0], other) for other in replicas[1:])
    return tuple(each for each in found if each is not None)


_RULED = {FileKind.TRANSACTION_INDEX: transaction_index.FORMAT, FileKind.PRODUCER_SNAPSHOT: producer_snapshot.FORMAT}
"""The small files of a partition directory that are not read with its tail."""


def _stated(view: FileView | None) -> tuple[Aborted, ...]:
    """Return the aborted transactions that a transaction index names; none where there is none."""
    entries = () if view is None else view.parsed.value
    return tuple(Aborted(txn.producer_id, Offset(txn.first_offset), Offset(txn.last_offset)) for txn in entries)


def _unread(view: SegmentView) -> Iterator[Finding]:
    """Yield a finding for each index that is there and cannot be read."""
    for ending, index in ((".index", view.offset_index), (".timeindex", view.time_index)):
        name = segment_prefix(view.base_offset) + ending
        if index is None and name in view.files:
            yield kc001_unreadable.finding(view.where._replace(file=name), view.unread[ending])


def _scanned(view: PartitionView, next_base: Offset | None) -> bool | None:
    """Whether the next start reads a segment through: after an unclean stop, from the one of the recovery point on.

    LogLoader.recoverLog; a partition without a recovery point is read from its log start.
    """
    if view.clean_shutdown is None:
        return None
    return not view.clean_shutdown and (next_base is None or next_base > (view.recovery_point or 0))
