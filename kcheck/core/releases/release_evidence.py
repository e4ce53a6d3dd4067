"""The releases of Kafka that can have written the files of a broker, in one table of evidence.

A file stays when its broker is upgraded. So lasting traces of a release prove only that a broker at least this new
wrote here. Missing or different data bounds a release from above only if every later broker writes it when it starts.
If the two contradict each other, present files win, as absent ones can be lost.
"""

import re
from bisect import bisect
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple

from kcheck.core.releases.releases import NEWEST_TESTED, lines
from kcheck.core.releases.releases import TABLE as RELEASES
from kcheck.model.evidence import Reason, ReleaseEvidence


class EvidenceKind(StrEnum):
    """The kind of evidence in the files of a broker. Answers use the value."""

    REGISTRATION = "broker registrations in __cluster_metadata-0"
    NO_METADATA_VERSION = "no metadata.version in __cluster_metadata-0"
    FEATURE_LEVEL = "metadata.version level"
    METADATA_LOG = "__cluster_metadata-0"
    PREVIEW_LOG = "@metadata-0"
    BOOTSTRAP = "bootstrap.checkpoint"
    QUORUM_STATE = "quorum-state version 1"
    ZERO_SNAPSHOT = "snapshot of a formatted dynamic quorum"
    ZERO_RECORDS = "metadata.version in the snapshot of a formatted directory"
    NODE_ID = "node.id in meta.properties"
    BROKER_ID = "broker.id in meta.properties"
    DIRECTORY_ID = "directory.id"
    NO_DIRECTORY_ID = "no directory.id"
    NO_DIRECTORY_ID_IN_KRAFT = "no directory.id next to node.id"
    CLUSTER_ID = "cluster.id"
    NO_CLUSTER_ID = "no cluster.id"
    BROKER_EPOCH = "broker epoch in .kafka_cleanshutdown"
    EMPTY_MARKER = "empty .kafka_cleanshutdown"
    TOPIC_ID = "topic ids"
    LEADER_EPOCHS = "leader-epoch-checkpoint"
    NO_LEADER_EPOCHS = "no leader-epoch-checkpoint"
    LOG_START = "log-start-offset-checkpoint"
    STRAY = "-stray directories"
    FUTURE = "-future directories"
    DELETED = "-delete directories"
    TRANSACTION_TOPIC = "__transaction_state"
    REMOTE_TOPIC = "__remote_log_metadata"
    SHARE_TOPIC = "__share_group_state"
    REMOTE_CACHE = "remote-log-index-cache"
    REMOTE_INDEX = "indexes in remote-log-index-cache"
    REMOTE_OFFSETS = "_rlmm_committed_offsets"
    REMOTE_SNAPSHOT = "remote_log_snapshot"
    TIME_INDEX = ".timeindex files"
    NO_TIME_INDEX = "no .timeindex files"
    PRODUCER_SNAPSHOT = "producer snapshots"
    DELETED_SNAPSHOT = ".snapshot.deleted files"
    TRANSACTION_INDEX = ".txnindex files"
    MAGIC_1 = "messages of version 1"
    MAGIC_2 = "batches of version 2"
    ZSTD = "zstd batches"
    OFFSET_V2 = "OffsetCommitValue version 2"
    GROUP_V3 = "GroupMetadataValue version 3"
    GROUP_V4 = "group records of version 4"
    CONSUMER_GROUP = "consumer group records"
    SHARE_GROUP = "share group records"
    STREAMS_GROUP = "streams group records"
    TRANSACTION_V1 = "TransactionLogValue version 1"
    PROCESS_ROLES = "process.roles in server.properties"
    NO_PROCESS_ROLES = "no process.roles in server.properties"
    PROTOCOL = "inter.broker.protocol.version in server.properties"
    BROKER_LOG = "the broker's log"


class EvidenceRow(NamedTuple):
    """The lines of releases that a piece of evidence fits."""

    first: str | None
    """The first line; None for any."""
    last: str | None
    """The last line; None for any."""
    why: str
    """The reason why it is evidence."""
    reference: str
    """Kafka's class or proposal."""


_E = EvidenceKind

TABLE: dict[EvidenceKind, EvidenceRow] = {
    _E.REGISTRATION: EvidenceRow(
        "3.3", None, "When it starts, a node registers the lowest and highest metadata.version of its software.",
        "RegisterBrokerRecord, RegisterControllerRecord",
    ),
    _E.NO_METADATA_VERSION: EvidenceRow(
        "3.0", "3.2", "A metadata log of which no record names metadata.version: no node registered one.", "KIP-778"
    ),
    _E.FEATURE_LEVEL: EvidenceRow(
        "3.3", None, "Every node of a cluster knows the level that the cluster has.", "FeatureLevelRecord"
    ),
    _E.METADATA_LOG: EvidenceRow("3.0", None, "Every KRaft node has the metadata log.", "KIP-500"),
    _E.PREVIEW_LOG: EvidenceRow("2.8", "2.8", "The preview of KRaft has another name for it.", "KIP-500"),
    _E.BOOTSTRAP: EvidenceRow("3.3", None, "kafka-storage format writes it.", "BootstrapDirectory"),
    _E.QUORUM_STATE: EvidenceRow("3.9", None, "A node writes it with kraft.version 1.", "KIP-853"),
    _E.ZERO_SNAPSHOT: EvidenceRow(
        "3.9", None, "kafka-storage format writes 00000000000000000000-0000000000.checkpoint.", "KIP-853"
    ),
    _E.ZERO_RECORDS: EvidenceRow(
        "4.4", None, "kafka-storage format writes the first records there; before, bootstrap.checkpoint has them.",
        "KIP-1170",
    ),
    _E.NODE_ID: EvidenceRow("2.8", None, "Only KRaft nodes have version 1 of meta.properties.", "MetaProperties"),
    _E.BROKER_ID: EvidenceRow("0.9.0", None, "A broker writes meta.properties at its first start.", "KAFKA-1070"),
    _E.DIRECTORY_ID: EvidenceRow("3.7", None, "A KRaft or migrating broker adds it when it starts.", "KIP-858"),
    _E.NO_DIRECTORY_ID: EvidenceRow(
        None, "3.9", "Only a ZooKeeper broker that does not migrate leaves it out.", "KafkaServer"
    ),
    _E.NO_DIRECTORY_ID_IN_KRAFT: EvidenceRow(None, "3.6", "A KRaft node adds it when it starts.", "KafkaRaftServer"),
    _E.CLUSTER_ID: EvidenceRow("2.4", None, "A broker writes it to meta.properties when it starts.", "KAFKA-7335"),
    _E.NO_CLUSTER_ID: EvidenceRow(None, "2.3", "A broker adds it when it starts.", "KAFKA-7335"),
    _E.BROKER_EPOCH: EvidenceRow("3.7", None, "A clean shutdown writes it.", "CleanShutdownFileHandler"),
    _E.EMPTY_MARKER: EvidenceRow(
        None, "3.6", "A clean shutdown writes an empty file, and the next start removes it.", "LogManager"
    ),
    _E.TOPIC_ID: EvidenceRow("2.8", None, "A broker writes partition.metadata.", "KIP-516"),
    _E.LEADER_EPOCHS: EvidenceRow("0.11.0", None, "A broker creates it with each log.", "KIP-101"),
    _E.NO_LEADER_EPOCHS: EvidenceRow(
        None, "0.10.2", "No partition has it, and the log dir has no log-start-offset-checkpoint.", "KIP-101"
    ),
    _E.LOG_START: EvidenceRow("0.11.0", None, "A broker writes it once a minute, and when it stops.", "KIP-107"),
    _E.STRAY: EvidenceRow("3.6", None, "A broker renames stray replicas.", "LogManager"),
    _E.FUTURE: EvidenceRow("1.1", None, "A replica moves to another log dir.", "KIP-113"),
    _E.DELETED: EvidenceRow("0.10.2", None, "A broker renames a directory before it deletes it.", "KAFKA-1911"),
    _E.TRANSACTION_TOPIC: EvidenceRow("0.11.0", None, "A broker creates it for transactions.", "KIP-98"),
    _E.REMOTE_TOPIC: EvidenceRow(
        "3.5", None, "A broker with remote storage creates it.", "TopicBasedRemoteLogMetadataManager"
    ),
    _E.SHARE_TOPIC: EvidenceRow("4.0", None, "A broker creates it for share groups.", "AutoTopicCreationManager"),
    _E.REMOTE_CACHE: EvidenceRow(
        "3.5", None, "A broker with remote storage keeps indexes of remote segments.", "RemoteIndexCache"
    ),
    _E.REMOTE_INDEX: EvidenceRow(
        "3.6", None, "They are named like 0_<id>.index; in 3.5 like 0_<id>_.index.", "RemoteIndexCache"
    ),
    _E.REMOTE_OFFSETS: EvidenceRow("3.1", None, "3.1 to 3.5 kept it for remote storage.", "CommittedOffsetsFile"),
    _E.REMOTE_SNAPSHOT: EvidenceRow(
        "3.1", None, "3.1 to 3.7 kept it for remote storage.", "RemoteLogMetadataSnapshotFile"
    ),
    _E.TIME_INDEX: EvidenceRow("0.10.1", None, "A broker creates it with each segment.", "KIP-33"),
    _E.NO_TIME_INDEX: EvidenceRow(None, "0.10.0", "A broker creates it for each segment when it starts.", "KIP-33"),
    _E.PRODUCER_SNAPSHOT: EvidenceRow("0.11.0", None, "A broker writes it with each new segment.", "KIP-98"),
    _E.DELETED_SNAPSHOT: EvidenceRow(
        "3.0", None, "A broker renames a producer snapshot before it deletes it.", "ProducerStateManager"
    ),
    _E.TRANSACTION_INDEX: EvidenceRow("0.11.0", None, "A broker writes it for aborted transactions.", "KIP-98"),
    _E.MAGIC_1: EvidenceRow("0.10.0", None, "A broker appended them.", "KIP-32"),
    _E.MAGIC_2: EvidenceRow("0.11.0", None, "A broker appended them.", "KIP-98"),
    _E.ZSTD: EvidenceRow("2.1", None, "A broker accepts no zstd before.", "KIP-110"),
    _E.OFFSET_V2: EvidenceRow("2.1", None, "A group coordinator committed offsets.", "GroupMetadataManager"),
    _E.GROUP_V3: EvidenceRow("2.3", None, "A group coordinator wrote static members.", "KIP-345"),
    _E.GROUP_V4: EvidenceRow("3.4", None, "OffsetCommitValue and GroupMetadataValue: 3.3 knows version 3.", "KIP-915"),
    _E.CONSUMER_GROUP: EvidenceRow("3.5", None, "A new group coordinator has a group.", "KIP-848"),
    _E.SHARE_GROUP: EvidenceRow("3.9", None, "A group coordinator has a share group.", "KIP-932"),
    _E.STREAMS_GROUP: EvidenceRow("4.1", None, "A group coordinator has a streams group.", "KIP-1071"),
    _E.TRANSACTION_V1: EvidenceRow("3.4", None, "A transaction coordinator wrote it: 3.3 knows version 0.", "KIP-915"),
    _E.PROCESS_ROLES: EvidenceRow("2.8", None, "Only a KRaft node has roles.", "KIP-500"),
    _E.NO_PROCESS_ROLES: EvidenceRow(None, "3.9", "From 4.0 on no broker starts without.", "KafkaConfig"),
    _E.PROTOCOL: EvidenceRow(None, None, "A broker starts with a version that it knows.", "ApiVersion"),
    _E.BROKER_LOG: EvidenceRow(
        None, None, "A broker writes its version when it starts; the last one counts.", "AppInfoParser"
    ),
}  # fmt: skip
"""Every kind of evidence.

REGISTRATION and FEATURE_LEVEL name levels, PROTOCOL and BROKER_LOG versions. They give narrower ranges.
"""
_OF_SOFTWARE = (_E.BROKER_LOG, _E.REGISTRATION)
"""Evidence of the software of one run; the broker's log is newer than its registration if the two differ."""

_FIRST_LEVELS = tuple((row.level, row.line) for row in RELEASES if row.level is not None)
"""The first metadata.version level of each line."""
_KRAFT_ONLY_LEVEL = 7
"""The lowest level that 4.0 and later know. 3.9 used the levels 22 and 23 for versions that it never released."""
_LAST_WITH_ZOOKEEPER = "3.9"
_LINES = lines()
_OF_CONFLUENT = {row.confluent: row.line for row in RELEASES if row.confluent is not None}
"""The line of Kafka in each line of Confluent Platform."""


class Clue(NamedTuple):
    """A piece of evidence and where it is."""

    evidence: EvidenceKind
    path: str
    broker_id: int | None = None
    first: str | None = None
    """The first line, if a level narrows the range of the table."""
    last: str | None = None
    """Likewise the last one."""

    def reason(self) -> Reason:
        """Return it with the lines that it fits."""
        row = TABLE[self.evidence]
        first, last = self.first or row.first, self.last or row.last
        return Reason(str(self.evidence), self.path, self.broker_id, first, last)


class ReleaseRange(NamedTuple):
    """The lines of releases that the files of one broker fit, `lowest` and `highest` included; None: unknown."""

    lowest: str | None = None
    highest: str | None = None
    reasons: tuple[Reason, ...] = ()
    """Its reasons."""
    contradicts: bool = False
    """True if files are newer than the software that is known to have started last."""


def registered(lowest: int, highest: int) -> str:
    """Return the line of the software that registered these levels of metadata.version."""
    line = line_of_level(highest)
    return line if lowest >= _KRAFT_ONLY_LEVEL or age(line) <= age(_LAST_WITH_ZOOKEEPER) else _LAST_WITH_ZOOKEEPER


def line_of_level(level: int) -> str:
    """Return the first line that knows a metadata.version level."""
    return _FIRST_LEVELS[max(0, bisect([first for first, _ in _FIRST_LEVELS], level) - 1)][1]


def last_line_of_level(level: int) -> str | None:
    """Return the last line that knows a metadata.version level; None if every later line does."""
    return _LAST_WITH_ZOOKEEPER if level < _KRAFT_ONLY_LEVEL else None


def possible(clues: Iterable[Clue]) -> ReleaseRange:
    """Return the lines that the evidence about one broker fits, with the deciding reasons.

    Files can be newer than the last known software. Then the broker was upgraded and has not registered yet, or was
    downgraded, and the range has both.
    """
    clues = tuple(clues)
    reasons = [clue.reason() for clue in clues]
    if not reasons:
        return ReleaseRange()
    lowest = max((reason.first for reason in reasons if reason.first), key=age, default=_LINES[0])
    said = next((clue.reason() for kind in _OF_SOFTWARE for clue in clues if clue.evidence == kind), None)
    if said is not None and said.first and said.last and age(said.last) < age(lowest):
        newer = [reason for reason in reasons if reason.first == lowest]
        return ReleaseRange(said.first, _LINES[-1], (said, newer[0]), contradicts=True)
    bounds = [reason.last for reason in reasons if reason.last and age(reason.last) >= age(lowest)]
    highest = min(bounds, key=age, default=_LINES[-1])
    return ReleaseRange(lowest, highest, _deciding(reasons, lowest, highest))


def _deciding(reasons: Iterable[Reason], lowest: str, highest: str) -> tuple[Reason, ...]:
    """Return the reasons for a range, first for its lower end, with one place for each source and broker."""
    bounds = [reason for reason in reasons if reason.first == lowest or reason.last == highest]
    exact = [reason for reason in bounds if (reason.first, reason.last) == (lowest, highest)]
    ordered = sorted(exact or bounds, key=lambda reason: reason.first != lowest)
    by_source = {(reason.source, reason.broker_id): reason for reason in reversed(ordered)}
    return tuple(reversed(by_source.values()))


def evidence(ranges: Sequence[ReleaseRange], given: str | None = None) -> ReleaseEvidence:
    """Return the common range of brokers, and the release to answer for, which is `given` if the user named one.

    Else it is the newest tested release of the range. Brokers without a common release get the newest one's.
    """
    known = [span for span in ranges if span.lowest is not None]
    reasons = tuple(reason for span in known for reason in span.reasons)
    if not known:
        return ReleaseEvidence(None, None, given or NEWEST_TESTED, given is not None, ())
    lows, highs = [span.lowest or "" for span in known], [span.highest or "" for span in known]
    lowest, highest = max(lows, key=age), min(highs, key=age)
    agrees = age(lowest) <= age(highest)
    contradicts = any(span.contradicts for span in known)
    if agrees and not contradicts:
        reasons = _deciding(reasons, lowest, highest)
    elif not agrees:
        lowest, highest = min(lows, key=age), max(highs, key=age)
    newest = max(min(highest, NEWEST_TESTED, key=age), lowest, key=age)
    outside = given is not None and not age(lowest) <= age(line_of(given)) <= age(highest)
    return ReleaseEvidence(
        lowest, highest, given or newest, given is not None, reasons, agrees and not contradicts, outside
    )


def line_of(kafka: str) -> str:
    """Return the line of a known release: 3.9 of 3.9.2."""
    return next(line for line in _LINES if kafka == line or kafka.startswith(line + "."))


def line_named(version: str) -> str | None:
    """Return the line of a version in a text, as 3.9 of 3.9.2-vendor or of 3.9-IV0; None if unknown."""
    lines = (line for line in _LINES if re.match(re.escape(line) + r"(?![0-9])", version))
    return max(lines, key=len, default=None)


def line_of_software(version: str) -> str | None:
    """Return the line of the version that a broker writes to its log; Confluent's brokers write Confluent's version."""
    number, _, vendor = version.partition("-")
    return _OF_CONFLUENT.get(number.rpartition(".")[0]) if vendor in ("ccs", "ce") else line_named(version)


def age(line: str) -> int:
    """Return the place of a line among all, from old to new."""
    return _LINES.index(line)
