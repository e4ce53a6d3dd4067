"""The releases of the brokers of each cluster of a run, and how many brokers it should have."""

import json
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from kcheck.fleet.lost import RULE, is_empty_row
from kcheck.fleet.run import FleetRun
from kcheck.model.lost import LostKind
from kcheck.model.report import Row
from kcheck.words import counted, listed

_ANSWERS = {
    "predictions": "next start", "replica_sets": "truncation", "findings": "findings", "premises": "premises",
}  # fmt: skip
"""Answers by table, where a row can name the other end of a range of releases."""
_COUNTED = {
    "predictions": ("directory", "directories"), "replica_sets": ("partition", "partitions"),
    "findings": ("place", "places"), "premises": ("case", "cases"),
}  # fmt: skip


class ClusterBrokers(NamedTuple):
    """The brokers of a cluster with log dirs in the run, all its expected brokers, and their releases."""

    reached: int = 0
    expected: int = 0
    releases: tuple[Row, ...] = ()
    differences: tuple[tuple[str, str, int], ...] = ()
    """Number of answers that differ at the other end of a range of releases, by table and that release."""

    @property
    def row(self) -> dict[str, object]:
        """The fields of a cluster in a report."""
        return {
            "brokers_expected": self.expected, "brokers_reached": self.reached, "releases": self.releases,
            "kafka": self.kafka, "kafka_differs": self.kafka_differs,
            "differences": tuple(
                {"answer": _ANSWERS[table], "kafka": kafka, "count": count} for table, kafka, count in self.differences
            ),
        }  # fmt: skip

    @property
    def kafka_differs(self) -> str | None:
        """The number of different answers at the other end of the range of releases, in words; None without any."""
        ends = [
            f"{_ANSWERS[table]} under Kafka {kafka} in {counted(count, *_COUNTED[table])}"
            for table, kafka, count in self.differences
        ]
        return f"Different answers: {listed(ends)}. The worse answer counts." if ends else None

    @property
    def kafka(self) -> str | None:
        """The releases in words, a range where files leave one: `2.8, 0.11 to 2.3`; None of an older run."""
        ranges = [(row["lowest"] or row["kafka"], row["highest"] or row["kafka"]) for row in self.releases]
        return ", ".join(dict.fromkeys(f"{low}" if low == high else f"{low} to {high}" for low, high in ranges)) or None


def clusters_of(run: FleetRun) -> Mapping[str | None, ClusterBrokers]:
    """Return the brokers of each cluster of a run; an older run has no releases."""
    reached: dict[str | None, set[object]] = defaultdict(set)
    empty: dict[str | None, set[object]] = defaultdict(set)
    releases: dict[str | None, dict[object, tuple[str | None, ...]]] = defaultdict(dict)
    names = ("cluster", "broker", "broker_id", "directories", "directory_id", "cluster_id")
    kafka = ("kafka", "kafka_lowest", "kafka_highest")
    log_dirs = [*run.values("log_dirs", (*names, *kafka))]
    ids = {(cluster, broker): broker_id for cluster, broker, broker_id, *_ in log_dirs if broker_id is not None}
    for cluster, broker, _, count, directory_id, cluster_id, *known in log_dirs:
        key = ids.get((cluster, broker), broker)  # An empty log dir has no id.
        is_empty = is_empty_row(directory_id, cluster_id, count)
        (empty if is_empty else reached)[cluster].add(key)
        if known[0] is not None and not is_empty:
            releases[cluster][key] = tuple(known)
    differences: dict[str | None, Counter[tuple[str, str]]] = defaultdict(Counter)
    for table in _ANSWERS:
        for cluster, other in run.values(table, ("cluster", "kafka_differs")):
            if other is not None:
                differences[cluster][table, other] += 1
    expected = {cluster: {*brokers} for cluster, brokers in reached.items()}
    for cluster, broker_id, replicas in run.values("cluster_brokers", ("cluster", "broker_id", "replicas")):
        if replicas:
            expected.setdefault(cluster, set()).add(broker_id)
    of_finding = ("cluster", "broker", "broker_id", "id", "data")
    for cluster, broker, broker_id, rule, data in run.values("findings", of_finding):
        if rule == RULE and json.loads(data)["kind"] != LostKind.EMPTY:
            expected.setdefault(cluster, set()).add(
                ids.get((cluster, broker), broker) if broker_id is None else broker_id
            )
    for cluster, brokers in empty.items():
        # Of an empty log dir the metadata name the broker already, under its id.
        if not any(isinstance(known, int) and known not in reached[cluster] for known in expected.get(cluster, ())):
            expected.setdefault(cluster, set()).update(brokers)
    return {
        cluster: ClusterBrokers(
            len(reached[cluster]),
            len(brokers),
            _rows(Counter(releases[cluster].values())),
            tuple((*key, count) for key, count in sorted(differences[cluster].items())),
        )
        for cluster, brokers in expected.items()
    }


def _rows(counts: Mapping[tuple[str | None, ...], int]) -> tuple[Row, ...]:
    rows = [
        {"kafka": used, "lowest": lowest, "highest": highest, "brokers": count}
        for (used, lowest, highest), count in counts.items()
    ]
    return tuple(sorted(rows, key=lambda row: tuple(map(str, row.values()))))
