"""Which releases of Kafka can have written the files of a broker: the one table of evidence.

A file stays when its broker is upgraded. So what a release leaves for good proves only that some broker at least this
new wrote here. Evidence bounds a release from above only where every later broker, at its start, writes what is absent
here, or writes it differently. If the two contradict each other, what is there wins: what is absent can be lost.
"""

from bisect import bisect
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple

from kcheck.core.releases import NEWEST_TESTED, lines
from kcheck.model.evidence import Reason, ReleaseEvidence


class EvidenceKind(StrEnum):
    """What the files of a broker can show. The value is what an answer calls it."""

    REGISTRATION = "broker registrations in __cluster_metadata-0"
    NO_METADATA_VERSION = "no metadata.version in __cluster_metadata-0"
    FEATURE_LEVEL = "metadata.version level"
    METADATA_LOG = "__cluster_metadata-0"
    PREVIEW_LOG = "@metadata-0"
    BOOTSTRAP = "bootstrap.checkpoint"
    QUORUM_STATE = "quorum-state version 1"
    NODE_ID = "node.id in meta.properties"
    BROKER_ID = "broker.id in meta.properties"
    DIRECTORY_ID = "directory.id"
    NO_DIRECTORY_ID = "no directory.id"
    NO_DIRECTORY_ID_IN_KRAFT = "no directory.id beside node.id"
    CLUSTER_ID = "cluster.id"
    NO_CLUSTER_ID = "no cluster.id"
    BROKER_EPOCH = "broker epoch in .kafka_cleanshutdown"
    EMPTY_MARKER = "empty .kafka_cleanshutdown"
    TOPIC_ID = "topic ids"
    NO_TOPIC_ID = "no topic ids"
    LEADER_EPOCHS = "leader-epoch-checkpoint"
    NO_LEADER_EPOCHS = "no leader-epoch-checkpoint"
    LOG_START = "log-start-offset-checkpoint"
    STRAY = "-stray directories"
    FUTURE = "-future directories"
    DELETED = "-delete directories"


class EvidenceRow(NamedTuple):
    """The lines of releases that a piece of evidence fits."""

    first: str | None
    """The first line; None for any."""
    last: str | None
    """The last line; None for any."""
    why: str
    """What brokers do that makes it evidence."""
    reference: str
    """Kafka's class or proposal."""


_E = EvidenceKind

TABLE: dict[EvidenceKind, EvidenceRow] = {
    _E.REGISTRATION: EvidenceRow(
        "3.3", None, "At each start a node registers the lowest and highest metadata.version of its software.",
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
    _E.NODE_ID: EvidenceRow("2.8", None, "Only KRaft nodes have version 1 of meta.properties.", "MetaProperties"),
    _E.BROKER_ID: EvidenceRow("0.9.0", None, "A broker writes meta.properties at its first start.", "KAFKA-1070"),
    _E.DIRECTORY_ID: EvidenceRow("3.7", None, "A KRaft or migrating broker adds it at its start.", "KIP-858"),
    _E.NO_DIRECTORY_ID: EvidenceRow(
        None, "3.9", "Only a ZooKeeper broker that does not migrate leaves it out.", "KafkaServer"
    ),
    _E.NO_DIRECTORY_ID_IN_KRAFT: EvidenceRow(None, "3.6", "A KRaft node adds it at its start.", "KafkaRaftServer"),
    _E.CLUSTER_ID: EvidenceRow("2.4", None, "A broker writes it to meta.properties at its start.", "KAFKA-7335"),
    _E.NO_CLUSTER_ID: EvidenceRow(None, "2.3", "A broker adds it at its start.", "KAFKA-7335"),
    _E.BROKER_EPOCH: EvidenceRow("3.7", None, "A clean shutdown writes it.", "CleanShutdownFileHandler"),
    _E.EMPTY_MARKER: EvidenceRow(
        None, "3.6", "A clean shutdown writes an empty file, and each start removes it.", "LogManager"
    ),
    _E.TOPIC_ID: EvidenceRow("2.8", None, "A broker writes partition.metadata.", "KIP-516"),
    _E.NO_TOPIC_ID: EvidenceRow(
        None, "2.7", "A ZooKeeper broker writes partition.metadata for every partition that it serves.", "KIP-516"
    ),
    _E.LEADER_EPOCHS: EvidenceRow("0.11.0", None, "A broker creates it with each log.", "KIP-101"),
    _E.NO_LEADER_EPOCHS: EvidenceRow(
        None, "0.10.2", "No partition has it, and the log dir has no log-start-offset-checkpoint.", "KIP-101"
    ),
    _E.LOG_START: EvidenceRow("0.11.0", None, "A broker writes it once a minute, and when it stops.", "KIP-107"),
    _E.STRAY: EvidenceRow("3.6", None, "A broker renames stray replicas.", "LogManager"),
    _E.FUTURE: EvidenceRow("1.1", None, "A replica moves to another log dir.", "KIP-113"),
    _E.DELETED: EvidenceRow("0.10.2", None, "A broker renames a directory before it deletes it.", "KAFKA-1911"),
}  # fmt: skip
"""Every kind of evidence. The records of REGISTRATION and FEATURE_LEVEL name levels, which give narrower ranges."""

_FIRST_LEVELS = (
    (1, "3.0"), (2, "3.1"), (3, "3.2"), (4, "3.3"), (8, "3.4"), (9, "3.5"), (12, "3.6"), (15, "3.7"), (20, "3.8"),
    (21, "3.9"), (22, "4.0"), (26, "4.1"), (28, "4.2"), (30, "4.3"), (31, "4.4"),
)  # fmt: skip
"""The first metadata.version level of each line (MetadataVersion 3.3 to 4.3.1)."""
_KRAFT_ONLY_LEVEL = 7
"""The lowest level that 4.0 and later know. 3.9 used the levels 22 and 23 for versions that it never released."""
_LAST_WITH_ZOOKEEPER = "3.9"
_LINES = lines()


class Clue(NamedTuple):
    """A piece of evidence and where it is."""

    evidence: EvidenceKind
    path: str
    broker_id: int | None = None
    first: str | None = None
    """Where a level narrows the range of the table: the first line."""
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
    """What decides it."""


def registered(lowest: int, highest: int) -> str:
    """Return the line of the software that registered these levels of metadata.version."""
    line = line_of_level(highest)
    return line if lowest >= _KRAFT_ONLY_LEVEL or age(line) <= age(_LAST_WITH_ZOOKEEPER) else _LAST_WITH_ZOOKEEPER


def line_of_level(level: int) -> str:
    """Return the first line that knows a metadata.version level."""
    return _FIRST_LEVELS[max(0, bisect([first for first, _ in _FIRST_LEVELS], level) - 1)][1]


def possible(clues: Iterable[Clue]) -> ReleaseRange:
    """Return the lines that the evidence about one broker fits, with the reasons that decide it."""
    reasons = [clue.reason() for clue in clues]
    if not reasons:
        return ReleaseRange()
    lowest = max((reason.first for reason in reasons if reason.first), key=age, default=_LINES[0])
    bounds = [reason.last for reason in reasons if reason.last and age(reason.last) >= age(lowest)]
    highest = min(bounds, key=age, default=_LINES[-1])
    return ReleaseRange(lowest, highest, _deciding(reasons, lowest, highest))


def _deciding(reasons: Iterable[Reason], lowest: str, highest: str) -> tuple[Reason, ...]:
    """Return the reasons for a range, those for its lower end first; of one thing at a broker only the first place."""
    bounds = [reason for reason in reasons if reason.first == lowest or reason.last == highest]
    exact = [reason for reason in bounds if (reason.first, reason.last) == (lowest, highest)]
    ordered = sorted(exact or bounds, key=lambda reason: reason.first != lowest)
    by_source = {(reason.source, reason.broker_id): reason for reason in reversed(ordered)}
    return tuple(reversed(by_source.values()))


def evidence(ranges: Sequence[ReleaseRange], given: str | None = None) -> ReleaseEvidence:
    """Return what the ranges of brokers have in common, and the release to answer for: `given` if the user named one.

    It is the newest tested release of the range. Brokers without a common release get that of the newest one.
    """
    known = [span for span in ranges if span.lowest is not None]
    reasons = tuple(reason for span in known for reason in span.reasons)
    if not known:
        return ReleaseEvidence(None, None, given or NEWEST_TESTED, given is not None, ())
    lows, highs = [span.lowest or "" for span in known], [span.highest or "" for span in known]
    lowest, highest = max(lows, key=age), min(highs, key=age)
    agrees = age(lowest) <= age(highest)
    if agrees:
        reasons = _deciding(reasons, lowest, highest)
    else:
        lowest, highest = min(lows, key=age), max(highs, key=age)
    newest = max(min(highest, NEWEST_TESTED, key=age), lowest, key=age)
    outside = given is not None and not age(lowest) <= age(line_of(given)) <= age(highest)
    return ReleaseEvidence(lowest, highest, given or newest, given is not None, reasons, agrees, outside)


def in_words(said: ReleaseEvidence) -> str:
    """Return in one line for which release an answer holds, and why."""
    lowest, highest, used = said.lowest, said.highest, said.used
    answered = used if said.other is None else used + said.other.words
    if lowest is None:
        return f"Kafka {used} assumed: the files do not say which release wrote them"
    if not said.agrees:
        return f"Kafka {lowest} to {highest}, not one release ({said.sources}); answering for {answered}"
    if lowest == highest:
        return f"Kafka {used} (from {said.sources})"
    span = f"{lowest} or later" if highest == _LINES[-1] else f"{lowest} to {highest} possible"
    return f"Kafka {span} ({said.sources}); answering for {answered}"


def line_of(kafka: str) -> str:
    """Return the line of a known release: 3.9 of 3.9.2."""
    return next(line for line in _LINES if kafka == line or kafka.startswith(line + "."))


def age(line: str) -> int:
    """Return the place of a line among all, from old to new."""
    return _LINES.index(line)
