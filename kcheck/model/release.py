"""A release of Kafka, with the behavior of its line (`kcheck.core.releases.releases`) and each row of `Behaviours`."""

from enum import StrEnum
from typing import NamedTuple

from kcheck.model.behaviours import Behaviours
from kcheck.model.evidence import ReleaseEvidence


class CheckpointReader(StrEnum):
    """The ways to read the text checkpoints (CheckpointFile, OffsetCheckpoint in 0.10.2 and earlier)."""

    R1 = "R1"
    """0.8.2 to 0.9.0: any number that does not parse raises NumberFormatException; the count is of distinct keys."""
    R2 = "R2"
    """0.10: a number that does not parse raises IOException; the count is of distinct keys."""
    R3 = "R3"
    """0.11: the count is of lines; UTF-8, undecodable bytes replaced."""
    R4 = "R4"
    """1.0 to 2.0: as R3; a failed read takes the log dir offline."""
    R5 = "R5"
    """2.1 to 3.0: as R4, UTF-8 strict."""
    R6 = "R6"
    """3.1 and later: NumberFormatException of an entry escapes; a negative or huge count fails when it is read."""


class EpochLoad(StrEnum):
    """The changes of leader-epoch-checkpoint when a log is loaded (LeaderEpochFileCache, LogLoader)."""

    E0 = "E0"
    """Up to 0.10.2: there is no such file."""
    E1 = "E1"
    """0.11 to 2.6 keeps lines unchanged, ends them at the log end, and raises them to the log start.

    The log start is the larger of the log-start checkpoint and the first segment.
    """
    E2 = "E2"
    """2.7 and 2.8: lines replayed through `assign`; otherwise as E1."""
    E3 = "E3"
    """3.0 to 3.9: as E2, but raised to the log-start checkpoint alone."""
    E4 = "E4"
    """4.0 and later: as E3; every log has a cache, whatever its message format."""


class Assign(StrEnum):
    """The treatment of an entry that contradicts the cache, by `LeaderEpochFileCache.assign`."""

    IGNORE = "ignore"
    """Up to 2.0.0: the newcomer is ignored with a warning."""
    FILTER = "filter"
    """2.0.1 to 2.6: every contradicting entry is removed."""
    POP = "pop"
    """2.7 and later: contradicting entries are removed from the end."""


class Lookup(StrEnum):
    """The variants of `LeaderEpochFileCache.endOffsetFor`."""

    L1A = "L1a"
    """Offset only; an undefined epoch asked of an empty cache gives the log end (KAFKA-6857)."""
    L1B = "L1b"
    """Offset only."""
    L2 = "L2"
    """2.0.0: with the epoch (KIP-279); an epoch below the earliest is undefined."""
    L3 = "L3"
    """2.0.1 and later: an epoch below the earliest ends where the earliest starts (KAFKA-7415)."""


class Follower(StrEnum):
    """The ways in which a follower finds its truncation offset."""

    HIGH_WATERMARK = "high_watermark"
    KIP101 = "kip101"
    KIP279 = "kip279"
    FETCH = "fetch"


class Profile(StrEnum):
    """A named combination of lookup, follower and election behavior."""

    P0 = "P0"
    P1A = "P1a"
    P1B = "P1b"
    P2 = "P2"
    P3 = "P3"
    P4 = "P4"
    P4V0 = "P4v0"
    P5 = "P5"
    P5_280 = "P5_280"


class HashTable(StrEnum):
    """The collection of producers in a release, which gives the order in a snapshot."""

    SCALA_2_12 = "scala-2.12"
    """scala.collection.mutable.HashMap of Scala 2.11 and 2.12."""
    SCALA_2_13 = "scala-2.13"
    """scala.collection.mutable.HashMap of Scala 2.13."""
    JAVA = "java"
    """java.util.HashMap, filled by put."""
    JAVA_COMPUTED = "java-computed"
    """java.util.HashMap, filled by computeIfAbsent."""


class ProfileRules(NamedTuple):
    """The behavior of a profile (KIP-101, KIP-279, KAFKA-7415, KAFKA-10706, KIP-595's truncation on fetch)."""

    lookup: Lookup
    """The answer of the leader to OffsetsForLeaderEpoch."""
    follower: Follower
    """The way in which the follower finds its truncation offset."""
    reply_carries_epoch: bool = True
    """True if the reply of the leader names an epoch next to the offset (KIP-279)."""
    assigns_epoch_at_election: bool = False
    """True if a new leader adds its epoch at once, not with its first batch (KAFKA-7415)."""
    noop_truncation_cleans_cache: bool = False
    """True if a truncation without removed records still removes epochs at the log end (KAFKA-10706)."""
    checks_log_start_before_divergence: bool = True
    """True if a fetch below the leader's log start is out of range even where the epochs diverge (KAFKA-12996)."""


class _Fields(NamedTuple):
    name: str
    """The version as it was asked for."""
    version: tuple[int, ...]
    """The exact release, or the newest of its line if only a line was named. Only module `behaviour` compares it."""
    profile: Profile
    """The behavior of a follower and its leader until their logs agree."""
    rules: ProfileRules
    """The behavior of that profile, with the changes by `--ibp`."""
    lookup: Lookup | None
    """The answer of a leader to OffsetsForLeaderEpoch; None if the leader does not know the request."""
    reader: CheckpointReader
    """The way in which it reads the text checkpoints."""
    epoch_load: EpochLoad
    """The changes of leader-epoch-checkpoint when it loads a log."""
    assign: Assign
    """The treatment of an entry that contradicts the epoch cache."""
    epoch_cache: bool
    """True if a log has an epoch cache. In some releases that depends on its message format."""
    metadata_version_max: int | None = None
    """The newest metadata.version that it knows, where it refuses newer ones."""
    evidence: ReleaseEvidence | None = None
    """The evidence of the files about the release; None if they were not read for it."""


class Release(_Fields, Behaviours):
    """One release of Kafka, as `--kafka`, `--ibp` and `--message-format` select it, with every behavior."""

    def __repr__(self) -> str:
        """Return its name: the behaviors would fill a screen."""
        return f"Release({self.name!r})"

    def __getstate__(self) -> None:
        """Leave out cached behaviors, because they are not part of the value."""

    @property
    def producer_table(self) -> HashTable:
        """The collection that orders the producers of a snapshot."""
        if self.has_scala_2_12_maps:
            return HashTable.SCALA_2_12
        return HashTable.JAVA if self.snapshots_java_maps else HashTable.SCALA_2_13

    @property
    def replay_table(self) -> HashTable:
        """The collection that orders the producers that a replay finds in a segment."""
        if self.has_scala_2_12_maps:
            return HashTable.SCALA_2_12
        return HashTable.JAVA_COMPUTED if self.replays_java_maps else HashTable.SCALA_2_13
