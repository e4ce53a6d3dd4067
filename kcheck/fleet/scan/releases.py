"""Finds the release of each broker of a fleet, from its files, or the inventory."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from kcheck.core.releases.release_evidence import Clue, EvidenceKind, ReleaseRange, evidence, line_of, possible
from kcheck.core.releases.releases import release as release_of
from kcheck.model.evidence import AUTO, ReleaseEvidence
from kcheck.model.release import Release

if TYPE_CHECKING:
    from kcheck.fleet.scan.identify import Identified, ScanOptions


class ReleaseOptions(NamedTuple):
    """The user's options for every broker with a release from its files."""

    ibp: str | None = None
    message_format: str | None = None

    def release(self, name: str) -> Release:
        """Return the release of this name with the user's options; UsageError if they do not fit."""
        return release_of(name, ibp=self.ibp, message_format=self.message_format)


class BrokerKafka(NamedTuple):
    """The release for a broker, and the range of lines that its files fit; None if unknown."""

    used: str
    lowest: str | None
    highest: str | None
    sources: str
    """The deciding evidence of the range, in words."""

    @property
    def row(self) -> tuple[str | None, str | None, str | None, str | None]:
        """The columns of the table `log_dirs`."""
        return self.used, self.lowest, self.highest, self.sources or None


def clues_text(clues: Iterable[Clue]) -> tuple[tuple[str | None, ...], ...]:
    """Return clues as values that JSON keeps; a range needs neither their paths nor their broker."""
    return tuple((str(clue.evidence), clue.first, clue.last) for clue in dict.fromkeys(clues))


def with_releases(log_dirs: "Sequence[Identified]", how: "ScanOptions") -> "tuple[list[Identified], ScanOptions]":
    """Return log dirs with the release of their broker, and the releases for the replicas of each cluster.

    The release comes from the inventory, or else from all log dirs of the broker.
    """
    if how.auto is None:
        return [*log_dirs], how
    by_broker: dict[tuple[str, str], list[Identified]] = {}
    for log_dir in log_dirs:
        by_broker.setdefault(log_dir.group, []).append(log_dir)
    known = {group: _of_broker(own) for group, own in by_broker.items()}
    ends = _of_clusters((own[0].cluster, known[group]) for group, own in by_broker.items())
    is_plain = how.auto == ReleaseOptions()
    compared_for = ends if is_plain else {cluster: names[:1] for cluster, names in ends.items()}
    return (
        [log_dir._replace(clues=(), kafka=known[log_dir.group]) for log_dir in log_dirs],
        how._replace(compared_for=tuple(compared_for.items())),
    )


def used_of(clues: Iterable[tuple[str | None, ...]]) -> str:
    """Return the release that clues of `clues_text` prove, taken alone."""
    return _proved(clues).used


def _proved(clues: Iterable[tuple[str | None, ...]]) -> ReleaseEvidence:
    of_text = (Clue(EvidenceKind(kind or ""), "", None, first, last) for kind, first, last in dict.fromkeys(clues))
    return evidence((possible(of_text),))


def _of_broker(log_dirs: "Sequence[Identified]") -> BrokerKafka:
    named = next((log_dir.kafka_named for log_dir in log_dirs if log_dir.kafka_named is not None), None)
    if named is not None:
        return BrokerKafka(named, line_of(named), line_of(named), "the inventory")
    proved = _proved(chain.from_iterable(log_dir.clues for log_dir in log_dirs))
    return BrokerKafka(proved.used, proved.lowest, proved.highest, proved.sources)


def _of_clusters(brokers: Iterable[tuple[str | None, BrokerKafka]]) -> dict[str | None, tuple[str, ...]]:
    by_cluster: dict[str | None, dict[BrokerKafka, None]] = {}
    for cluster, kafka in brokers:
        by_cluster.setdefault(cluster, {})[kafka] = None
    return {cluster: common_releases(tuple(own)) for cluster, own in by_cluster.items()}


def common_releases(brokers: Sequence[BrokerKafka]) -> tuple[str, ...]:
    """Return the release for the replicas of brokers, and the other end of their common range, if any."""
    common = common_evidence(brokers)
    return (common.used,) if common.lowest in (None, common.used) else (common.used, common.lowest or common.used)


def common_evidence(brokers: Sequence[BrokerKafka]) -> ReleaseEvidence:
    """Return the range of releases of brokers, and the release for which their replicas are compared."""
    used = {kafka.used for kafka in brokers}
    proved = evidence([ReleaseRange(kafka.lowest, kafka.highest) for kafka in brokers])
    if len(used) > 1 or proved.lowest is None:
        return proved
    (name,) = used or {proved.used}
    return proved._replace(used=name, lowest=name if proved.lowest == proved.used else proved.lowest)


def counted(log_dirs: "Iterable[Identified]", how: "ScanOptions") -> Mapping[str, int]:
    """Return how many brokers are looked at for each release."""
    brokers = {log_dir.group: log_dir.used or how.release.name for log_dir in log_dirs}
    return dict(sorted(Counter(brokers.values()).items()))


def kafka_of(how: "ScanOptions") -> str:
    """Return the name of a run's release."""
    return how.release.name if how.auto is None else AUTO
