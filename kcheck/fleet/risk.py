"""Finds the partitions of a fleet at risk, by errors in replicas, truncations under a leader, and only copies.

A cluster is at stake if starting all brokers loses committed records, or leaves partitions without a leader.
"""

import heapq
import zlib
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

from kcheck.fleet.owners import TopicOwners, with_owner
from kcheck.fleet.run import FleetRun, name_order
from kcheck.model.finding import Severity
from kcheck.model.names import DirectoryState
from kcheck.model.report import Row
from kcheck.words import partition_name

AT_STAKE = "KC507"
"""The rule that reports a cluster that needs a person."""
LEAST = "least_committed"
"""The committed records that a cluster loses at most under the best leaders, in its decision."""
PARTITION_COUNT = 500
"""Partitions that are listed one by one."""
_HELD_COUNT = 250_000
"""Findings that are counted at once, at most; more are read in several passes."""
_AT_RISK = (Severity.FATAL, Severity.ERROR)

Partition = tuple[str | None, str, int]
"""Cluster, topic and partition."""
Kind = tuple[str, str]
"""Rule and severity."""


def partitions_at_risk(
    run: FleetRun, counts: Mapping[Kind, int], owners: TopicOwners
) -> tuple[Counter[tuple[str | None, str | None]], tuple[Row, ...], tuple[Row, ...]]:
    """Return how many partitions of each cluster and owner are at risk, the worst, and the deciding rows.

    `counts` says how many findings count. The last rows have the worst losses of each cluster too.
    """
    kinds = {(rule, severity) for rule, severity in counts if Severity(severity) in _AT_RISK}
    shares = 1 + (sum(counts[kind] for kind in kinds) + run.rows("replica_sets")) // _HELD_COUNT
    numbers, worst = Counter[tuple[str | None, str | None]](), list[_Ranked]()
    first: dict[tuple[str | None, int], _Ranked] = {}
    for share in range(shares):
        is_in_share = partial(_is_in_share, share, shares)
        risks = _risks(run, kinds, is_in_share)
        _add_losses(run, risks, is_in_share)
        numbers.update((cluster, owners.get((cluster, topic))) for cluster, topic, _ in risks)
        ranked = [(risk.order(), partition, risk) for partition, risk in risks.items()]
        worst = heapq.nsmallest(PARTITION_COUNT, [*worst, *ranked], key=_ranked_order)
        for row in ranked:
            for at, count in enumerate((row[2].losses.lost_below, row[2].losses.alone_below)):
                if count:
                    key = row[1][0], at
                    first[key] = min(first.get(key, row), row, key=_ranked_order)
    listed = {partition for _, partition, _ in worst}
    deciding = [*worst, *sorted((row for row in first.values() if row[1] not in listed), key=_ranked_order)]
    replicas = _replicas(run, {partition for _, partition, _ in deciding})
    rows = tuple(
        with_owner(_partition_row(partition, risk, replicas[partition]), owners) for _, partition, risk in deciding
    )
    return numbers, rows[: len(worst)], rows


def is_at_stake(row: Row) -> bool:
    """Return whether starting the cluster now loses committed records, or leaves a partition without a leader."""
    return bool(row.get("start_all_committed") or row.get("start_all_offline"))


def losing_clusters(run: FleetRun) -> Counter[str | None]:
    """Return how many committed records replicas of a cluster lose under every leader; only clusters that lose some."""
    clusters = Counter[str | None]()
    for cluster, lost in run.values("replica_sets", ("cluster", "lost_below_high_watermark")):
        clusters.update({cluster: lost} if lost else {})
    return clusters


class _PartitionLosses(NamedTuple):
    """The loss of others under the best leader, and its only copies (all, and below a high watermark)."""

    leader: str | None = None
    lost: int | None = None
    lost_below: int | None = None
    alone: int | None = None
    alone_below: int | None = None


class _Risk:
    """The risk of a partition, with counts of fatal findings and errors, their brokers, and possible losses."""

    __slots__ = ("brokers", "counts", "losses", "rules")

    def __init__(self) -> None:
        self.counts = dict.fromkeys(map(str, _AT_RISK), 0)
        self.brokers: set[str] = set()
        self.rules: set[str] = set()
        self.losses = _PartitionLosses()

    @property
    def verdict(self) -> Severity:
        """The verdict. A loss of committed records is an error. Records on only one disk can still be fetched."""
        if self.counts[Severity.FATAL]:
            return Severity.FATAL
        return Severity.ERROR if self.counts[Severity.ERROR] or self.losses.lost_below else Severity.WARNING

    def order(self) -> tuple[int, ...]:
        """Return the sort key (the verdict, then the most corrupt replicas first)."""
        fatal, error = self.counts.values()
        committed = (self.losses.lost_below or 0, self.losses.alone_below or 0)
        return (-self.verdict.rank, -len(self.brokers), -fatal, -error, *(-count for count in committed))


_Ranked = tuple[tuple[Any, ...], Partition, _Risk]
"""The sort key of a risk, its partition, and the risk."""


def _ranked_order(ranked: _Ranked) -> tuple[Any, ...]:
    return ranked[0], _place_of(ranked[1])


def _place_of(partition: Partition) -> tuple[Any, ...]:
    cluster, topic, number = partition
    return (name_order(cluster), topic, number)


def _is_in_share(share: int, shares: int, partition: Partition) -> bool:
    cluster, topic, number = partition
    return shares == 1 or zlib.crc32(f"{cluster}/{partition_name(topic, number)}".encode()) % shares == share


def _risks(run: FleetRun, kinds: set[Kind], wanted: Callable[[Partition], bool]) -> dict[Partition, _Risk]:
    """Return the partitions with findings of these kinds."""
    risks: dict[Partition, _Risk] = {}
    columns = ("cluster", "broker", "topic", "partition", "id", "severity")
    for cluster, broker, topic, number, rule, severity in run.values("findings", columns) if kinds else ():
        if (rule, severity) in kinds and topic is not None and number is not None and wanted((cluster, topic, number)):
            risk = risks.setdefault((cluster, topic, number), _Risk())
            risk.counts[severity] += 1
            risk.brokers.update(() if broker is None else (broker,))  # remote storage has no broker
            risk.rules.add(rule)
    return risks


def _add_losses(run: FleetRun, risks: dict[Partition, _Risk], wanted: Callable[[Partition], bool]) -> None:
    """Add possible losses. A partition that can lose committed records is at risk, with or without findings.

    A topic with only one replica is not a finding.
    """
    columns = (
        "cluster", "topic", "partition", "replicas_of_topic", "at_risk_from", "at_risk_to",
        "broker", "lost", "lost_below_high_watermark", "at_risk_below_high_watermark",
    )  # fmt: skip
    for *partition, replicas, start, end, leader, lost, lost_below, alone_below in run.values("replica_sets", columns):
        key: Partition = (partition[0], partition[1], partition[2])
        alone = None if end is None or start is None else end - start
        is_at_risk = lost_below or (alone_below and replicas > 1)
        if (key in risks or is_at_risk) and wanted(key):
            risks.setdefault(key, _Risk()).losses = _PartitionLosses(leader, lost, lost_below, alone, alone_below)


class _Replicas(NamedTuple):
    """The replicas of a partition, with their brokers, their highest log end, and their total bytes."""

    brokers: set[str | None]
    log_end_offset: int | None
    size: int


def _replicas(run: FleetRun, wanted: set[Partition]) -> dict[Partition, _Replicas]:
    replicas = {partition: _Replicas(set(), None, 0) for partition in wanted}
    columns = ("cluster", "topic", "partition", "broker", "state", "log_end_offset", "size")
    for *partition, broker, state, end, size in run.values("partitions", columns) if wanted else ():
        known = replicas.get(tuple(partition))
        if known is None or state != DirectoryState.CURRENT:
            continue
        known.brokers.add(broker)
        ends = [offset for offset in (known.log_end_offset, end) if offset is not None]
        replicas[tuple(partition)] = _Replicas(known.brokers, max(ends, default=None), known.size + (size or 0))
    return replicas


def _partition_row(partition: Partition, risk: _Risk, replicas: _Replicas) -> Row:
    cluster, topic, number = partition
    return {
        "cluster": cluster, "topic": topic, "partition": number,
        "verdict": str(risk.verdict),
        **risk.counts,
        "replicas": len(replicas.brokers),
        "damaged": len(risk.brokers),
        "damaged_on": tuple(sorted(risk.brokers, key=name_order)),
        "rule_ids": tuple(sorted(risk.rules)),
        "best_leader": risk.losses.leader,
        "lost": risk.losses.lost,
        "lost_below_high_watermark": risk.losses.lost_below,
        "at_risk": risk.losses.alone,
        "at_risk_below_high_watermark": risk.losses.alone_below,
        "log_end_offset": replicas.log_end_offset,
        "size": replicas.size,
    }  # fmt: skip
