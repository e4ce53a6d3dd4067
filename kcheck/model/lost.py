"""Facts about a run of a fleet, for rules (missing things, doubled ids, clusters at stake, older logs)."""

from enum import StrEnum
from typing import NamedTuple

from kcheck.model.finding import Location


class LostKind(StrEnum):
    """The kind of a lost thing."""

    EMPTY = "empty"
    """A log dir without meta.properties and partition directories, perhaps because its disk is not mounted."""
    BROKER = "broker"
    """A broker to which the metadata assigns replicas, without any log dir in the run."""
    REGISTERED = "registered"
    """Log dirs that a broker registered, and and that are not in the run."""
    LOG_DIR = "log-dir"
    """A log dir of an earlier run."""
    PARTITIONS = "partitions"
    """Partition directories of an earlier run, on a broker that still has log dirs."""


class Lost(NamedTuple):
    """A log dir, a broker or partitions that a scan run should have, and lacks."""

    kind: LostKind
    broker_id: int | None = None
    log_dir: str | None = None
    directory_id: str | None = None
    source: str | None = None
    """The copy of the metadata, or the earlier run, that has it; None for an empty log dir."""
    counted: int = 0
    """Replicas of a broker, its registered log dirs, or else partition directories."""
    names: tuple[str, ...] = ()
    """The first partitions, or the ids of log dirs."""


class SharedCluster(NamedTuple):
    """A cluster id that log dirs of several clusters of a run have."""

    cluster_id: str
    clusters: tuple[str, ...]
    """The names of these clusters in the run."""


class SharedBroker(NamedTuple):
    """A broker id that several brokers of a cluster in a run have."""

    broker_id: int
    brokers: tuple[str, ...]
    """The names of these brokers in the run."""


class AtStake(NamedTuple):
    """A cluster that loses committed records, or serves less, if all of its brokers start now."""

    committed: int
    """The committed records that are lost, at most."""
    offline: int
    """The partitions that get no leader."""
    command: str
    """The command that reads the disks, and plans the way out."""
    is_least: bool = False
    """True if the leaders that Kafka elects are not known. The loss is then under the best leaders."""
    words: str = ""
    """The first thing to do, where no loss is counted."""


class WentBack(NamedTuple):
    """A replica whose log ends below its log end in an earlier run, or begins below its log start there."""

    where: Location
    """The directory of the replica."""
    source: str
    """The earlier run."""
    start: int
    """The log start."""
    end: int
    """The log end."""
    was_start: int
    """The log start in the earlier run."""
    was_end: int
    """The log end in the earlier run."""
    topic_id: str | None = None
    """The topic id of the replica."""


RunView = Lost | SharedCluster | SharedBroker | AtStake | WentBack
"""A thing that the rules of a run look at."""
