"""`kcheck cluster`: what the controllers know, from the metadata on disk."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from kcheck.core.cluster_copies import MetadataCopy
from kcheck.core.cluster_health import is_stopped
from kcheck.core.cluster_history import PartitionChange, PartitionHistory
from kcheck.core.metadata_replay import Fields, MetadataReplay
from kcheck.core.quorum import Quorum, quorum
from kcheck.core.replica_fetchers import Fetch, fetches
from kcheck.documents.answer import Answer
from kcheck.documents.cluster import (
    broker_rows,
    change_row,
    config_rows,
    controller_rows,
    copy_row,
    fetcher_rows,
    health_row,
    metadata_row,
    partition_row,
    quorum_row,
)
from kcheck.errors import UsageError
from kcheck.model.cluster import ClusterImage
from kcheck.model.finding import Finding
from kcheck.model.names import parse_directory
from kcheck.model.release import Release
from kcheck.model.report import PartitionFilter, Report
from kcheck.tables import cluster_brokers, cluster_history, cluster_partitions
from kcheck.views.metadata_copy import EVERYTHING, Extent, read_copy
from kcheck.views.metadata_paths import MetadataPath, metadata_paths
from kcheck.views.rule_runner import check_cluster
from kcheck.views.targets import paths_of, replica_targets


class ClusterQuestion(NamedTuple):
    """What is asked of the metadata."""

    at: int | None = None
    """The offset of the last record that counts; None for all."""
    history: tuple[str, int] | None = None
    """The topic and number of the partition whose changes are wanted."""
    fetchers: int | None = None
    """`num.replica.fetchers` of the brokers; None if nobody asks which thread fetches what."""
    brokers: bool = False
    """Whether the one table of the answer is that of the brokers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterReport(Answer):
    """What `kcheck cluster` answers."""

    release: Release
    """The Kafka release that the files are of."""
    cluster_id: str | None
    """The cluster.id; None if no meta.properties is there."""
    quorum: Quorum
    """What the copies prove together."""
    shown: MetadataCopy
    """The copy that the answer is from: the newest, as of the wanted offset."""
    wanted: PartitionFilter
    """The partitions that are shown."""
    question: ClusterQuestion
    """What was asked."""
    changes: tuple[PartitionChange, ...]
    """The changes of the wanted partition."""
    fetches: tuple[Fetch, ...]
    """Which thread fetches what."""
    collected: list[Finding]
    """The findings about the copies."""
    checked: tuple[str, ...]
    """The paths that were read."""

    @property
    def image(self) -> ClusterImage:
        """The metadata."""
        return self.shown.image

    def report(self) -> Report:
        """Return the answer as rows."""
        image, asked = self.image, self.question
        partitions = tuple(
            partition_row(image, topic, number, partition)
            for topic, number, partition in image.partitions()
            if self.wanted.has(topic.name, number)
        )
        body: dict[str, object] = {
            "cluster_id": self.cluster_id,
            "metadata": metadata_row(self.shown, self.quorum.committed_to),
            "stopped": is_stopped(image),
            "health": health_row(partitions),
            "features": dict(sorted(image.features.items())),
            "brokers": broker_rows(image),
            "controllers": controller_rows(image.controllers.values()),
            "partitions": partitions,
            "quorum": quorum_row(self.quorum),
            "copies": tuple(copy_row(copy, self.quorum) for copy in self.quorum.copies),
            "configs": config_rows(image.configs),
            "scram_users": image.scram_users,
            "delegation_tokens": image.delegation_tokens,
            "next_producer_id": image.next_producer_id,
            "migration": image.migration,
        }
        table, columns = "partitions", cluster_partitions.TABLE.columns
        if asked.brokers:
            table, columns = "brokers", cluster_brokers.TABLE.columns
        if asked.history is not None:
            topic, number = asked.history
            body["history"] = tuple(change_row(change, topic, number) for change in self.changes)
            table, columns = "history", cluster_history.TABLE.columns
        if asked.fetchers is not None:
            body["num_replica_fetchers"] = asked.fetchers
            body["fetchers"] = fetcher_rows(self.fetches)
        return Report(
            verb="cluster",
            kafka=self.release.name,
            evidence=self.release.evidence,
            body=body,
            collected=self.collected,
            table=table,
            columns=columns,
            kinds={"partitions": "partition", "brokers": "broker", "controllers": "controller", "copies": "copy",
                   "configs": "config", "history": "change", "fetchers": "fetcher"},
            checked=self.checked,
        )  # fmt: skip


def cluster(
    arguments: list[str], question: ClusterQuestion, *, wanted: PartitionFilter, release: Release
) -> ClusterReport:
    """Return what the copies of the metadata in the paths say.

    UsageError: no metadata in the paths, those of two clusters, an offset or a partition that they do not know.
    """
    targets = replica_targets(arguments)
    paths = metadata_paths(targets)
    copies = [read_copy(path.path, path.node_id, only=path.only) for path in paths]
    standing = quorum(copies)
    newest = next(path for path, copy in zip(paths, copies, strict=True) if copy is standing.newest)
    extent = EVERYTHING if question.at is None else Extent(until=question.at)
    if question.at is not None and question.at >= standing.newest.end:
        raise UsageError(f"--at {question.at}: {standing.newest.path} ends at offset {standing.newest.end}")
    changes: tuple[PartitionChange, ...] = ()
    if question.history is not None:
        changes = _history(newest, question.history, extent)
    shown = standing.newest
    if question.at is not None:
        shown = read_copy(newest.path, newest.node_id, extent, only=newest.only)
        if shown.end <= question.at and shown.problems:
            raise UsageError(f"--at {question.at}: {shown.problems[0].place}: {shown.problems[0].why}")
    return ClusterReport(
        release=release,
        cluster_id=next((path.cluster_id for path in paths if path.cluster_id), None),
        quorum=standing,
        shown=shown,
        wanted=wanted,
        question=question,
        changes=changes,
        fetches=() if question.fetchers is None else _wanted(fetches(shown.image, question.fetchers), wanted),
        collected=[*check_cluster(standing, release)],
        checked=paths_of(targets),
    )


def _history(path: MetadataPath, wanted: tuple[str, int], extent: Extent) -> tuple[PartitionChange, ...]:
    history = PartitionHistory(*wanted)

    def observe(replay: MetadataReplay, name: str, data: Fields, offset: int, timestamp: int) -> None:
        del name, data
        history.observe(replay, offset, timestamp)

    read_copy(path.path, path.node_id, extent._replace(whole=True), observe, only=path.only)
    if not history.changes:
        raise UsageError(f"--history {wanted[0]}-{wanted[1]}: {path.path} knows no such partition")
    return tuple(history.changes)


def _wanted(every: Iterable[Fetch], wanted: PartitionFilter) -> tuple[Fetch, ...]:
    return tuple(fetch for fetch in every if wanted.has(fetch.topic, fetch.partition))


def partition_named(text: str) -> tuple[str, int]:
    """Return the topic and the number in `TOPIC-N`; UsageError for another text."""
    directory = parse_directory(text)
    if directory is None:
        raise UsageError(f"--history {text}: write TOPIC-N, such as orders-3")
    return directory.topic, directory.partition
