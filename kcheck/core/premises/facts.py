"""The facts for the premises of one broker's next start (log dirs, settings and metadata of its cluster)."""

from collections.abc import Mapping
from typing import NamedTuple

from kcheck.core.cluster.copies import LostCopy, MetadataCopy, newest_copy
from kcheck.core.replication.dialogue import Replica
from kcheck.core.replication.log_names import OtherName
from kcheck.core.start.node_settings import ids_of_voters
from kcheck.core.start.startup import Mode
from kcheck.core.tiered.regular_deletion import RegularDeletion
from kcheck.core.tiered.reports import RemoteReport
from kcheck.model.cluster import PROVIDER, BrokerRegistration, ClusterImage, QuorumState, is_reserved
from kcheck.model.entries import Epoch, Offset
from kcheck.model.java import java_int
from kcheck.model.loss import BatchFaults
from kcheck.model.names import CLUSTER_METADATA, PartitionDirectory, TopicPartition
from kcheck.model.premises import PremiseEvidence
from kcheck.model.release import Release
from kcheck.model.remote_log import RemoteLog
from kcheck.model.rights import LogDirRights, ProcessLimits, Volume

MIGRATION = "zookeeper.metadata.migration.enable"


def enables_migration(settings: Mapping[str, str]) -> bool:
    """Return whether the settings of a node enable a migration from ZooKeeper to KRaft."""
    return settings.get(MIGRATION, "").strip().lower() == "true"


class MissingRecords(NamedTuple):
    """Offsets of a log that no segment has any more, though the disk once had them."""

    start: Offset
    """The first of them."""
    end: Offset
    """The offset after the last known one."""
    known_by: str | None = None
    """The file that knows them at the end of the log; None if a later segment follows."""


class MisdatedRecords(NamedTuple):
    """Offsets in segments whose time index ends in an entry that is older than their records."""

    start: Offset
    """The first of them."""
    end: Offset
    """The offset after the last one."""
    timestamp: int
    """The timestamp of that entry, the largest one if there are several segments."""
    is_head: bool
    """True if the log begins with them."""
    newest: int | None = None
    """The timestamp of the newest record, where the entry is in order, but older; else None."""


class ShortLeader(NamedTuple):
    """A replica whose log ends before the offset that a follower fetches first."""

    broker_id: int
    """Its broker."""
    end: Offset
    """Its log end offset."""
    leads: bool
    """True for the leader once all given brokers run; else only if its broker starts first."""


class LogFacts(NamedTuple):
    """The facts about one replica's log for the premises about logs."""

    partition: TopicPartition
    """The partition, by the name of the directory."""
    log_dir: str
    """Its log dir."""
    lost_head: tuple[Offset, Offset] | None = None
    """The first offsets of its epochs and of its log, if its first segments were removed."""
    missing: tuple[MissingRecords, ...] = ()
    """The missing records in the middle and at the end."""
    misdated: tuple[MisdatedRecords, ...] = ()
    """The entries of its time indexes that are too old."""
    topic_id: str | None = None
    """The topic id in partition.metadata; None without one."""
    epoch: Epoch | None = None
    """Its newest leader epoch; None if it has none, or if the broker does not serve it."""
    end: Offset = Offset(0)
    """Its log end offset."""
    unseen_epoch: Epoch | None = None
    """The last epoch of an only replica as leader in the metadata, if no file shows it."""
    is_closed: bool = False
    """True if the broker had closed its last segment before it was killed, as it had begun a newer one."""
    is_emptied: bool = False
    """True if its last segment of several is empty after an unclean stop."""
    loses: bool = False
    """True if its broker loses records at its end."""
    remote: RemoteLog | None = None
    """Its part in remote storage; None if it has none."""
    remote_report: RemoteReport = RemoteReport()
    """The fate of that part if the replica leads afterwards."""
    regular: RegularDeletion | None = None
    """The first pass of retention if the replica leads; None without a remote part, or if not known."""
    start: Offset = Offset(0)
    """Its log start offset."""
    batches: BatchFaults | None = None
    """The faults of its batches; None if they were not read."""
    closed_at: Offset | None = None
    """The log end at the last clean shutdown; None if it was unclean, or without a checkpoint."""
    lacks_snapshot: bool = False
    """True if a clean stop left no producer snapshot at the log end."""
    keys_of: tuple[int, int] | None = None
    """The other partition to which all of its keys belong, and their number; None without one."""
    homeless: tuple[str, ...] = ()
    """Its newest groups or transactional ids that belong to several other partitions."""
    producer_id: int = -1
    """The producer id of its last batch; -1 without one."""
    unread_size: int = 0
    """Number of bytes at its end without a batch. The broker truncates them, and they may hold records."""
    oldest: int | None = None
    """The date of its first segment, in milliseconds, by the time index; None if retention has none or never looks."""
    sizes: tuple[int, ...] = ()
    """The sizes of its segments in bytes, the oldest first; empty for one segment, or if retention never looks."""
    hides: bool = False
    """True if its log start is above 0, and no leader epoch shows who raised that."""
    lacks_epochs: bool = False
    """True if its leader epochs are lost, and nothing else shows the beginning of the log."""
    by_index: bool = False
    """True if an index without its `.log` shows the removed head, as the log has no leader epochs."""
    lower: tuple[Offset, int] | None = None
    """The lowest log start of other replicas, and the broker, if no epoch of this log explains a higher one."""
    replica: Replica | None = None
    """The log as a follower; None for 2.0.1 and later."""
    is_served: bool = True
    """False if the broker renames or deletes the directory on its way up."""
    is_compacted: bool = False
    """True if the log cleaner may write other batches before the last segment."""
    other_name: OtherName | None = None
    """The partition of its records, if that is not the one of its name."""
    short_leader: ShortLeader | None = None
    """The replica of another broker that may lead and then ends this broker."""


class KeylessLog(NamedTuple):
    """A log of a compacted topic that holds records without key, and that was never cleaned."""

    partition: TopicPartition
    """The partition."""
    log_dir: str
    """Its log dir."""
    records: int
    """Number of records that have no key."""
    removed: int
    """Number of them that are not in the active segment."""


class VoterList(NamedTuple):
    """The controllers that elect, by the settings of a node."""

    node_id: int | None
    """The node."""
    path: str
    """The path of its settings."""
    voters: frozenset[int]
    """The ids in their controller.quorum.voters."""


class NodeAddresses(NamedTuple):
    """The addresses of a node."""

    node: int | None
    """The node."""
    addresses: frozenset[str]
    """The hosts and ports of its listeners."""
    path: str | None = None
    """The path of its settings; None for its last registration."""


class Clone(NamedTuple):
    """A log dir of the broker, and a log dir of another given broker with the same identity."""

    path: str
    """The log dir of the broker."""
    other: str
    """The log dir of the other one."""
    says: str
    """The directory.id or the partitions that both have, in words."""
    directory_id: str | None
    """The directory.id that both have; None if only their partitions are the same."""
    is_one: bool
    """True if both are given as the same broker."""


class StoreFile(NamedTuple):
    """A store of keys or certificates, on the host of the broker."""

    setting: str
    """The name of the setting."""
    path: str
    """Its path."""
    fault: str | None = None
    """The reason why brokers refuse the file; None if they load this file."""


class LogDirFacts(NamedTuple):
    """A log dir that the broker uses when it starts."""

    path: str
    """Its path, as the settings or the user name it."""
    is_there: bool = True
    """True if the directory exists."""
    is_given: bool = True
    """False if the settings list the log dir, and the user does not name the path."""
    is_named: bool = True
    """False if the broker does not load it, as its settings name another log dir here instead."""
    resolved: str | None = None
    """The target of a relative path from the current directory; None for any other."""
    listed: str | None = None
    """The entry of log.dirs with another path for this copy; None if the settings name this path."""
    is_readable: bool = True
    """True if kcheck could list it and read its meta.properties."""
    identity: Mapping[str, str] | None = None
    """The entries of meta.properties; None without the file, or if it has no entry that counts."""
    directories: tuple[PartitionDirectory, ...] = ()
    """Its partition directories."""
    has_files: bool = False
    """True if a meta.properties, a checkpoint or a marker is there."""
    was_used: bool = False
    """True if a checkpoint or a marker is there, as a broker ran with this log dir."""
    left: frozenset[TopicPartition] = frozenset()
    """The partitions that a checkpoint lists, and that have no directory here."""
    clean: bool = False
    """True if its last shutdown was clean."""
    shutdown_epoch: int | None = None
    """The broker epoch in .kafka_cleanshutdown; None without one."""
    stopped_at: int | None = None
    """The time of that shutdown, in ms since 1970; None if not known."""
    written_at: int | None = None
    """The time of its newest checkpoint or marker, in ms since 1970; None if not known."""
    rights: LogDirRights | None = None
    """The missing permissions of the broker's user in it; None if kcheck cannot see them, as in a store."""
    volume: Volume | None = None
    """Its file system; None if that is not the broker's, as in a store, or on another machine."""
    written: int = 0
    """Number of bytes that the broker certainly adds to it when it starts."""

    @property
    def is_bare(self) -> bool:
        """True without partitions and files of Kafka, as in the mount point of a disk, or on a new disk."""
        return self.is_hollow and self.identity is None and not self.has_files

    @property
    def is_hollow(self) -> bool:
        """True without partitions, formatted or not."""
        return self.is_there and self.is_readable and not self.directories

    @property
    def is_new(self) -> bool:
        """True if formatted, without a file that a broker writes, as after the replacement of a disk."""
        return self.is_hollow and self.identity is not None and not self.was_used

    @property
    def directory_id(self) -> str | None:
        """The directory.id in its meta.properties; None without one."""
        return (self.identity or {}).get("directory.id")

    @property
    def has_metadata_log(self) -> bool:
        """True if `__cluster_metadata-0` is in it."""
        return any(directory.topic == CLUSTER_METADATA for directory in self.directories)

    @property
    def version(self) -> int | None:
        """The version in meta.properties: 0 of a ZooKeeper broker, 1 of a KRaft node; None without the file."""
        return None if self.identity is None else java_int(self.identity.get("version", "0").strip()) or 0

    @property
    def node_id(self) -> int | None:
        """The node.id or broker.id in meta.properties; None if it has none."""
        identity = self.identity or {}
        return java_int((identity.get("node.id") or identity.get("broker.id") or "").strip())


class BrokerFacts(NamedTuple):
    """A broker that is about to start."""

    broker_id: int | None
    """Its id, from the user, the settings or the disk."""
    release: Release
    """Its Kafka release."""
    mode: Mode
    """The place of the cluster's metadata."""
    log_dirs: tuple[LogDirFacts, ...]
    """Its log dirs."""
    config: Mapping[str, str] | None = None
    """Its server.properties; None if it is not known."""
    config_path: str | None = None
    """The path of that file."""
    defined: frozenset[str] = frozenset()
    """The settings that the user gives next to that file."""
    refused_line: int | None = None
    """The first line of its settings that no broker reads; None without one."""
    doubled: tuple[str, ...] = ()
    """The entries of log.dirs and metadata.log.dir that are other paths of a log dir of an earlier entry."""
    elsewhere: tuple[str, ...] = ()
    """The entries of log.dirs, all missing, in settings next to other log dirs of the node."""
    begins_in: str | None = None
    """The folder that the relative entries of log.dirs begin in; None if that is the working directory."""
    begins_too: str | None = None
    """Another folder in which relative entries of log.dirs exist; None without one."""
    stores: tuple[StoreFile, ...] | None = None
    """The key stores and trust stores of its listeners; None if another host has them."""
    metadata_log_dir: str | None = None
    """The log dir in which the settings keep the metadata log; None if it is not known."""
    is_complete: bool = True
    """True if `log_dirs` are all log dirs of the broker."""
    clusters: tuple[PremiseEvidence, ...] = ()
    """The cluster ids of the given metadata, with their paths."""
    copies: tuple[MetadataCopy, ...] = ()
    """The copies of the metadata of its cluster."""
    lost_copies: tuple[LostCopy, ...] = ()
    """The log dirs named for their metadata that have none."""
    without_log: frozenset[int] = frozenset()
    """The nodes here whose log dirs have no metadata log."""
    image: ClusterImage | None = None
    """The metadata of the newest copy, or of ZooKeeper; None without any."""
    image_path: str | None = None
    """The path of that metadata."""
    is_expected: bool | None = None
    """True if the only given cluster knows the broker; None without its metadata."""
    chroot: str | None = None
    """The chroot of that metadata in ZooKeeper; None without a topic, or if they are not a server's files."""
    logs: tuple[LogFacts, ...] = ()
    """The logs of its replicas that the broker loads; empty without a prediction."""
    stopped: frozenset[int] = frozenset()
    """The nodes given next to it that do not start, or controllers whose settings lead to another node's disk."""
    absent_remote: Mapping[TopicPartition, RemoteLog] = {}
    """The remote parts of replicas without a directory."""
    keyless_logs: tuple[KeylessLog, ...] | None = None
    """The logs with records that the cleaner deletes at its first run; None if kcheck did not look."""
    registered_at: int | None = None
    """Its last registration at ZooKeeper, in ms since 1970; None if not known."""
    asked_at: int | None = None
    """Its last change at ZooKeeper, in ms since 1970; None if not known."""
    created_at: Mapping[str, int] = {}
    """The last creations of topics in ZooKeeper, in ms since 1970, as far as they are known."""
    closed_session: bool = False
    """True if its last session at ZooKeeper ended by a request, as at the end of a clean stop."""
    elected: QuorumState | None = None
    """Its own quorum-state."""
    voter_lists: tuple[VoterList, ...] = ()
    """The lists in the settings of other controllers, next to their log dirs."""
    controller_config: Mapping[str, str] | None = None
    """The settings of one of them; None if they are not known."""
    controller_ports: Mapping[int, frozenset[str]] = {}
    """The ports of the listeners in the settings of other controllers, by node."""
    addresses: tuple[NodeAddresses, ...] = ()
    """The addresses that nodes registered, then those in the given settings of other nodes."""
    clones: tuple[Clone, ...] = ()
    """The log dirs of other given brokers with the identity of one of its own."""
    limits: ProcessLimits = ProcessLimits()
    """The limits of its process."""

    def setting(self, name: str) -> str | None:
        """Return a setting without surrounding spaces; None if it is missing, empty or not known."""
        value = "" if self.config is None else self.config.get(name, "").strip()
        return value or None

    @property
    def has_metadata_of_others(self) -> bool:
        """True if a copy of the metadata shows the present cluster, not an earlier one.

        A copy that ends before the last registration in the broker's own copy shows nothing of the last run. The epoch
        of a broker is the offset of that record (ClusterControlManager.registerBroker).
        """
        own = next((copy for copy in self.copies if copy.node_id == self.broker_id), None)
        broker = None if own is None or self.broker_id is None else own.image.brokers.get(self.broker_id)
        registered = -1 if broker is None or broker.epoch is None else broker.epoch
        return any(
            copy.is_only_voter if copy.node_id == self.broker_id else copy.end > registered for copy in self.copies
        )

    @property
    def damaged_copies(self) -> tuple[LostCopy, ...]:
        """The named metadata that cannot be read, and that decide nothing."""
        return tuple(copy for copy in self.lost_copies if copy.damage is not None)

    @property
    def newest(self) -> MetadataCopy | None:
        """The newest copy of the metadata of its cluster; None without any."""
        return newest_copy(self.copies)

    @property
    def registration(self) -> BrokerRegistration | None:
        """The broker's registration in the newest copy; None without one."""
        return None if self.newest is None or self.broker_id is None else self.newest.image.brokers.get(self.broker_id)

    @property
    def registered_ids(self) -> frozenset[str]:
        """The ids of the log dirs that the broker registered; none without a registration."""
        registered = () if self.registration is None else self.registration.log_dirs
        return frozenset(number for number in registered if not is_reserved(number))

    @property
    def directory_ids(self) -> frozenset[str | None]:
        """The ids of these log dirs; None among them if one has no id."""
        return frozenset(log_dir.directory_id for log_dir in self.log_dirs)

    @property
    def has_all(self) -> bool:
        """True if these are all log dirs.

        The registration shows that only if a log dir is empty. Other log dirs may be copies of some partitions.
        """
        known = self.registered_ids
        hollow = sum(log_dir.is_hollow for log_dir in self.log_dirs)
        is_registered = bool(hollow and known and known <= self.directory_ids)
        return self.is_complete or is_registered or len(known) <= len(self.log_dirs) == hollow

    @property
    def roles(self) -> frozenset[str]:
        """The roles in process.roles; none if they are not known."""
        setting = self.setting("process.roles") or ""
        roles = [] if PROVIDER in setting else setting.split(",")
        return frozenset(role.strip() for role in roles) - {""}

    @property
    def emptied(self) -> frozenset[int]:
        """The nodes that are given, and whose log dirs have no metadata log."""
        named = {copy.node_id for copy in self.lost_copies if copy.is_place and copy.damage is None}
        return self.without_log | frozenset(number for number in named if number is not None)

    @property
    def election_settings(self) -> Mapping[str, str]:
        """The settings of a controller, which are its own or another one's; empty if not known."""
        elects = self.mode is Mode.ZOOKEEPER or "controller" in self.roles
        return (self.config if elects else self.controller_config) or {}

    @property
    def configured_voters(self) -> frozenset[int]:
        """The ids in controller.quorum.voters; none if it is not set."""
        return ids_of_voters(self.setting("controller.quorum.voters") or "")

    @property
    def voters(self) -> frozenset[int]:
        """The electing controllers, by the newest copy of the metadata, or else by the settings; empty if not known."""
        return self.configured_voters if self.newest is None or not self.newest.voters else self.newest.voters

    @property
    def name(self) -> str:
        """The broker in a sentence."""
        return "the broker" if self.broker_id is None else f"broker {self.broker_id}"
