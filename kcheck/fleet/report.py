"""`kcheck fleet report`: what a run found, counted; what is worst, row by row."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from kcheck.errors import KcheckError
from kcheck.fleet.actions import actions_of
from kcheck.fleet.broker_starts import starts_of
from kcheck.fleet.risk import partitions_at_risk
from kcheck.fleet.run import BrokerKey, FleetRun, name_order
from kcheck.model.finding import Chosen, Severity
from kcheck.model.report import Report, Row
from kcheck.tables import findings
from kcheck.verbs.explain import rule_pages
from kcheck.views.rule_runner import all_rules

FINDING_COUNT = 50
"""Findings of each rule and severity that are listed one by one."""
_WORST = tuple(reversed(Severity))


class Counted(NamedTuple):
    """What there is of each broker, and which rules found what there: (cluster, broker, rule, severity)."""

    findings: Mapping[tuple[str | None, str | None, str, str], int]
    log_dirs: Mapping[BrokerKey, int]
    partitions: Mapping[BrokerKey, int]

    def of(self, shown: Chosen) -> "Counted":
        """Return the same with the findings that are shown alone."""
        chosen = {key: number for key, number in self.findings.items() if shown(key[2], Severity(key[3]))}
        return self._replace(findings=chosen)


def _none(rule: str, severity: Severity) -> bool:
    del rule, severity
    return False


def report(run: FleetRun, shown: Chosen, fails: Chosen = _none) -> Report:
    """Return what the run found, as far as it is `shown`: everything counted, and what is worst of it.

    `failing` counts the findings that are there, shown or not, with which a check `fails`. KcheckError where a table is
    damaged.
    """
    every = count(run)
    failing = sum(
        number for (_, _, rule, severity), number in every.findings.items() if fails(rule, Severity(severity))
    )
    counted = every.of(shown)
    summary = {str(severity): 0 for severity in Severity}
    for (_, _, _, severity), number in counted.findings.items():
        summary[severity] += number
    kinds: Counter[tuple[str, str]] = Counter()
    for (_, _, rule, severity), number in counted.findings.items():
        kinds[rule, severity] += number
    at_risk, partitions = partitions_at_risk(run, kinds)
    starts, brokers = starts_of(run), _brokers(counted)
    body = {
        "run": run.name, "path": run.path, "depth": run.depth, "started": run.started, "ended": run.ended,
        "finished": run.finished, "failing": failing,
        "actions": actions_of(run, brokers, starts.brokers, partitions),
        "rows": {name: run.rows(name) for name in sorted(run.parts)},
        "clusters": _clusters(counted),
        "brokers": brokers,
        "rules": _rules(counted),
        "partitions_at_risk": at_risk,
        "partitions": partitions,
        "cluster_starts": starts.clusters,
        "broker_starts": starts.brokers,
        "partitions_losing": starts.losing,
        "losses": starts.losses,
        "worst": _worst(run, kinds),
        "counts": _counts(counted),
        "pages": rule_pages(rule for _, _, rule, _ in counted.findings),
    }  # fmt: skip
    log_dirs = {path for (path,) in run.values("log_dirs", ("log_dir",)) if path and "\0" not in path}
    return Report(
        verb="fleet-report", kafka=run.kafka, body=body, elsewhere=summary, checked=tuple(sorted(log_dirs)),
        kinds={"actions": "action", "clusters": "cluster", "brokers": "broker", "rules": "rule",
               "partitions": "partition", "cluster_starts": "cluster-start", "broker_starts": "broker-start",
               "losses": "loss", "worst": "worst", "counts": "count", "pages": "rule-page"},
    )  # fmt: skip


def count(run: FleetRun) -> Counted:
    """Return how much there is; KcheckError where a table is damaged."""
    names = ("cluster", "broker", "id", "severity")
    every = Counter(run.values("findings", names))
    unknown = {severity for _, _, _, severity in every} - {*map(str, Severity)}
    if unknown or any(rule is None for _, _, rule, _ in every):
        raise KcheckError(f"{run.path}: a finding has no rule, or the severity {min(map(repr, unknown), default='?')}")
    log_dirs, partitions = (Counter(run.values(name, names[:2])) for name in ("log_dirs", "partitions"))
    return Counted(every, log_dirs, partitions)


def _by_severity(counted: Iterable[tuple[str, int]]) -> dict[str, int]:
    counts = dict.fromkeys(map(str, _WORST), 0)
    for severity, number in counted:
        counts[severity] += number
    return counts


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


def _verdict(counts: Row) -> str:
    """Return the worst severity of which there is a finding; `clean` where there is none."""
    return next((str(severity) for severity in _WORST if counts[severity]), "clean")


def _worst_first(counts: Row) -> tuple[int, ...]:
    return tuple(-int(str(counts[severity])) for severity in _WORST)


def _brokers(counted: Counted) -> tuple[Row, ...]:
    by_place: dict[BrokerKey, list[tuple[str, int]]] = defaultdict(list)
    for (cluster, broker, _, severity), number in counted.findings.items():
        by_place[cluster, broker].append((severity, number))
    rows = []
    for place in {*by_place, *counted.log_dirs, *counted.partitions}:
        counts = _by_severity(by_place[place])
        own = {"log_dirs": counted.log_dirs.get(place, 0), "partitions": counted.partitions.get(place, 0)}
        rows.append({"cluster": place[0], "broker": place[1], "verdict": _verdict(counts), **counts, **own})
    return tuple(
        sorted(rows, key=lambda row: (*_worst_first(row), name_order(row["cluster"]), name_order(row["broker"])))
    )


def _clusters(counted: Counted) -> tuple[Row, ...]:
    """Return for each cluster how many of its brokers have each verdict, and its findings."""
    verdicts: dict[str | None, Counter[str]] = defaultdict(Counter)
    by_cluster: dict[str | None, list[tuple[str, int]]] = defaultdict(list)
    for row in _brokers(counted):
        verdicts[row["cluster"]][str(row["verdict"])] += 1  # type: ignore[index]  # a name, or None
    for (cluster, _, _, severity), number in counted.findings.items():
        by_cluster[cluster].append((severity, number))
    rows = []
    for cluster, brokers in verdicts.items():
        counts = _by_severity(by_cluster[cluster])
        of_brokers = {name: brokers[name] for name in (*map(str, _WORST), "clean")}
        rows.append(
            {"cluster": cluster, "verdict": _verdict(counts), **counts, "broker_count": brokers.total(),
             "verdicts": of_brokers}
        )  # fmt: skip
    return tuple(sorted(rows, key=lambda row: (*_worst_first(row), name_order(row["cluster"]))))


def _rules(counted: Counted) -> tuple[Row, ...]:
    by_rule: dict[str, list[tuple[str, int]]] = defaultdict(list)
    places: dict[str, set[BrokerKey]] = defaultdict(set)
    names = {rule.id: rule.name for rule in all_rules()}
    for (cluster, broker, rule, severity), number in counted.findings.items():
        by_rule[rule].append((severity, number))
        places[rule].add((cluster, broker))
    rows = []
    for rule, of_it in by_rule.items():
        counts = _by_severity(of_it)
        findings_count = sum(counts.values())
        rows.append(
            {"id": rule, "name": names.get(rule), "verdict": _verdict(counts), **counts, "findings": findings_count,
             "broker_count": len(places[rule])}
        )  # fmt: skip
    return tuple(sorted(rows, key=lambda row: (*_worst_first(row), str(row["id"]))))


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
    return tuple({**row, "data": _data(row["data"])} for row in rows)


def _data(text: object) -> object:
    try:
        return json.loads(str(text)) if text is not None else None
    except (ValueError, RecursionError):
        return text
