"""`kcheck cluster`: what the controllers know, from the metadata on disk."""

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from kcheck.core.cluster.health import is_stopped
from kcheck.core.cluster.history import PartitionChange, PartitionHistory
from kcheck.core.cluster.metadata_replay import Fields, MetadataReplay
from kcheck.core.cluster.quorum import Quorum, quorum, with_electors
from kcheck.core.election.first_rescue import FirstRescue
from kcheck.core.premises.premise import PremiseKind
from kcheck.core.premises.table import BY_ID, ENDS_START
from kcheck.core.replication.replica_fetchers import Fetch, fetches
from kcheck.core.start.startup import Settings
from kcheck.documents.answer import BrokerAnswer
from kcheck.documents.cluster import (
    NO_QUORUM,
    Placed,
    broker_rows,
    change_row,
    config_rows,
    controller_row,
    controller_rows,
    copy_row,
    fetcher_rows,
    health_row,
    partition_row,
    pending_row,
    quorum_row,
    source_row,
    tail_row,
)
from kcheck.errors import UsageError
from kcheck.model.cluster import ClusterImage, MetadataOrigin, MetadataTail
from kcheck.model.finding import Finding, Location
from kcheck.model.names import parse_directory
from kcheck.model.premises import JudgedPremise, PremiseStatus
from kcheck.model.release import Release
from kcheck.model.report import PartitionFilter, Report
from kcheck.model.zookeeper_metadata import ZookeeperMetadata
from kcheck.startup.options import StartOptions
from kcheck.survey.rule_runner import check_cluster
from kcheck.survey.selection import no_match
from kcheck.tables import cluster_brokers, cluster_history, cluster_partitions
from kcheck.verbs.lost_metadata import rescue_first, rescue_if_lost
from kcheck.verbs.predict import with_copies
from kcheck.verbs.premises import refuted_findings, start_premises
from kcheck.views.controller_settings import controller_settings, seats_in
from kcheck.views.log_dir import LogDirs
from kcheck.views.metadata_copy import EVERYTHING, Extent, read_copy
from kcheck.views.metadata_paths import MetadataPath, identity_of, metadata_paths, node_directories, paths_beside
from kcheck.views.targets import Target, TargetKind, paths_of, replica_targets
from kcheck.views.zookeeper_beside import zookeeper_beside
from kcheck.views.zookeeper_copy import is_zookeeper, read_zookeeper, zookeeper_kind
from kcheck.views.zookeeper_history import zookeeper_history
from kcheck.words import partition_name


class ClusterQuestion(NamedTuple):
    """A question about the metadata."""

    at: int | None = None
    """The offset of the last record that counts, or the id of the last transaction of ZooKeeper; None for all."""
    history: tuple[str, int] | None = None
    """The topic and number of the partition whose changes are wanted."""
    fetchers: int | None = None
    """`num.replica.fetchers` of the brokers; None if the fetching threads are not wanted."""
    brokers: bool = False
    """True if the one table of the answer lists the brokers."""


class Known(NamedTuple):
    """The metadata that was read, from KRaft or ZooKeeper."""

    image: ClusterImage
    """The metadata."""
    source: MetadataOrigin
    """Its source."""
    cluster_id: str | None
    """The cluster's id; None if it is not known."""
    quorum: Quorum | None = None
    """The facts of all copies of a KRaft log together; None with ZooKeeper, or without any copy."""
    uncommitted: MetadataTail | None = None
    """The records that an election can remove, as far as the copies prove; None without any."""
    zookeeper: ZookeeperMetadata | None = None
    """The facts in the znodes; None with KRaft."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterReport(BrokerAnswer):
    """The answer of `kcheck cluster`."""

    known: Known
    """The metadata, and where they come from."""
    wanted: PartitionFilter
    """The partitions that are shown."""
    question: ClusterQuestion
    """The question."""
    changes: tuple[PartitionChange, ...]
    """The changes of the wanted partition."""
    fetches: tuple[Fetch, ...]
    """The fetched partitions of each thread."""
    rescue: FirstRescue | None = None
    """The rescue of the metadata that comes before any start; None if none is needed."""
    if_lost: FirstRescue | None = None
    """The first rescue if controllers that are not here are lost; None with a majority here."""

    @property
    def image(self) -> ClusterImage:
        """The metadata: as of the wanted offset."""
        return self.known.image

    @property
    def quorum(self) -> Quorum | None:
        """The facts of all copies of a KRaft log together; None with ZooKeeper, or without any copy."""
        return self.known.quorum

    @property
    def is_stopped(self) -> bool:
        """True if every broker is stopped, which explains partitions without leader."""
        return is_stopped(self.image) and (bool(self.image.brokers) or self.known.source.kind not in ("export", "none"))

    def report(self) -> Report:
        """Return the answer as rows."""
        known, image, question = self.known, self.image, self.question
        body: dict[str, object] = {
            "cluster_id": known.cluster_id,
            "metadata": source_row(known.source),
            "stopped": self.is_stopped,
            "health": health_row(image, self.partitions()),
            "features": dict(sorted(image.features.items())),
            "brokers": broker_rows(image),
            "controllers": controller_rows(image.controllers.values()),
            "partitions": (partition_row(image, *placed) for placed in self.partitions()),
            **_quorum_rows(known),
            "configs": config_rows(image.configs),
            "deleted": tuple({"topic": name, "offset": offset} for name, offset in self.deleted()),
            "deleting": tuple(topic.name for topic in image.topics.values() if topic.deleting),
            "scram_users": image.scram_users,
            "delegation_tokens": image.delegation_tokens,
            "next_producer_id": image.next_producer_id,
            "migration": image.migration,
            "if_lost": None if self.if_lost is None else self.if_lost.sentence,
        }
        table, columns = "partitions", cluster_partitions.TABLE.columns
        if question.brokers:
            table, columns = "brokers", cluster_brokers.TABLE.columns
        if question.history is not None:
            topic, number = question.history
            body["history"] = tuple(change_row(change, topic, number) for change in self.changes)
            table, columns = "history", cluster_history.TABLE.columns
        if question.fetchers is not None:
            body["num_replica_fetchers"] = question.fetchers
            body["fetchers"] = fetcher_rows(self.fetches)
        return self.document(
            "cluster",
            body=body,
            table=table,
            columns=columns,
            kinds=_KINDS,
        )

    def deleted(self) -> Iterator[tuple[str, int]]:
        """Yield the topics that were deleted, and the offsets of their last records, as far as these are left."""
        wanted = self.wanted._replace(partitions=())
        return (row for row in sorted(self.image.deleted.items()) if wanted.has(row[0], 0))

    def partitions(self) -> Iterator[Placed]:
        """Yield the partitions that are shown."""
        return (placed for placed in self.image.partitions() if self.wanted.has(placed[0].name, placed[1]))


_ABOUT = (PremiseKind.IDENTITY, PremiseKind.METADATA, PremiseKind.AGE)
_KINDS = {
    "partitions": "partition", "brokers": "broker", "controllers": "controller", "copies": "copy", "configs": "config",
    "history": "change", "fetchers": "fetcher",
}  # fmt: skip


def _quorum_rows(known: Known) -> dict[str, object]:
    if known.quorum is not None:
        copies = tuple(copy_row(copy, known.quorum) for copy in known.quorum.copies)
        tail = None if known.uncommitted is None else tail_row(known.uncommitted)
        return {"quorum": quorum_row(known.quorum), "uncommitted": tail, "copies": copies}
    if known.zookeeper is None:
        return {"quorum": NO_QUORUM, "copies": ()}
    return {"quorum": controller_row(known.zookeeper), "copies": (), "zookeeper": pending_row(known.zookeeper)}


def cluster(
    arguments: list[str], question: ClusterQuestion, *, wanted: PartitionFilter, release: Release
) -> ClusterReport:
    """Return the metadata in the paths, from the copies of a KRaft log, or from ZooKeeper.

    UsageError for paths without metadata, or of two clusters, or for an unknown offset or partition.
    """
    kinds = {path: zookeeper_kind(path) for path in arguments}
    changes: tuple[PartitionChange, ...] = ()
    rescue = lost = None
    collected: list[Finding] = []
    if any(kinds.values()):
        (known, changes), checked = _of_zookeeper(kinds, question), tuple(arguments)
    elif beside := _zookeeper_instead(arguments):
        (known, changes), checked = _of_zookeeper(dict.fromkeys(beside, "zookeeper"), question), beside
    else:
        targets = replica_targets(arguments)
        checked = paths_of(targets)
        rescue = _lost(arguments, targets) if question.at is None and question.history is None else None
        if rescue is not None:
            known = _nothing(targets)
        else:
            log_dirs = LogDirs(release)
            known, changes = _of_kraft(metadata_paths(targets), targets, question, log_dirs)
            assert known.quorum is not None
            rescue, collected = _first_rescue(arguments, targets, known.quorum, log_dirs)
            collected += check_cluster(known.quorum, release)
            if rescue is None:
                lost = rescue_if_lost(arguments, (), (), [row.copy for row in known.quorum.copies])
    if wanted != PartitionFilter():
        placed = [(topic.name, number) for topic, number, *_ in known.image.partitions()]
        gone = any(wanted._replace(partitions=()).has(name, 0) for name in known.image.deleted)
        if placed and not gone and not any(wanted.has(*one) for one in placed):
            raise no_match(wanted, placed)
    return ClusterReport(
        release=release,
        known=known,
        wanted=wanted,
        question=question,
        changes=changes,
        rescue=rescue,
        if_lost=lost,
        fetches=() if question.fetchers is None else _wanted(fetches(known.image, question.fetchers), wanted),
        collected=collected,
        checked=checked,
    )


def _zookeeper_instead(arguments: list[str]) -> tuple[str, ...]:
    """Return ZooKeeper's data in a folder among the arguments whose log dirs have no metadata of KRaft."""
    beside = zookeeper_beside(arguments)
    return () if beside and paths_beside(replica_targets(arguments)) else beside


def _lost(arguments: list[str], targets: Sequence[Target]) -> FirstRescue | None:
    """Return the rescue if all log dirs have lost the metadata; None if one has it, or all lack partitions."""
    log_dirs = node_directories(targets, _cluster_id(targets))
    if paths_beside(targets) or all(log_dir.is_empty for log_dir in log_dirs):
        return None
    return rescue_first(arguments, (), (), copies=(), premises=(), starts=True, kraft=True)


def _cluster_id(targets: Sequence[Target]) -> str | None:
    identities = (identity_of(target.tree, target.path) for target in targets)
    return next((identity.cluster_id for identity in identities if identity.cluster_id), None)


def _nothing(targets: Sequence[Target]) -> Known:
    """Return the known facts if every copy of the metadata is lost."""
    named = ", ".join(target.path for target in targets)
    origin = MetadataOrigin("none", named, end_offset=None, epoch=None, timestamp=None, committed_to=None, problems=())
    return Known(ClusterImage({}), origin, _cluster_id(targets))


def _first_rescue(
    arguments: list[str], targets: Sequence[Target], standing: Quorum, log_dirs: LogDirs
) -> tuple[FirstRescue | None, list[Finding]]:
    """Return the rescue that comes before any start of these nodes, and the premises that say why."""
    premises, places = _premises(targets, log_dirs)
    ended = {row.broker_id for row in premises if row.status is PremiseStatus.REFUTED and row.id in ENDS_START}
    copies = [row.copy for row in standing.copies]
    registered = {number for copy in copies for number in copy.image.brokers}
    brokers = {row.broker_id for row in premises} & registered
    rescue = rescue_first(
        arguments, (), (), copies=copies, premises=premises, starts=not brokers or bool(brokers - ended), kraft=True,
        compares=True,
    )  # fmt: skip
    shown = (
        row
        for row in premises
        if BY_ID[row.id].kind in _ABOUT or (row.id in ENDS_START and row.broker_id in standing.voters)
    )
    return rescue, [*refuted_findings(shown, places, log_dirs.release)]


def _premises(targets: Iterable[Target], log_dirs: LogDirs) -> tuple[tuple[JudgedPremise, ...], list[Location]]:
    """Return the premises of the nodes of the log dirs, and where these are."""
    nodes = tuple(target for target in targets if target.kind is TargetKind.LOG_DIR)
    options = with_copies(nodes, StartOptions(None, Settings(), log_dirs.release), log_dirs)
    rows = tuple(chain.from_iterable(start_premises(nodes, options, log_dirs).values()))
    places = [log_dirs.open(target).view.where for target in nodes]
    return rows, places


def _of_zookeeper(
    kinds: Mapping[str, str | None], question: ClusterQuestion
) -> tuple[Known, tuple[PartitionChange, ...]]:
    path, *others = kinds
    strangers = [name for name, kind in kinds.items() if kind is None]
    if strangers:
        raise UsageError(f"{strangers[0]} is not of ZooKeeper as the other paths are; name the paths of one cluster")
    if len(others) > 1 or (others and "export" in kinds.values()):
        raise UsageError("name one export, or the dataDir and the dataLogDir of one ZooKeeper server")
    options = {"--at": question.at, "--changes": question.history}
    option = next((name for name, value in options.items() if value is not None), None)
    if option is not None and kinds[path] == "export":
        raise UsageError(f"{option}: {path} has no history; name the data directory of a ZooKeeper server")
    data_log_dir = others[0] if others else None
    metadata = read_zookeeper(path, data_log_dir)
    if question.at is not None:
        if metadata.zxid is None or question.at > metadata.zxid:
            raise UsageError(f"--at {question.at:#x}: {path} ends at transaction {metadata.zxid or 0:#x}")
        metadata = read_zookeeper(path, data_log_dir, at=question.at)
    changes: tuple[PartitionChange, ...] = ()
    if question.history is not None:
        changes, problems = zookeeper_history(path, data_log_dir, metadata.chroot, question.history, question.at)
        if not changes:
            raise UsageError(_unknown_partition(question.history, path))
        metadata = metadata._replace(problems=(*metadata.problems, *problems))
    known = Known(
        image=metadata.image,
        source=MetadataOrigin(
            kind=str(kinds[path]),
            path=path,
            end_offset=None,
            epoch=metadata.controller_epoch,
            timestamp=metadata.timestamp,
            committed_to=None,
            problems=metadata.problems,
        ),
        cluster_id=metadata.cluster_id,
        zookeeper=metadata,
    )
    return known, changes


def _unknown_partition(wanted: tuple[str, int], path: str) -> str:
    return f"--changes {partition_name(*wanted)}: {path} knows no such partition"


def _of_kraft(
    paths: tuple[MetadataPath, ...], targets: Sequence[Target], question: ClusterQuestion, log_dirs: LogDirs
) -> tuple[Known, tuple[PartitionChange, ...]]:
    copies, names = [], [_RecordNames() for _ in paths]
    for path, of_copy in zip(paths, names, strict=True):
        copies.append(read_copy(path.tree, path.path, path.node_id, observe=of_copy.observe, only=path.only))
        if path.only is None:
            log_dirs.hold_copy(copies[-1])
    cluster_id = next((path.cluster_id for path in paths if path.cluster_id), None)
    compares = log_dirs.release.compares_voters_with_quorum_state
    copies = [*with_electors(copies, seats_in(controller_settings(targets)), compares=compares)]
    standing = quorum(copies, node_directories(targets, cluster_id))
    at = next(place for place, copy in enumerate(copies) if copy is standing.newest)
    newest = paths[at]
    extent = EVERYTHING if question.at is None else Extent(until=question.at)
    if question.at is not None and question.at >= standing.newest.end:
        raise UsageError(f"--at {question.at}: {standing.newest.path} ends at offset {standing.newest.end}")
    changes = () if question.history is None else _history(newest, question.history, extent)
    shown = standing.newest
    if question.at is not None:
        shown = read_copy(newest.tree, newest.path, newest.node_id, extent, only=newest.only)
        if shown.end <= question.at and shown.problems:
            raise UsageError(f"--at {question.at}: {shown.problems[0].place}: {shown.problems[0].why}")
    known = Known(
        image=shown.image,
        source=MetadataOrigin(
            kind="kraft",
            path=shown.path,
            end_offset=shown.end,
            epoch=shown.epoch,
            timestamp=shown.timestamp,
            committed_to=standing.committed_to,
            problems=shown.defects,
        ),
        cluster_id=cluster_id,
        quorum=standing,
        uncommitted=_uncommitted(names[at], standing),
    )
    return known, changes


class _RecordNames:
    """The names of the records of a log, in their order."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._offsets, self._names = array("q"), array("H")

    def observe(self, replay: MetadataReplay, name: str, data: Fields, offset: int, timestamp: int) -> None:
        """Take a record."""
        del replay, data, timestamp
        self._offsets.append(offset)
        self._names.append(self._numbers.setdefault(name, len(self._numbers)))

    def since(self, start: int) -> Counter[str]:
        """Return how many records of each name are at an offset or later."""
        names = [*self._numbers]
        rows = zip(self._offsets, self._names, strict=True)
        return Counter(names[number] for offset, number in rows if offset >= start)


def _uncommitted(names: _RecordNames, standing: Quorum) -> MetadataTail | None:
    """Return the uncertain records of the newest copy; None without any, or with a single voter."""
    start, end = standing.committed_to or 0, standing.newest.end
    if start >= end or len(standing.voters) == 1:
        return None
    return MetadataTail(start, end, names.since(start))


def _history(path: MetadataPath, wanted: tuple[str, int], extent: Extent) -> tuple[PartitionChange, ...]:
    history = PartitionHistory()

    def observe(replay: MetadataReplay, name: str, data: Fields, offset: int, timestamp: int) -> None:
        del name, data
        history.observe(replay.registration(*wanted), offset, timestamp)

    read_copy(path.tree, path.path, path.node_id, extent._replace(whole=True), observe, only=path.only)
    if not history.changes:
        raise UsageError(_unknown_partition(wanted, path.path))
    return tuple(history.changes)


def _wanted(every: Iterable[Fetch], wanted: PartitionFilter) -> tuple[Fetch, ...]:
    return tuple(fetch for fetch in every if wanted.has(fetch.topic, fetch.partition))


def partition_named(text: str) -> tuple[str, int]:
    """Return the topic and the number in `TOPIC-N`; UsageError for another text."""
    directory = parse_directory(text)
    if directory is None:
        raise UsageError(f"--changes {text}: write TOPIC-N, such as orders-3")
    return directory.topic, directory.partition


def kraft_paths(arguments: Iterable[str]) -> list[str]:
    """Return the paths with evidence of the Kafka release, without paths of ZooKeeper."""
    return [path for path in arguments if not is_zookeeper(path)]
