"""The metadata of the clusters of a fleet, from the copies in its log dirs.

One task reads the newest copy of a cluster completely and writes its tables. A log dir then has the source of that copy
(`MetadataSource`). Each partition directory has only the metadata of its own topic. So no other task has all of it.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

from kcheck.arrow import batch_of, to_bytes
from kcheck.core.cluster.copies import MetadataCopy, RaftEpoch
from kcheck.core.cluster.quorum import Quorum, quorum
from kcheck.core.start.strays import StrayDetector, replica_in_cluster
from kcheck.disk.paths import split
from kcheck.disk.tree import tree_of
from kcheck.documents.cluster import broker_rows, config_rows, partition_row, quorum_row
from kcheck.fleet.scan.both_ends import worse_findings
from kcheck.fleet.scan.lost import broker_findings
from kcheck.model.cluster import (
    NO_LEADER,
    BrokerRegistration,
    ClusterImage,
    MetadataProblem,
    PartitionRegistration,
    QuorumState,
    TopicImage,
    UncleanElection,
    Voter,
    is_reserved,
)
from kcheck.model.finding import Finding
from kcheck.model.names import DirectoryState
from kcheck.model.release import Release
from kcheck.model.report import Row
from kcheck.model.views import LogDirView, PartitionView
from kcheck.startup.inputs import Context
from kcheck.startup.log_manager import placed
from kcheck.survey.rule_runner import check_cluster
from kcheck.tables import Table, cluster_brokers, cluster_partitions, clusters, findings
from kcheck.views.controller_settings import settings_of_copies, with_settings
from kcheck.views.metadata_copy import complete_copy

if TYPE_CHECKING:
    import pyarrow as pa

_BATCH_COUNT = 16_384
_NO_IMAGE = ClusterImage({})
_READING = Lock()
ClusterKey = tuple[str | None, str | None]
"""The name of a cluster in the fleet, and its id, as a name can mean several clusters."""


class ClusterCopies(NamedTuple):
    """The copies of the metadata of one cluster.

    `copies` come from `copy_text`, `holders` are the brokers whose log dirs have them, `names` are the names of broker
    ids. `others` are the names of brokers whose log dirs do not name the cluster's id.
    """

    cluster: str | None
    cluster_id: str | None
    copies: tuple[str, ...]
    holders: tuple[str | None, ...]
    names: tuple[tuple[int, str | None], ...]
    others: tuple[tuple[int, str | None], ...] = ()

    @property
    def key(self) -> ClusterKey:
        """The cluster's name, and its id."""
        return self.cluster, self.cluster_id


class ClusterFacts(NamedTuple):
    """The facts of the newest copy that log dirs need.

    They are its path, `registrations` by broker id, `owners` of `copies`, and `voters`. A registration is the epoch of
    the broker, whether it migrates, and the ids of its log dirs.
    """

    path: str
    node_id: int | None
    epoch: int
    end: int
    committed_to: int | None
    features: Mapping[str, int]
    registrations: Mapping[str, tuple[int | None, bool, tuple[str, ...]]]
    owners: tuple[int | None, ...]
    copies: tuple[str, ...] = ()
    voters: tuple[int, ...] = ()


class MetadataSource(NamedTuple):
    """The newest copy of the metadata for a log dir; `registration` belongs to its broker in ClusterFacts.

    `keeps_strays` is as in StrayDetector. `epoch` and `end` come from the first read. `copies` are the copies for
    premises in the form of `copy_text`. They belong to its broker, the controllers, and one more node.
    """

    path: str
    node_id: int | None
    epoch: int
    end: int
    committed_to: int | None
    features: Mapping[str, int]
    registration: tuple[int | None, bool, tuple[str, ...]] | None
    own: bool
    keeps_strays: bool
    copies: tuple[str, ...] = ()


class LogDirMetadata(NamedTuple):
    """The meaning of metadata for the directories of a log dir; `detector` has no topics."""

    detector: StrayDetector
    shutdown_epoch: int | None
    is_locked: bool


def copy_text(copy: MetadataCopy) -> str:
    """Return a copy without its image as JSON."""
    return json.dumps(copy._replace(image=_NO_IMAGE, voters=sorted(copy.voters)))  # type: ignore[arg-type]  # for JSON


def _copy_of(text: str) -> MetadataCopy:
    known: dict[str, Any] = dict(zip(MetadataCopy._fields, json.loads(text), strict=True))
    elected, cut = known["elected"], known["cut"]
    if elected is not None:
        elected = QuorumState(*map(_tuple, elected))
    return MetadataCopy(
        **{
            **known,
            "voters": frozenset(known["voters"]),
            "image": _NO_IMAGE,
            "epochs": tuple(RaftEpoch(*epoch) for epoch in known["epochs"]),
            "elected": elected,
            "voter_set": tuple(Voter(*map(_tuple, voter)) for voter in known["voter_set"]),
            "cut": None if cut is None else MetadataProblem(*cut),
            "problems": (),
        }
    )


def copy_at(path: str, node_id: int | None, epoch: int, end: int) -> MetadataCopy | None:
    """Return the copy that was read with this end before, or a later state; None if it no longer decides."""
    with _READING:  # Threads wait for the one that reads.
        return _copy_at(path, node_id, epoch, end)


@lru_cache(1)
def _copy_at(path: str, node_id: int | None, epoch: int, end: int) -> MetadataCopy | None:
    del epoch, end  # They distinguish two states of one path.
    return complete_copy(tree_of(path), path, node_id)


def cluster_facts(
    cluster: ClusterCopies, release: Release, other: Release | None = None
) -> "tuple[ClusterFacts | None, Iterator[tuple[str, pa.RecordBatch]]]":
    """Return the facts of a cluster's metadata for log dirs, and rows of tables; None if the copies are missing.

    `other` is the other end of a range of releases.
    """
    copies = [_copy_of(text) for text in cluster.copies]
    standing = quorum(copies)
    newest = standing.newest
    copy = copy_at(newest.path, newest.node_id, newest.epoch, newest.end)
    if copy is None:
        return None, iter(())
    facts = ClusterFacts(
        newest.path, newest.node_id, newest.epoch, newest.end, standing.committed_to, copy.image.features,
        {
            str(number): (broker.epoch, broker.migrating, tuple(broker.log_dirs))
            for number, broker in copy.image.brokers.items()
        },
        tuple(other.node_id for other in copies), cluster.copies, tuple(sorted(newest.voters)),
    )  # fmt: skip
    copy = _with_settings(copy, (known.path for known in copies))
    return facts, _tables(cluster, standing._replace(newest=copy), release, other)


def _with_settings(copy: MetadataCopy, paths: Iterable[str]) -> MetadataCopy:
    """Return a copy with the settings of controllers that are next to the copies in these paths."""
    return copy._replace(image=with_settings(copy.image, settings_of_copies(paths)))


def _tables(
    cluster: ClusterCopies, standing: Quorum, release: Release, other: Release | None
) -> "Iterator[tuple[str, pa.RecordBatch]]":
    """Yield the rows of a cluster, of bounded size."""
    image, names = standing.newest.image, dict(cluster.names)
    holders = {
        split(_copy_of(text).path)[0]: holder for text, holder in zip(cluster.copies, cluster.holders, strict=True)
    }
    holder = holders.get(split(standing.newest.path)[0])
    yield "clusters", _batch(clusters.TABLE, [(cluster.cluster, holder, _cluster_row(cluster, standing))])
    brokers = ((cluster.cluster, names.get(row["broker_id"]), row) for row in broker_rows(image))  # type: ignore[call-overload]  # an int
    yield "cluster_brokers", _batch(cluster_brokers.TABLE, [*brokers])
    rows = (
        (cluster.cluster, names.get(_leader(partition)), partition_row(image, topic, number, partition))
        for topic, number, partition in image.partitions()
    )
    while part := [*islice(rows, _BATCH_COUNT)]:
        yield "cluster_partitions", _batch(cluster_partitions.TABLE, part)
    problems: Iterable[Finding] = check_cluster(standing, release)
    if other is not None:
        problems = worse_findings((release, problems), (other, check_cluster(standing, other)))
    problem_rows = [
        (cluster.cluster, holders.get(finding.where.log_dir or ""), *findings.run_row(finding))
        for finding in sorted(problems, key=Finding.sort_key)
    ]
    others = dict(cluster.others)
    problem_rows.extend(
        (cluster.cluster, others.get(finding.where.broker_id, str(finding.where.broker_id)), *findings.run_row(finding))  # type: ignore[arg-type]  # an int
        for finding in broker_findings(standing, {*names}, release)
    )
    yield "findings", batch_of(problem_rows, findings.TABLE.run_columns)


def _leader(partition: PartitionRegistration) -> int:
    if partition.leader != NO_LEADER or partition.last_leader is None:
        return partition.leader
    return partition.last_leader


def _cluster_row(cluster: ClusterCopies, standing: Quorum) -> Row:
    image, newest = standing.newest.image, standing.newest
    return {
        "cluster_id": cluster.cluster_id,
        "path": newest.path,
        "end_offset": newest.end,
        "time": newest.timestamp,
        **quorum_row(standing),
        "copies": len(standing.copies),
        "copy_ends": [(row.copy.node_id, row.copy.epoch, row.copy.end) for row in standing.copies],
        "brokers": len(image.brokers),
        "topics": len(image.topics),
        "partitions": sum(len(topic.partitions) for topic in image.topics.values()),
        "features": dict(sorted(image.features.items())),
        "configs": config_rows(image.configs),
    }


def _batch(table: Table, rows: Sequence[tuple[str | None, str | None, Row]]) -> "pa.RecordBatch":
    """Return rows of JSON fields as rows of a table in a run; missing values are null."""
    is_json = {column.name for column in table.columns if column.type == "json"}

    def value(row: Row, name: str) -> object:
        known = row.get(name)
        return json.dumps(known) if name in is_json and known is not None else known

    values = [(cluster, broker, *(value(row, name) for name in table.names)) for cluster, broker, row in rows]
    return batch_of(values, table.run_columns)


def as_tables(rows: "Iterable[tuple[str, pa.RecordBatch]]") -> tuple[tuple[str, bytes], ...]:
    """Return rows of tables as bytes that cross a process."""
    return tuple((name, to_bytes(batch)) for name, batch in rows)


def source_of(facts: ClusterFacts, broker_id: int | None, *, keeps_strays: bool) -> str:
    """Return the MetadataSource of a log dir as JSON."""
    owned = [*zip(facts.owners, facts.copies, strict=True)]
    compared = {text for owner, text in owned if owner is not None and owner in (broker_id, *facts.voters)}
    compared.update(next(([text] for owner, text in owned if owner != broker_id), []))
    return json.dumps(
        MetadataSource(
            *facts[:6],
            registration=facts.registrations.get(str(broker_id)),
            own=broker_id in facts.owners,
            keeps_strays=keeps_strays,
            copies=tuple(text for text in facts.copies if text in compared),
        )
    )


def registered_ids(metadata: str | None) -> set[str]:
    """Return the ids of the log dirs that the broker of a MetadataSource registered."""
    registration = None if metadata is None else MetadataSource(*json.loads(metadata)).registration
    return set() if registration is None else {number for number in registration[2] if not is_reserved(number)}


def compared_copies(metadata: str | None) -> tuple[MetadataCopy, ...]:
    """Return the copies that premises compare, the newest as it is read now; empty if it is missing."""
    known = None if metadata is None else MetadataSource(*json.loads(metadata))
    newest = None if known is None else copy_at(known.path, known.node_id, known.epoch, known.end)
    if known is None or newest is None:
        return ()
    # Of several that end alike the first counts as the newest: the one that was read whole.
    newest = _with_settings(newest, compared_paths(metadata))
    return (newest, *(copy for copy in map(_copy_of, known.copies) if copy.path != known.path))


def compared_paths(metadata: str | None) -> tuple[str, ...]:
    """Return the paths of `compared_copies`."""
    known = None if metadata is None else MetadataSource(*json.loads(metadata))
    return () if known is None else (known.path, *(_copy_of(text).path for text in known.copies))


def _image(source: MetadataSource, broker_id: int | None) -> ClusterImage:
    """Return an image of one broker and no topic."""
    brokers: dict[int, BrokerRegistration] = {}
    if broker_id is not None and source.registration is not None:
        epoch, migrating, _ = source.registration
        brokers[broker_id] = BrokerRegistration(broker_id, epoch, fenced=False, migrating=migrating)
    return ClusterImage({}, brokers=brokers, features=source.features)


def log_dir_detector(metadata: str | None, view: LogDirView) -> StrayDetector | None:
    """Return the detector of a log dir, with the features and the broker, but without topics."""
    if metadata is None:
        return None
    source = MetadataSource(*json.loads(metadata))
    broker_id = view.where.broker_id
    copy = MetadataCopy(
        source.path, source.node_id, source.epoch, source.end, 0, frozenset(), _image(source, broker_id)
    )  # fmt: skip
    return StrayDetector(copy, broker_id, source.own, view.directory_id, source.committed_to, source.keeps_strays)


def with_strays_placed(views: list[PartitionView], metadata: str | None, log_dir: LogDirView) -> list[PartitionView]:
    """Return partitions of a log dir; a -stray directory with the metadata of its topic, as rules of brokers ask."""
    detector = log_dir_detector(metadata, log_dir)
    if metadata is None or detector is None or not any(view.state is DirectoryState.STRAY for view in views):
        return views
    source = MetadataSource(*json.loads(metadata))
    copy = copy_at(source.path, source.node_id, source.epoch, source.end)
    if copy is None:
        return views
    detector = detector._replace(copy=copy)
    return [
        view._replace(in_cluster=replica_in_cluster(detector, view, log_dir))
        if view.state is DirectoryState.STRAY
        else view
        for view in views
    ]


class TopicsTold:
    """The newest metadata of the directories of a log dir; `source` is None without metadata."""

    def __init__(self, metadata: str | None, view: LogDirView) -> None:
        """Read the copy."""
        self.source: str | None = None
        known = None if metadata is None else MetadataSource(*json.loads(metadata))
        copy = None if known is None or not view.files else copy_at(known.path, known.node_id, known.epoch, known.end)
        if known is None or copy is None:
            return
        broker_id = view.where.broker_id
        self._image = copy.image
        self._of_brokers = [copy.image.configs.get(("broker", name), {}) for name in (str(broker_id), "")]
        lean = copy_text(copy._replace(epochs=(), elected=None))
        detector = (lean, broker_id, known.own, view.directory_id, known.committed_to, known.keeps_strays)
        self.source = json.dumps((known._replace(copies=()), detector, view.shutdown_epoch, view.locked_by is not None))

    def of(self, topic: str, partition: int) -> str | None:
        """Return the metadata of the topic of a directory, as JSON."""
        if self.source is None:
            return None
        known = self._image.topics.get(topic)
        if known is None:
            return "null"
        registration = known.partitions.get(partition)
        configs = [self._image.configs.get(("topic", topic), {}), *self._of_brokers]
        unclean = self._image.unclean.get((known.topic_id or "", partition))
        return json.dumps((known.topic_id, partition, registration, configs, unclean, len(known.partitions)))


@lru_cache(1)  # Directories come log dir by log dir.
def log_dir_metadata(source: str) -> LogDirMetadata:
    """Return the facts of a log dir from the JSON of `TopicsTold`."""
    known, (copy, broker_id, own, directory_id, committed_to, keeps_strays), shutdown_epoch, is_locked = json.loads(
        source
    )
    image = _image(MetadataSource(*known), broker_id)
    detector = StrayDetector(
        _copy_of(copy)._replace(image=image), broker_id, own, directory_id, committed_to, keeps_strays
    )  # fmt: skip
    return LogDirMetadata(detector, shutdown_epoch, is_locked)


def lasting(source: str | None) -> str | None:
    """Return the part of `TopicsTold.source` that can change answers in which no finding cites the metadata."""
    if source is None:
        return None
    detector, shutdown_epoch, is_locked = log_dir_metadata(source)
    known = (detector.sees_copy, detector.keeps_strays, detector.directory_id, shutdown_epoch, is_locked)
    return json.dumps((*known, detector.copy.image.brokers))


def detector_of(source: str, of_topic: str, topic: str, topic_id: str | None) -> StrayDetector | None:
    """Return the detector for a directory, given its topic and the id in it; None if the metadata is missing.

    Only for a directory with another id than the topic, all metadata is read.
    """
    detector = log_dir_metadata(source).detector
    current = json.loads(of_topic)
    if topic_id is not None and (current is None or current[0] != topic_id):
        copy = detector.copy
        whole = copy_at(copy.path, copy.node_id, copy.epoch, copy.end)
        return None if whole is None else detector._replace(copy=whole)
    if current is None:
        return detector
    own_id, partition, values, configs, unclean, count = current
    places = (("topic", topic), ("broker", str(detector.broker_id)), ("broker", ""))
    known = {} if values is None else {partition: _registration(values)}
    image = TopicImage(topic, own_id, known, left_out=count - len(known))
    return detector._replace(
        copy=detector.copy._replace(
            image=detector.copy.image._replace(
                topics={topic: image},
                topics_by_id={} if own_id is None else {own_id: image},
                configs=dict(zip(places, configs, strict=True)),
                unclean={} if unclean is None else {(own_id or "", partition): UncleanElection(*map(_tuple, unclean))},
            )
        )
    )


def in_its_cluster(view: PartitionView, source: str, context: Context) -> PartitionView:
    """Return a partition with its metadata; unchanged while its broker runs, as in `placed`."""
    metadata = log_dir_metadata(source)
    view = placed(view, LogDirView(view.where, locked_by=0 if metadata.is_locked else None), context)
    if view.in_cluster is None:
        return view
    return view._replace(in_cluster=view.in_cluster._replace(shutdown_epoch=metadata.shutdown_epoch))


def _registration(values: Sequence[Any]) -> PartitionRegistration:
    return PartitionRegistration(*map(_tuple, values))


def _tuple(value: Any) -> Any:
    """Return a value of JSON with a tuple for a list."""
    return tuple(value) if isinstance(value, list) else value
