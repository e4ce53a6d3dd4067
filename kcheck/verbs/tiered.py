"""`kcheck tiered`: segments in remote storage, their readers, and missing objects."""

import math
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from kcheck.core.premises.premise import PremiseKind
from kcheck.core.premises.table import BY_ID
from kcheck.core.start.topic_settings import has_remote_storage
from kcheck.core.start.unserved import ImageOf
from kcheck.core.tiered.copy_lag import CopyLag, copy_lag
from kcheck.core.tiered.manifests import log_size_in
from kcheck.core.tiered.reading import remote_log
from kcheck.core.tiered.rebuilt_records import RebuiltSegment, rebuilt_segment
from kcheck.core.tiered.regular_deletion import LocalSegment, RegularDeletion, regular_deletion
from kcheck.core.tiered.reports import RemoteReplica, RemoteReport, conflicts_words, remote_report
from kcheck.core.tiered.store import (
    PUFFIN,
    layout_of,
    objects_by_segment,
    of_no_topic,
    segment_id_of,
    stored_bytes,
    usual_suffixes,
)
from kcheck.core.tiered.stored_objects import NamedSegments, StoredObjects
from kcheck.documents.answer import BrokerAnswer
from kcheck.documents.remote_log import local_start_of, remote_row, retention_row, span_rows
from kcheck.errors import UsageError
from kcheck.model.cluster import ClusterImage
from kcheck.model.depth import Depth
from kcheck.model.entries import Offset
from kcheck.model.finding import Finding, Location
from kcheck.model.names import DirectoryState
from kcheck.model.premises import JudgedPremise
from kcheck.model.release import Release
from kcheck.model.remote_log import REMOTE_LOG_METADATA, MetadataState, RemoteLog, SegmentObjects, Store, StoredLog
from kcheck.model.report import PartitionFilter, Report, Row
from kcheck.model.views import PartitionView, ReplicasView
from kcheck.survey.rule_runner import check_replicas, check_store
from kcheck.verbs.check import check
from kcheck.verbs.next_starts import next_starts
from kcheck.views.log_dir import LogDirs
from kcheck.views.remote_logs import NEVER_REMOTE, MetadataPartition, RemoteLogs, ShortMetadata, remote_logs
from kcheck.views.remote_store import manifests as manifests_in
from kcheck.views.remote_store import store_objects
from kcheck.views.targets import Target, replica_targets
from kcheck.words import broker_names, partition_name

REMOTE_RULES = (*(f"KC24{number}" for number in range(10)), "KC411")
"""The rules about remote storage."""
_SHOWN = ("KC00", *REMOTE_RULES)
_OF_LOGS = ("KC315", "KC407")
"""The rules about logs that end too early, and about old or empty disks."""
_GB = 1_000_000_000


class TieredReplica(NamedTuple):
    """One replica of a partition in remote storage."""

    view: PartitionView
    """The replica. Its log start is None if its broker has no directory."""
    report: RemoteReport
    """The fate of the remote part if this replica leads."""
    lag: CopyLag | None
    """The bytes that it would copy as leader, and the bytes in both places; None if not known."""
    regular: RegularDeletion | None = None
    """The deletions by retention if the replica leads; None without a log, or if not known."""


class TopicStorage(NamedTuple):
    """The part of a topic in remote storage."""

    topic: str
    """The topic."""
    segments: int | None
    """Number of finished segments; None if not known."""
    size: int | None
    """The size of their `.log` files in bytes, by `__remote_log_metadata`; None if they are not known."""
    stored: int | None
    """The size of all their objects in the store in bytes; None if kcheck did not look."""
    to_copy: int | None
    """The bytes of closed segments that are not copied yet; None if the remote segments are not known."""
    duplicated: int | None
    """The bytes on a replica's disk that are in remote storage too; None if the remote segments are not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tiered(BrokerAnswer):
    """The answer of `kcheck tiered`."""

    replicas: tuple[TieredReplica, ...]
    """The replicas, by partition and broker."""
    store: Store | None
    """The store; None if kcheck did not look."""
    topics: tuple[TopicStorage, ...]
    """The part of each topic in remote storage, by name."""
    price: float | None
    """USD for a GB and month; None if no price is known."""
    unknown: int = 0
    """Number of replicas that may be in remote storage, because no metadata of their topic, or no log, is readable."""
    layout: str | None = None
    """The pattern of the keys in the store; None for LocalTieredStorage and the Aiven plugin."""
    short_leaders: tuple[ShortMetadata, ...] = ()
    """The partitions of `__remote_log_metadata` whose next leaders lack records."""
    premises: tuple[JudgedPremise, ...] = ()
    """The premises about remote storage; empty if they were not asked for."""

    @property
    def stored(self) -> int | None:
        """The size of all objects of segments in bytes; None if kcheck did not look."""
        return None if self.store is None else stored_bytes(self.store.objects.values())

    @property
    def cost(self) -> float | None:
        """The cost of all objects in USD a month; None if not known."""
        return self.cost_of(self.stored)

    @property
    def conflicts(self) -> tuple[str, ...]:
        """The contradictions between copies of `__remote_log_metadata`, and the copies that are too short to lead."""
        differ = conflicts_words(row.view.remote for row in self.replicas if row.view.remote is not None)
        return (*differ, *map(_short_words, self.short_leaders))

    @property
    def hidden(self) -> int:
        """Number of replicas whose remote segments are not known."""
        return sum(row.view.remote is not None and row.view.remote.is_hidden for row in self.replicas)

    @property
    def is_unknown(self) -> bool:
        """True if some replica may be in remote storage, or if brokers may find other remote segments than kcheck."""
        return self.unknown + self.hidden + len(self.short_leaders) > 0

    def cost_of(self, size: int | None) -> float | None:
        """Return the cost of bytes in the store, in USD a month; None if not known."""
        return None if self.price is None or size is None else size / _GB * self.price

    def orphan_keys(self) -> Iterator[str]:
        """Yield the keys of the objects of topics that the cluster does not have; the store is listed once more.

        UsageError if kcheck did not look, or if a part of `__remote_log_metadata` is not given.
        """
        if self.store is None:
            raise UsageError("--orphans needs --store PLACE")
        if not self.store.is_complete:
            raise UsageError(
                "--orphans: not every partition of __remote_log_metadata was read, so an object without a "
                "record may be "
                "in use; name the log dirs of all brokers"
            )
        orphans = frozenset(of_no_topic(self.store))
        layout = None if self.layout is None else _pattern(self.layout)
        for key, _, _ in store_objects(self.store.place):
            if segment_id_of(key, layout) in orphans:
                yield key

    def rebuilt(self) -> Iterator[RebuiltSegment]:
        """Yield the segments without metadata of topics that the cluster has, from the manifests of the Aiven plugin.

        Segments of one start offset come in the order of their copying, because the later one counts. UsageError if the
        store was not read. A listing has no manifests.
        """
        for _, same in groupby(self._rebuilt(), key=lambda row: (row.topic_id, row.partition, row.start_offset)):
            yield from sorted(same, key=lambda row: row.copied_ms)

    def _rebuilt(self) -> Iterator[RebuiltSegment]:
        if self.store is None:
            raise UsageError("--rebuild needs --store PLACE")
        if self.conflicts or not self.store.is_complete:
            raise UsageError(
                f"--rebuild: {'; '.join(self.conflicts) or 'not every partition of __remote_log_metadata was read'}. "
                "New records may bring back deleted segments. Name the log dirs of all brokers"
            )
        seen = dict[str, tuple[str, RebuiltSegment]]()
        for key, manifest in manifests_in(self.store.place):
            segment = rebuilt_segment(manifest)
            is_known = segment is not None and segment.topic_id in self.store.topic_ids
            if segment is None or segment_id_of(key) != segment.segment_id:
                raise UsageError(f"--rebuild: {key} is not a manifest of version 1")
            if not is_known or segment.segment_id in self.store.named:
                continue
            other, same = seen.setdefault(segment.segment_id, (key, segment))
            if same != segment:
                raise UsageError(f"--rebuild: {other} and {key} are manifests of one segment, and differ")
            if other == key:
                yield segment

    def report(self) -> Report:
        """Return the answer as rows."""
        store: Row | None = None
        if self.store is not None:
            store = {
                "place": self.store.place,
                "segments": len(self.store.objects),
                "bytes": self.stored,
                "usd_a_month": self.cost,
                "iceberg": self.store.has_tables,
            }
        return self.document(
            "tiered",
            body={
                "store": store,
                "unknown": self.unknown,
                "metadata_conflicts": self.conflicts,
                "topics": tuple({**row._asdict(), "usd_a_month": self.cost_of(row.stored)} for row in self.topics),
                "replicas": tuple(map(_row, self.replicas)),
            },
            kinds={"topics": "topic", "replicas": "replica"},
        )


def _short_words(row: ShortMetadata) -> str:
    name = partition_name(REMOTE_LOG_METADATA, row.number)
    return f"{name} ends at {row.end} on {broker_names(row.brokers)}, and has records up to offset {row.mark - 1}"


def _row(replica: TieredReplica) -> Row:
    view, report, lag, regular = replica
    return {
        "topic": view.topic,
        "partition": view.partition,
        "broker_id": view.where.broker_id,
        "log_start_offset": view.log_start_offset,
        "log_end_offset": view.log_end_offset,
        "remote": remote_row(view),
        "deletes_if_leading": span_rows(report.deleted_offsets),
        "gaps": span_rows(report.gaps),
        "unreadable": span_rows(report.unreadable),
        "without_metadata": span_rows(report.without_metadata),
        "copy_lag": None if lag is None else lag._asdict(),
        "retention": None if regular is None else retention_row(regular),
    }


class _StoreWatch:
    """Keeps the replicas in remote storage, and looks into the store after the last of them."""

    def __init__(
        self,
        place: str | None,
        layout: re.Pattern[str] | None,
        targets: tuple[Target, ...],
        log_dirs: LogDirs,
        wanted: PartitionFilter,
        *,
        reads_manifests: bool,
    ) -> None:
        self._targets, self._wanted = targets, wanted
        self.replicas: list[TieredReplica] = []
        self.store: Store | None = None
        self.absent: tuple[TieredReplica, ...] = ()
        self.short_leaders: tuple[ShortMetadata, ...] = ()
        self.unknown = 0
        self._without = Counter[tuple[str | None, str, str | None]]()
        self._place, self._layout, self._log_dirs, self._reads_manifests = place, layout, log_dirs, reads_manifests
        self._clusters: set[str | None] = set()

    def take(self, cluster_id: str | None, view: PartitionView) -> None:
        """Look at one partition directory."""
        self._clusters.add(cluster_id)
        start, local_start = view.log_start_offset, local_start_of(view)
        if view.remote is None:
            self._without[cluster_id, view.topic, view.topic_id] += view.is_replica and view.topic not in NEVER_REMOTE
        elif start is None or local_start is None or (view.epochs is not None and view.epochs.refusal is not None):
            self.unknown += 1
        else:
            replica = RemoteReplica(start, local_start, view.leader_epochs, view.log_end_offset or local_start)
            lag = copy_lag(view.remote, view.segments, view.leader_epochs)
            slim = view._replace(files=frozenset(), metadata=None, last_batch=None, read=None)
            local = [LocalSegment(row.base_offset, row.size) for row in view.segments]
            regular = regular_deletion(view.remote, replica, local, self._log_dirs.release)
            self.replicas.append(TieredReplica(slim, remote_report(view.remote, replica), lag, regular))

    def _absent(self, remote: RemoteLogs) -> Iterator[TieredReplica]:
        """Yield the replicas without a directory. As the leader, an empty log deletes every remote segment."""
        for (topic, number), topic_id, broker_id, log in remote.absent(self._wanted):
            where = Location(broker_id=broker_id, topic=topic, partition=number)
            view = PartitionView(where, topic, number, DirectoryState.CURRENT, topic_id, remote=log)
            empty = RemoteReplica(Offset(0), Offset(0), (), Offset(0))
            yield TieredReplica(view, remote_report(log, empty), None)

    def findings(self, images: ImageOf, release: Release) -> Iterable[Finding]:
        """Yield the deletions of a replica whose other replicas are not given, and the findings about the store."""
        if release.has_remote_storage:
            remote = remote_logs(self._targets, self._log_dirs, images)
            self.absent = tuple(self._absent(remote))
            self.short_leaders = tuple(row for name in self._clusters for row in remote.short_leaders(name))
            for (cluster_id, name, topic_id), count in self._without.items():
                self.unknown += 0 if _has_topic(images(cluster_id), name, topic_id) else count
        places = Counter((row.view.topic, row.view.partition) for row in self.replicas)
        for row in self.replicas:
            if places[row.view.topic, row.view.partition] == 1:
                yield from check_replicas(ReplicasView((row.view,)), release)
        if self._place is None:
            return
        folded = [part for cluster_id in self._clusters for part in self._metadata(cluster_id)]
        states = {part.state for part in folded}
        named = NamedSegments([part.ids for part in folded if part.ids])
        objects = objects_by_segment(store_objects(self._place), self._layout, named)
        suffixes = None if self._layout is None else usual_suffixes(objects)
        if suffixes is not None and not suffixes:
            raise UsageError(f"--layout finds no segments with the same suffixes in {self._place}")
        is_complete = states <= {MetadataState.READ, MetadataState.MISSING}
        now_ms = int(time.time() * 1000)
        known = [image for image in map(images, self._clusters) if image is not None]
        topic_ids = frozenset(topic.topic_id for image in known for topic in image.topics.values() if topic.topic_id)
        topics = [topic for image in known if (topic := image.topics.get(REMOTE_LOG_METADATA)) is not None]
        self.store = Store(
            self._place, objects, named, is_complete, topic_ids, now_ms, has_tables=PUFFIN in objects.suffixes
        )
        if len(topics) == 1 and len(self._clusters) == 1 and self._log_dirs.remote is not None:
            (topic,), (cluster_id,) = topics, self._clusters
            self.store = self.store._replace(
                metadata_partitions=len(topic.partitions),
                metadata_topic_id=topic.topic_id,
                lost_metadata=self._log_dirs.remote.lost_metadata(cluster_id),
            )
        wrong = _wrong_sizes(self._place, objects) if self._reads_manifests else {}
        logs = {
            (view.topic, view.partition): StoredLog(
                view.topic,
                view.partition,
                view.remote,
                objects,
                now_ms,
                suffixes,
                wrong,
                in_tables=objects.suffixes == {PUFFIN},
            )
            for view, *_ in self.replicas
            if view.remote is not None
        }
        left = (row for name in self._clusters for row in self._left(name, images(name), objects, now_ms))
        yield from check_store(self.store, (*logs.values(), *left), release)

    def _left(
        self, cluster_id: str | None, image: ClusterImage | None, objects: StoredObjects, now_ms: int
    ) -> Iterator[StoredLog]:
        """Yield the remote segments of topics that are deleted, or not in remote storage any more."""
        for part in () if image is None else self._metadata(cluster_id):
            for (topic_id, number), segments in part.logs.items():
                name = part.names[topic_id, number]
                known = None if image is None else image.topics_by_id.get(topic_id)
                is_left = known is None or (image is not None and not has_remote_storage(image, known.name))
                if is_left and self._wanted.has(name, number):
                    remote = remote_log(MetadataState.READ, segments)
                    yield StoredLog(name, number, remote, objects, now_ms, is_left=True)

    def topics(self) -> tuple[TopicStorage, ...]:
        """Return the part of each topic in remote storage; every partition counts once."""
        by_topic = groupby(sorted(self.replicas, key=_place), key=lambda row: row.view.topic)
        return tuple(self._topic(topic, list(rows)) for topic, rows in by_topic)

    def _topic(self, topic: str, replicas: list[TieredReplica]) -> TopicStorage:
        remote = {row.view.partition: row.view.remote for row in replicas}
        logs = [log for log in remote.values() if log is not None]
        runs = [run for log in logs for run in log.runs]
        lags = [[row.lag for row in replicas if row.view.partition == number] for number in remote]
        is_known = all(log.is_known for log in logs)
        return TopicStorage(
            topic,
            sum(run.segments for run in runs) if is_known else None,
            sum(run.size for run in runs) if is_known else None,
            None if self.store is None else sum(map(self._stored, logs)),
            _sum_of_largest([lag and lag.size for lag in same] for same in lags),
            _sum_of_largest([lag and lag.duplicated for lag in same] for same in lags),
        )

    def _stored(self, log: RemoteLog) -> int:
        """Return the size of the objects of all segments of a partition, whatever their state."""
        if self.store is None:
            return 0
        objects = self.store.objects
        return stored_bytes(objects[row.segment_id] for row in log.segments if row.segment_id in objects)

    def _metadata(self, cluster_id: str | None) -> tuple[MetadataPartition, ...]:
        """Return the metadata partitions of a cluster; without a copy a partition that is not given."""
        remote = self._log_dirs.remote
        folded = () if remote is None else remote.all_metadata(cluster_id)
        return folded or (MetadataPartition(MetadataState.NOT_GIVEN),)


def _has_topic(image: ClusterImage | None, topic: str, topic_id: str | None) -> bool:
    """Return whether the metadata of the cluster has a topic, or the record of its deletion."""
    return image is not None and (topic in image.topics or topic in image.deleted or topic_id in image.removed)


def _wrong_sizes(place: str, objects: Mapping[str, SegmentObjects]) -> dict[str, int]:
    """Return the sizes of `.log` objects by their manifests where the store has others, by segment id."""
    wrong: dict[str, int] = {}
    for key, manifest in manifests_in(place):
        segment_id = segment_id_of(key)
        try:
            size = log_size_in(manifest)
        except ValueError as error:
            raise UsageError(f"--manifests: {key} is {error}") from error
        if segment_id is not None and segment_id in objects and objects[segment_id].sizes.get("log", size) != size:
            wrong[segment_id] = size
    return wrong


def _sum_of_largest(partitions: Iterable[list[int | None]]) -> int | None:
    """Return the sum of the largest value of each partition; None if one is not known."""
    largest = [None if None in same else max(row or 0 for row in same) for same in partitions]
    return None if None in largest else sum(row or 0 for row in largest)


def tiered(
    arguments: list[str],
    *,
    wanted: PartitionFilter,
    release: Release,
    store: str | None = None,
    layout: str | None = None,
    price: float | None = None,
    manifests: bool = False,
    metadata: tuple[str, ...] = (),
    is_judged: bool = False,
) -> Tiered:
    """Return the remote part of every replica, with findings.

    `store` is a folder, a URL or a listing of the store, `layout` a pattern of its keys. With `manifests` the sizes of
    objects are compared with their manifests. With `is_judged` the premises about remote storage are judged.
    UsageError: a path that does not exist, or a pattern without its groups.
    """
    log_dirs = LogDirs(release)
    pattern = None if layout is None else _pattern(layout)
    if price is not None and not 0 <= price < math.inf:
        raise UsageError(f"--price {price} is not a price")
    if manifests and store is None:
        raise UsageError("--manifests needs --store PLACE")
    targets = replica_targets(arguments)
    starts = next_starts(arguments, targets, wanted, log_dirs, metadata)
    watch = _StoreWatch(store, pattern, targets, log_dirs, wanted, reads_manifests=manifests)
    checked = check(
        arguments, depth=Depth.HEADERS, as_kind=None, wanted=wanted, release=release, log_dirs=log_dirs,
        starts=starts, watch=watch,
    )  # fmt: skip
    if checked.interrupted is not None:
        raise KeyboardInterrupt
    topics = {*(row.view.topic for row in (*watch.replicas, *watch.absent)), REMOTE_LOG_METADATA, None}
    return Tiered(
        release=release,
        collected=[
            finding
            for finding in checked.collected
            if finding.id.startswith(_SHOWN) or (finding.id in _OF_LOGS and finding.where.topic in topics)
        ],
        checked=checked.checked,
        replicas=tuple(sorted((*watch.replicas, *watch.absent), key=_place)),
        store=watch.store,
        topics=watch.topics(),
        price=price,
        unknown=watch.unknown,
        layout=layout,
        short_leaders=watch.short_leaders,
        premises=tuple(row for row in starts.judged if BY_ID[row.id].kind is PremiseKind.REMOTE) if is_judged else (),
    )


def _pattern(layout: str) -> re.Pattern[str]:
    try:
        return layout_of(layout)
    except ValueError as error:
        raise UsageError(f"--layout {layout!r}: {error}") from error


def _place(replica: TieredReplica) -> tuple[str, int, int]:
    view = replica.view
    return view.topic, view.partition, -1 if view.where.broker_id is None else view.where.broker_id
