"""A cluster by the tables of a run, with its brokers after their next starts, and its metadata."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from kcheck.core.cluster.copies import MetadataCopy
from kcheck.core.cluster.quorum import Quorum, quorum
from kcheck.core.releases.releases import release as release_named
from kcheck.core.start.predictions import LogDirPrediction
from kcheck.core.start.startup import Mode, Outcome
from kcheck.errors import KcheckError, UsageError
from kcheck.fleet.run import FleetRun, name_order
from kcheck.fleet.runs.premises import open_premises
from kcheck.fleet.runs.quorum import RunNodes, no_majority
from kcheck.fleet.scan.releases import BrokerKafka, common_evidence
from kcheck.formats.clean_shutdown import CleanShutdown
from kcheck.model.cluster import BrokerRegistration, ClusterImage, PartitionRegistration, TopicImage
from kcheck.model.entries import Offset
from kcheck.model.evidence import AUTO
from kcheck.model.finding import Location
from kcheck.model.names import (
    CLEAN_SHUTDOWN,
    META_PROPERTIES,
    REPLICATION_OFFSET,
    DirectoryState,
    TopicPartition,
    parse_directory,
)
from kcheck.model.parsed import Parsed
from kcheck.model.premises import JudgedPremise
from kcheck.model.release import Release
from kcheck.model.remote_log import MetadataState
from kcheck.model.views import FileView, LogDirView
from kcheck.replicas.candidates import BrokerHere, ClusterHere
from kcheck.replicas.partition_directories import broker_here

_LOG_DIRS = (
    "cluster", "broker_id", "log_dir", "cluster_id", "directory_id", "clean_shutdown", "mode", "shutdown_epoch",
    "kafka", "kafka_lowest", "kafka_highest", "metadata_log",
)  # fmt: skip
_STARTS = ("cluster", "broker_id", "log_dir", "dir", "outcome", "reason", "uncertain")
_MENDABLE = frozenset({Outcome.ABORT, Outcome.OFFLINE, Outcome.LOST, Outcome.STRAY, Outcome.DELETED})
"""The outcomes of the next start of a directory that a repair may change, so that records are kept."""
_ENTRIES = ("cluster", "id", "file", "broker_id", "data")
_BROKERS = ("cluster", "broker_id", "epoch", "fenced", "in_controlled_shutdown", "log_dirs", "migrating")


class RunCluster(NamedTuple):
    """A cluster of a run."""

    name: str | None
    """Its name in the run."""
    image: ClusterImage | None
    """Its brokers, features and configurations, without topics; None if the scan has read no metadata of it."""
    brokers: Mapping[int, BrokerHere]
    """The brokers of the run, by id."""
    has_kraft_logs: bool
    """True if a log dir is of a KRaft node."""
    release: Release
    """The release that its elections are decided for; its evidence is the range of the brokers."""
    metadata: str | None = None
    """The newest copy of its metadata."""
    controllers: Quorum | None = None
    """The copies of its metadata, with their ends; None if none was read."""
    nodes: RunNodes = RunNodes()
    """Its KRaft nodes."""
    no_majority: tuple[JudgedPremise, ...] = ()
    """The premise of each broker that no majority of its controllers starts; empty if one does."""
    remote: frozenset[TopicPartition] = frozenset()
    """The partitions whose leader may lose records in remote storage. No table has the costs of their leaders."""
    mendable: tuple[int, ...] = ()
    """The brokers whose next start loses records, or serves less than it could. A repair may come first."""
    premises: tuple[JudgedPremise, ...] = ()
    """The refuted and unseen premises of its brokers."""
    marks: Mapping[TopicPartition, Mapping[int, Offset]] = {}
    """The checkpointed high watermarks of partitions without a directory, by broker."""

    @property
    def kraft(self) -> bool:
        """True if KRaft controllers elect."""
        return self.release.is_kraft_only or self.has_kraft_logs


def cluster_names(run: FleetRun, wanted: str | None = None) -> list[str | None]:
    """Return the clusters of a run's brokers, None for those without a cluster id; with `wanted` at most this one.

    A scan asks for each cluster, so no call reads the rows of all clusters.
    """
    rows = run.values("log_dirs", ("cluster", "broker_id"), wanted)
    return sorted({cluster for cluster, broker_id in rows if broker_id is not None}, key=name_order)


def run_cluster(run: FleetRun, wanted: str | None) -> RunCluster:
    """Return the cluster of this name, or the only one. UsageError for several or an unknown name."""
    names = cluster_names(run, wanted) or cluster_names(run)
    choices = ", ".join(str(name) for name in names)
    if wanted is None and len(names) != 1:
        raise UsageError(f"{run.path} has {len(names)} clusters; choose a --cluster: {choices}")
    if wanted is not None and wanted not in names:
        raise UsageError(f"--cluster {wanted}: {run.path} has {choices or 'no cluster'}")
    name = names[0] if wanted is None else wanted
    image, metadata, controllers = _image(run, name)
    own = [row for row in _rows(run, "log_dirs", _LOG_DIRS, name) if row["broker_id"] is not None]
    starts, mendable = _starts(run, name)
    release = release_named(run.kafka) if run.kafka != AUTO else _common_release(own)
    brokers, nodes = _brokers(run, name, own, starts, image), _nodes(own, starts)
    ended = no_majority(controllers, nodes, brokers, release)
    problems = {row.broker_id: row.sentence for row in ended}
    return RunCluster(
        name=name,
        image=image,
        brokers={
            number: broker._replace(problem=broker.problem or problems.get(number))
            for number, broker in brokers.items()
        },
        has_kraft_logs=any(row["mode"] == Mode.KRAFT for row in own),
        release=release,
        nodes=nodes,
        no_majority=ended,
        metadata=metadata,
        controllers=controllers,
        remote=frozenset(_remote(run, name)),
        mendable=mendable,
        premises=open_premises(run, name),
        marks=_marks(run, name),
    )


def _marks(run: FleetRun, name: str | None) -> dict[TopicPartition, dict[int, Offset]]:
    """Return the high watermarks without a directory. The finding of each checkpoint names a limited number."""
    marks: dict[TopicPartition, dict[int, Offset]] = {}
    for cluster, rule, file, broker_id, data in run.values("findings", _ENTRIES, name):
        if (cluster, rule, file) == (name, "KC302", REPLICATION_OFFSET) and broker_id is not None:
            for entry in json.loads(data)["entries"]:
                known = marks.setdefault(TopicPartition(entry["topic"], entry["partition"]), {})
                known[broker_id] = max(entry["offset"], known.get(broker_id, Offset(0)))
    return marks


def _remote(run: FleetRun, name: str | None) -> Iterator[TopicPartition]:
    """Yield the partitions in remote storage of which a replica loses, or does not serve, records as the leader."""
    columns = ("cluster", "topic", "partition", "must_not_lead", "not_readable", "gap_from", "metadata")
    for cluster, topic, number, loses, hidden, gap, metadata in (
        run.values("tiered_partitions", columns, name) if "tiered_partitions" in run.parts else ()
    ):
        if cluster == name and (loses or hidden or gap is not None or metadata != MetadataState.READ):
            yield TopicPartition(topic, number)


def _starts(run: FleetRun, name: str | None) -> tuple[Mapping[str, Mapping[str, Any]], tuple[int, ...]]:
    """Return the next starts of log dirs by path, and the brokers whose next start a repair may change."""
    starts: dict[str, Mapping[str, Any]] = {}
    mendable: set[int] = set()
    for values in run.values("predictions", _STARTS, name):
        row = dict(zip(_STARTS, values, strict=True))
        if row["cluster"] == name and row["dir"] is None:
            starts[row["log_dir"]] = row
        if row["cluster"] == name and row["outcome"] in _MENDABLE and row["broker_id"] is not None:
            directory = None if row["dir"] is None else parse_directory(row["dir"])
            if directory is None or directory.state is DirectoryState.CURRENT:
                mendable.add(row["broker_id"])
    return starts, tuple(sorted(mendable))


def _nodes(log_dirs: Sequence[Mapping[str, Any]], starts: Mapping[str, Mapping[str, Any]]) -> RunNodes:
    """Return the KRaft nodes; an older run does not tell which of them have a metadata log."""
    rows = [row for row in log_dirs if row["mode"] == Mode.KRAFT and row["metadata_log"] is not None]
    holders = frozenset(row["broker_id"] for row in rows if row["metadata_log"])
    outcomes = ((row["broker_id"], starts.get(row["log_dir"])) for row in rows)
    return RunNodes(
        holders,
        frozenset(row["broker_id"] for row in rows) - holders,
        frozenset(number for number, start in outcomes if start is not None and start["outcome"] == Outcome.ABORT),
        tuple(sorted((row["broker_id"], row["log_dir"]) for row in log_dirs)),
    )


def _common_release(log_dirs: Iterable[Mapping[str, Any]]) -> Release:
    known = ((row["kafka"], row["kafka_lowest"], row["kafka_highest"], "") for row in log_dirs)
    proved = common_evidence(tuple(dict.fromkeys(BrokerKafka(*row) for row in known)))
    return release_named(proved.used)._replace(evidence=proved)


def _rows(run: FleetRun, table: str, columns: tuple[str, ...], name: str | None) -> list[Mapping[str, Any]]:
    """Return the rows of a cluster. Its name is in the first of these columns."""
    return [dict(zip(columns, row, strict=True)) for row in run.values(table, columns, name) if row[0] == name]


def _image(run: FleetRun, name: str | None) -> tuple[ClusterImage | None, str | None, Quorum | None]:
    """Return the metadata without topics, its path, and its copies; UsageError if the name means several clusters."""
    columns = ("cluster", "cluster_id", "features", "configs", "leader", "path", "voters", "copy_ends")
    rows = _rows(run, "clusters", columns, name)
    if not rows:
        return None, None, None
    if len(rows) > 1:
        ids = ", ".join(str(row["cluster_id"]) for row in rows)
        raise UsageError(f"{run.path}: {name} names several clusters: {ids}; scan them under different names")
    (row,) = rows
    try:
        configs = {(config["kind"], config["name"]): config["config"] for config in json.loads(row["configs"])}
        brokers = {
            broker["broker_id"]: BrokerRegistration(
                broker["broker_id"], broker["epoch"], fenced=broker["fenced"],
                in_controlled_shutdown=broker["in_controlled_shutdown"],
                log_dirs=tuple(json.loads(broker["log_dirs"])), migrating=broker["migrating"],
            )
            for broker in _rows(run, "cluster_brokers", _BROKERS, name)
        }  # fmt: skip
        image = ClusterImage(
            {}, brokers=brokers, features=json.loads(row["features"]), configs=configs, controller=row["leader"]
        )
        return image, row["path"], _quorum(row)
    except (ValueError, TypeError, KeyError) as error:
        raise KcheckError(f"{run.path}: invalid metadata of cluster {name}: {error}") from error


def _quorum(row: Mapping[str, Any]) -> Quorum | None:
    """Return the copies of the metadata by a row of `clusters`; None in an older run."""
    copies = [
        MetadataCopy(row["path"], node_id, epoch, end, 0, frozenset(json.loads(row["voters"])), ClusterImage({}))
        for node_id, epoch, end in json.loads(row["copy_ends"] or "[]")
    ]
    return quorum(copies) if copies else None


def _brokers(
    run: FleetRun, name: str | None, log_dirs: list[Mapping[str, Any]], starts: Mapping[str, Mapping[str, Any]],
    image: ClusterImage | None,
) -> dict[int, BrokerHere]:  # fmt: skip
    """Return the fate of the brokers, without pure controllers."""
    with_replicas = {row[1] for row in run.values("replicas", ("cluster", "broker_id"), name) if row[0] == name}
    by_broker: dict[int, list[LogDirPrediction]] = {}
    for row in log_dirs:
        number = row["broker_id"]
        if number in with_replicas or (image is not None and number in image.brokers):
            by_broker.setdefault(number, []).append(_start(row, starts.get(row["log_dir"])))
    return {
        number: broker_here(number, predicted, image, is_complete=True)
        for number, predicted in sorted(by_broker.items())
    }


def _start(row: Mapping[str, Any], start: Mapping[str, Any] | None) -> LogDirPrediction:
    """Return the next start of a log dir in the run; without a prediction it is unknown."""
    where = Location(row["broker_id"], row["log_dir"])
    files: dict[str, FileView] = {}
    if row["cluster_id"] is not None or row["directory_id"] is not None:
        files[META_PROPERTIES] = FileView("", META_PROPERTIES, where, 0, Parsed(None))
    if row["clean_shutdown"]:
        marker = Parsed(CleanShutdown(0, row["shutdown_epoch"]))
        files[CLEAN_SHUTDOWN] = FileView("", CLEAN_SHUTDOWN, where, 0, marker)
    reason = None if start is None else start["reason"]
    _, _, rest = (reason or "").partition(": ")
    return LogDirPrediction(
        path=row["log_dir"],
        broker_id=row["broker_id"],
        outcome=Outcome.UNKNOWN if start is None else Outcome(start["outcome"]),
        reasons=(rest,) if rest else (),
        clean=bool(row["clean_shutdown"]),
        mode=Mode(row["mode"]),
        uncertain=None if start is None else start["uncertain"],
        partitions=(),
        view=LogDirView(where, row["cluster_id"], row["directory_id"], bool(row["clean_shutdown"]), files),
    )


def registration_of(row: Mapping[str, Any]) -> PartitionRegistration:
    """Return the registration in a row of `cluster_partitions`; KcheckError if it is corrupt."""
    names = ("replicas", "isr", "elr", "last_known_elr", "directories", "removing", "adding")
    try:
        replicas, isr, elr, last_known, directories, removing, adding = (_list(row[name] or "[]") for name in names)
    except (ValueError, TypeError) as error:
        raise KcheckError(f"invalid row of the table cluster_partitions: {error}") from error
    return PartitionRegistration(
        replicas, isr, row["leader"], row["leader_epoch"], row["partition_epoch"], elr=elr, last_known_elr=last_known,
        removing=removing, adding=adding, directories=directories, recovering=bool(row["recovering"]),
        last_leader=row["last_leader"], last_leader_epoch=row.get("last_leader_epoch"),
    )  # fmt: skip


@lru_cache(1024)  # Partitions mostly have the same few.
def _list(text: str) -> tuple[Any, ...]:
    return tuple(json.loads(text))


def with_partition(
    here: ClusterHere, topic: str, partition: int, row: Mapping[str, Any] | None,
    registration: PartitionRegistration | None,
) -> ClusterHere:  # fmt: skip
    """Return the cluster with the metadata of one partition."""
    if here.image is None or row is None or registration is None:
        return here
    known = TopicImage(topic, row["topic_id"], {partition: registration})
    return here._replace(image=here.image._replace(topics={topic: known}))
