"""`kcheck fleet report`: what a run found, counted; what is worst, row by row."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kcheck.fleet.lost import LostPlace, not_reached
from kcheck.fleet.not_known import not_known
from kcheck.fleet.owners import TopicOwners, with_owner
from kcheck.fleet.risk import AT_STAKE, losing_clusters, partitions_at_risk
from kcheck.fleet.run import BrokerKey, FleetRun, data_of, name_order
from kcheck.fleet.runs.actions import actions_of
from kcheck.fleet.runs.by_cluster import decisions_by_cluster, needs_a_person
from kcheck.fleet.runs.clusters import ClusterBrokers, clusters_of
from kcheck.fleet.runs.places import Counted, broker_rows, by_severity, cluster_rows, verdict, worst_first
from kcheck.fleet.runs.remote_storage import remote_rows
from kcheck.fleet.runs.told import RunRows, kinds_of
from kcheck.fleet.runs.trend import loss_of, trend_of
from kcheck.model.finding import Chosen, Severity
from kcheck.model.report import Report, Row
from kcheck.survey.rule_runner import all_rules
from kcheck.tables import findings
from kcheck.verbs.explain import rule_pages

_KINDS = {
    "decisions": "decision", "actions": "action", "clusters": "cluster", "brokers": "broker", "rules": "rule",
    "partitions": "partition", "cluster_starts": "cluster-start", "broker_starts": "broker-start",
    "premises": "premise", "losses": "loss", "worst": "worst", "counts": "count", "pages": "rule-page",
    "owners": "owner", "remote": "remote-replica", "trend": "trend",
}  # fmt: skip
"""The kinds of rows, by the field that has them."""
FINDING_COUNT = 50
"""Findings of each rule and severity that are listed one by one."""


def _none(rule: str, severity: Severity) -> bool:
    del rule, severity
    return False


def report(run: FleetRun, shown: Chosen, fails: Chosen = _none, runs: Sequence[FleetRun] = ()) -> Report:
    """Return the `shown` results of a run, with all counts, the worst findings, and the trend of `runs`.

    `failing` counts the present findings, shown or not, with which a check `fails`. KcheckError if a table is corrupt.
    """
    read_once = RunRows(run)
    commands, every, starts, owners = read_once.commands, read_once.every, read_once.starts, read_once.owners
    failing = sum(
        number for (_, _, rule, severity), number in every.findings.items() if fails(rule, Severity(severity))
    )
    decisions = decisions_by_cluster(commands, read_once.told, run.depth)
    needed = {row["cluster"] for row in decisions if needs_a_person(row)}
    if fails(AT_STAKE, Severity.ERROR):
        failing = max(failing, len(needed))
    counted = every.of(shown)
    summary = {str(severity): 0 for severity in Severity}
    kinds = kinds_of(counted)
    for (_, severity), number in kinds.items():
        summary[severity] += number
    at_risk, partitions = read_once.at_risk, read_once.partitions
    if counted != every:
        at_risk, partitions, _ = partitions_at_risk(run, kinds, owners)
    worst, known = _worst(run, kinds), clusters_of(run)
    _add_lost(at_risk, read_once.told.lost)
    columns = ("log_dirs_expected", "log_dirs_reached", "since", "carried_over")
    expected, reached, since, carried = next(run.values("runs", columns), (None,) * len(columns))
    remote_count, remote = remote_rows(run)
    brokers = broker_rows(counted, every, starts.brokers, commands)
    clusters = cluster_rows(counted, every, starts.clusters, brokers, read_once.decided, needed)
    least = losing_clusters(run)
    body = {
        "run": run.name, "path": run.path, "depth": run.depth, "started": run.started, "ended": run.ended,
        "finished": run.finished, "failing": failing,
        "decisions": decisions,
        "actions": actions_of(commands, *read_once.told),
        "rows": {name: run.rows(name) for name in sorted(run.parts)},
        "log_dirs_expected": expected, "log_dirs_reached": reached, "not_reached": not_reached(run),
        "not_known": not_known(run),
        "since": since, "carried_over": carried,
        "clusters": tuple(
            {**row, "least_committed": least[row["cluster"]],  # type: ignore[index]  # a name
             "partitions_at_risk": _of_cluster(at_risk, row["cluster"]),
             **known.get(row["cluster"], ClusterBrokers()).row}  # type: ignore[call-overload]  # a name
            for row in clusters
        ),
        "brokers": brokers,
        "rules": _rules(counted),
        "partitions_at_risk": at_risk.total(),
        "owners": _owner_rows(owners, at_risk),
        "partitions": tuple({**row, "command": commands.elect(row)} for row in partitions),
        "cluster_starts": starts.clusters,
        "broker_starts": starts.brokers,
        "premises_refuted": read_once.refuted_count,
        "premises": tuple({**row, "command": commands.predict(row)} for row in read_once.refuted),
        "partitions_losing": starts.losing,
        "remote_count": remote_count,
        "remote": tuple({**row, "command": commands.elect(row)} for row in remote),
        "losses": tuple({**with_owner(row, owners), "command": commands.predict(row)} for row in starts.losses),
        "worst": tuple({**with_owner(row, owners), "command": commands.finding(row)} for row in worst),
        "counts": _counts(counted),
        "pages": rule_pages(rule for _, _, rule, _ in counted.findings),
        "loss": loss_of(run),
        "trend": trend_of(runs, shown),
    }  # fmt: skip
    log_dirs = {path for (path,) in run.values("log_dirs", ("log_dir",)) if path and "\0" not in path}
    return Report(
        verb="fleet-report", kafka=run.kafka, body=body, elsewhere=summary, checked=tuple(sorted(log_dirs)),
        kinds=_KINDS,
    )  # fmt: skip


def _add_lost(at_risk: Counter[tuple[str | None, str | None]], lost: Iterable[LostPlace]) -> None:
    """Count at least the partitions of each cluster that have a missing replica."""
    for place in lost:
        at_risk[place.cluster, None] += max(place.partitions - _of_cluster(at_risk, place.cluster), 0)


def _of_cluster(at_risk: Counter[tuple[str | None, str | None]], name: object) -> int:
    return sum(number for (cluster, _), number in at_risk.items() if cluster == name)


def _owner_rows(owners: TopicOwners, at_risk: Counter[tuple[str | None, str | None]]) -> tuple[Row, ...]:
    """Return the owners of topics, sorted by partitions at risk."""
    topics = Counter((cluster, owner) for (cluster, _), owner in owners.items())
    rows = [
        {"cluster": cluster, "owner": owner, "topics": number, "partitions_at_risk": at_risk[cluster, owner]}
        for (cluster, owner), number in topics.items()
    ]
    return tuple(
        sorted(rows, key=lambda row: (-int(str(row["partitions_at_risk"])), name_order(row["cluster"]), row["owner"]))
    )


def _counts(counted: Counted) -> tuple[Row, ...]:
    """Return how many findings there are of each rule and severity on each broker."""
    rows = (
        {"cluster": cluster, "broker": broker, "id": rule, "severity": severity, "findings": number}
        for (cluster, broker, rule, severity), number in counted.findings.items()
    )
    return tuple(
        sorted(
            rows, key=lambda row: (name_order(row["cluster"]), name_order(row["broker"]), row["id"], row["severity"])
        )
    )


def _rules(counted: Counted) -> tuple[Row, ...]:
    by_rule: dict[str, list[tuple[str, int]]] = defaultdict(list)
    places: dict[str, set[BrokerKey]] = defaultdict(set)
    names = {rule.id: rule.name for rule in all_rules()}
    for (cluster, broker, rule, severity), number in counted.findings.items():
        by_rule[rule].append((severity, number))
        places[rule].add((cluster, broker))
    rows = []
    for rule, of_it in by_rule.items():
        counts = by_severity(of_it)
        findings_count = sum(counts.values())
        rows.append(
            {"id": rule, "name": names.get(rule), "verdict": verdict(counts), **counts, "findings": findings_count,
             "broker_count": len(places[rule])}
        )  # fmt: skip
    return tuple(sorted(rows, key=lambda row: (*worst_first(row), str(row["id"]))))


def _worst(run: FleetRun, kinds: Mapping[tuple[str, str], int]) -> tuple[Row, ...]:
    """Return the first findings of each rule and severity, the worst severity first."""
    import pyarrow as pa

    left = Counter({kind: min(number, FINDING_COUNT) for kind, number in kinds.items()})
    names = [column.name for column in findings.TABLE.run_columns]
    rows: list[dict[str, Any]] = []
    for batch in run.batches("findings", names):
        if not left.total():
            break
        wanted = []
        for at, kind in enumerate(zip(*(batch.column(name).to_pylist() for name in ("id", "severity")), strict=True)):
            if left[kind] > 0:
                left[kind] -= 1
                wanted.append(at)
        rows.extend(batch.take(pa.array(wanted, pa.int64())).to_pylist())
    rows.sort(key=lambda row: -Severity(row["severity"]).rank)
    return tuple({**row, "data": data_of(row["data"])} for row in rows)
