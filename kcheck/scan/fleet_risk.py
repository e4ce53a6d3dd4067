"""Which partitions of a fleet are at risk: those with an error, or worse, in one of their replicas."""

import heapq
import zlib
from collections.abc import Mapping
from typing import Any, NamedTuple

from kcheck.model.finding import Severity
from kcheck.model.names import DirectoryState
from kcheck.model.report import Row
from kcheck.scan.fleet_run import FleetRun, name_order

PARTITION_COUNT = 500
"""So many partitions are told one by one."""
_HELD_COUNT = 250_000
"""So many findings, at most, are counted at once; more are read several times."""
_AT_RISK = (Severity.FATAL, Severity.ERROR)

Partition = tuple[str | None, str, int]
"""Cluster, topic and partition."""
Kind = tuple[str, str]
"""Rule and severity."""


def partitions_at_risk(run: FleetRun, found: Mapping[Kind, int]) -> tuple[int, tuple[Row, ...]]:
    """Return how many partitions are at risk, and the worst of them; `found` tells how many findings count."""
    kinds = {(rule, severity) for rule, severity in found if Severity(severity) in _AT_RISK}
    shares = 1 + sum(found[kind] for kind in kinds) // _HELD_COUNT
    number, worst = 0, list[tuple[tuple[Any, ...], Partition, _Risk]]()
    for share in range(shares if kinds else 0):
        risks = _risks(run, kinds, share, shares)
        number += len(risks)
        ranked = ((risk.order(), partition, risk) for partition, risk in risks.items())
        worst = heapq.nsmallest(PARTITION_COUNT, [*worst, *ranked], key=lambda each: (each[0], _place_of(each[1])))
    replicas = _replicas(run, {partition for _, partition, _ in worst})
    return number, tuple(_partition_row(partition, risk, replicas[partition]) for _, partition, risk in worst)


class _Risk:
    """What is wrong with a partition: counts of fatal findings and errors, and on which brokers."""

    __slots__ = ("brokers", "counts", "rules")

    def __init__(self) -> None:
        self.counts = dict.fromkeys(map(str, _AT_RISK), 0)
        self.brokers: set[str | None] = set()
        self.rules: set[str] = set()

    def order(self) -> tuple[int, ...]:
        """Return what is smallest for the worst: a fatal finding first, then the most damaged replicas."""
        fatal, error = self.counts.values()
        return (not fatal, -len(self.brokers), -fatal, -error)


def _place_of(partition: Partition) -> tuple[Any, ...]:
    cluster, topic, number = partition
    return (name_order(cluster), topic, number)


def _risks(run: FleetRun, kinds: set[Kind], share: int, shares: int) -> dict[Partition, _Risk]:
    """Return what is wrong with a share of the partitions: those whose name has this remainder."""
    found: dict[Partition, _Risk] = {}
    columns = ("cluster", "broker", "topic", "partition", "id", "severity")
    for cluster, broker, topic, partition, rule, severity in run.values("findings", columns):
        if (rule, severity) not in kinds or topic is None or partition is None:
            continue
        if shares > 1 and zlib.crc32(f"{cluster}/{topic}-{partition}".encode()) % shares != share:
            continue
        risk = found.setdefault((cluster, topic, partition), _Risk())
        risk.counts[severity] += 1
        risk.brokers.add(broker)
        risk.rules.add(rule)
    return found


class _Replicas(NamedTuple):
    """The replicas of a partition: on which brokers, up to which offset, of how many bytes in all."""

    brokers: set[str | None]
    log_end_offset: int | None
    size: int


def _replicas(run: FleetRun, wanted: set[Partition]) -> dict[Partition, _Replicas]:
    found = {partition: _Replicas(set(), None, 0) for partition in wanted}
    columns = ("cluster", "topic", "partition", "broker", "state", "log_end_offset", "size")
    for *partition, broker, state, end, size in run.values("partitions", columns) if wanted else ():
        known = found.get(tuple(partition))
        if known is None or state != DirectoryState.CURRENT:
            continue
        known.brokers.add(broker)
        ends = [each for each in (known.log_end_offset, end) if each is not None]
        found[tuple(partition)] = _Replicas(known.brokers, max(ends, default=None), known.size + (size or 0))
    return found


def _partition_row(partition: Partition, risk: _Risk, replicas: _Replicas) -> Row:
    cluster, topic, number = partition
    return {
        "cluster": cluster, "topic": topic, "partition": number,
        "verdict": str(Severity.FATAL if risk.counts[Severity.FATAL] else Severity.ERROR),
        **risk.counts,
        "replicas": len(replicas.brokers),
        "damaged": len(risk.brokers),
        "damaged_on": tuple(sorted(risk.brokers, key=name_order)),
        "rule_ids": tuple(sorted(risk.rules)),
        "log_end_offset": replicas.log_end_offset,
        "size": replicas.size,
    }  # fmt: skip
