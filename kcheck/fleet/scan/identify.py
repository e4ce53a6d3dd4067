"""Finds the owner of a log dir, as the first step of a scan of a fleet."""

from contextlib import suppress
from functools import partial
from typing import NamedTuple, Self

from kcheck.core.releases.release_evidence import line_of
from kcheck.disk.paths import join
from kcheck.disk.refusals import asked_twice
from kcheck.disk.tree import Tree, tree_of
from kcheck.fleet.scan.inventory import FleetLogDir
from kcheck.fleet.scan.releases import BrokerKafka, ReleaseOptions, clues_text, used_of
from kcheck.formats import meta_properties
from kcheck.model.depth import Depth
from kcheck.model.finding import Location
from kcheck.model.java import java_int
from kcheck.model.names import (
    CLUSTER_METADATA,
    META_PROPERTIES,
    METADATA_DIRECTORY,
    PARTITION_METADATA,
    parse_directory,
)
from kcheck.model.release import Release
from kcheck.model.report import PartitionFilter
from kcheck.model.unreadable import UnreadableError
from kcheck.views.partition import read_small
from kcheck.views.release_evidence import clues_of_log_dir

_META_SIZE_MAX = 1 << 20


class ScanOptions(NamedTuple):
    """The options of a scan of a fleet.

    `since` is the folder of remembered answers. Unchanged directories are not looked at. `remembers` is true if answers
    are to be remembered. `memory` is the folder for them once the run has one. With `auto` each broker gets the release
    of its files. Then `compared_for` has the releases for the replicas of a cluster. These are the used one and the
    other end of a range. Otherwise all of them are compared for `release`. `other` is the other end of the range of one
    broker.
    """

    depth: Depth
    wanted: PartitionFilter
    release: Release
    since: str | None = None
    remembers: bool = False
    auto: ReleaseOptions | None = None
    compared_for: tuple[tuple[str | None, tuple[str, ...]], ...] = ()
    memory: str | None = None
    other: Release | None = None

    def of(self, kafka: str | None, lowest: str | None = None) -> Self:
        """Return the options for a broker of a release, or of a range down to `lowest`. None: no change."""
        if self.auto is None or kafka is None:
            return self
        is_range = self.auto == ReleaseOptions() and lowest not in (None, line_of(kafka))
        return self._replace(
            release=self.auto.release(kafka), other=self.auto.release(lowest) if is_range and lowest else None
        )

    def of_cluster(self, cluster: str | None) -> tuple[Release, ...]:
        """Return the release that its replicas are compared for, and the other end of a range of releases."""
        names: tuple[str | None, ...] = dict(self.compared_for).get(cluster) or (None,)
        return tuple(self.of(name).release for name in names)


class Identified(NamedTuple):
    """A log dir; `group` identifies its broker, and `broker_id` comes from meta.properties, or the user.

    `holds_metadata` is true if it has a copy of its cluster's metadata. `lacks_topic_id` is true if it has a log
    without a topic id, and the release skips these. `metadata` is the MetadataSource of its cluster as JSON. `kafka` is
    known with all log dirs of the broker. Before that, `clues` come from this log dir, and `kafka_named` from the
    inventory. `is_there` and `is_beside_all` are as in FleetLogDir. `clusters` are paths and ids of its expected
    cluster. They are set if log dirs of one name have different ids. They are also set if the metadata of that cluster
    lists its `directory_id`.
    """

    group: tuple[str, str]
    path: str
    cluster: str | None
    broker: str | None
    broker_id: int | None
    cluster_id: str | None = None
    holds_metadata: bool = False
    lacks_topic_id: bool = False
    metadata: str | None = None
    kafka_named: str | None = None
    clues: tuple[tuple[str | None, ...], ...] = ()
    kafka: BrokerKafka | None = None
    is_there: bool = False
    clusters: tuple[tuple[str, str], ...] = ()
    directory_id: str | None = None
    is_beside_all: bool = False

    @property
    def used(self) -> str | None:
        """The release for its broker; None for the release of the scan."""
        return None if self.kafka is None else self.kafka.used

    @property
    def lowest(self) -> str | None:
        """The lowest release that its broker can have; None if unknown."""
        return None if self.kafka is None else self.kafka.lowest


def identify(log_dir: FleetLogDir, how: ScanOptions) -> Identified:
    """Return the broker of a log dir, given by the user, or else by its meta.properties."""
    return asked_twice(partial(_identify, log_dir, how))


def _identify(log_dir: FleetLogDir, how: ScanOptions) -> Identified:
    where, tree = Location(log_dir=log_dir.path, file=META_PROPERTIES), tree_of(log_dir.path)
    try:
        view = read_small(
            tree.directory(log_dir.path),
            META_PROPERTIES,
            meta_properties.FORMAT,
            where,
            how.release,
            size_max=_META_SIZE_MAX,
        )
        properties = view.parsed.value
    except UnreadableError:  # The finding is that of the look at the log dir.
        properties = meta_properties.MetaProperties({})
    broker_id = properties.broker_id
    if broker_id is None and log_dir.broker is not None:
        said = java_int(log_dir.broker)
        broker_id = said if said is not None and said >= 0 else None
    cluster = properties.properties.get("cluster.id") if log_dir.cluster is None else log_dir.cluster
    broker = log_dir.broker if log_dir.broker is not None or broker_id is None else str(broker_id)
    # As check does: disks of one id side by side are those of one broker, even where one of them is foreign.
    beside = cluster if log_dir.broker is None else None
    around = log_dir.cluster or log_dir.folder or beside or ""
    group = (around, broker or log_dir.path)
    clues = () if how.auto is None else clues_text(clues_of_log_dir(tree, log_dir.path, broker_id))
    own_release = how.release if how.auto is None else how.of(log_dir.kafka or used_of(clues)).release
    is_kraft = own_release.kraft_is_production_ready
    return Identified(
        group, log_dir.path, cluster, broker, broker_id,
        cluster_id=properties.properties.get("cluster.id") or None,
        holds_metadata=is_kraft and tree.is_directory(join(log_dir.path, METADATA_DIRECTORY)),
        lacks_topic_id=is_kraft and own_release.passes_over_logs_without_id and _lacks_topic_id(tree, log_dir.path),
        kafka_named=log_dir.kafka,
        clues=clues,
        is_there=log_dir.is_there,
        directory_id=properties.properties.get("directory.id"),
        is_beside_all=log_dir.is_beside_all,
    )  # fmt: skip


def _lacks_topic_id(tree: Tree, path: str) -> bool:
    """Return whether a partition directory has no partition.metadata."""
    with suppress(UnreadableError):  # The next listing reports the error.
        tree.hold(path)
        for name in tree.listing(path).directories:
            directory = parse_directory(name)
            is_log = directory is not None and directory.topic != CLUSTER_METADATA
            if is_log and not tree_of(join(path, name, PARTITION_METADATA)).exists(
                join(path, name, PARTITION_METADATA)
            ):
                return True
    return False
