"""The brokers and clusters of a report, with their findings, their next starts, and the risk of both."""

import json
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Mapping
from itertools import chain
from typing import NamedTuple

from kcheck.core.start.startup import Outcome
from kcheck.core.start.verdicts import SEVERITIES
from kcheck.errors import KcheckError
from kcheck.fleet.risk import is_at_stake
from kcheck.fleet.run import BrokerKey, FleetRun, name_order
from kcheck.fleet.runs.commands import RunCommands
from kcheck.model.finding import Chosen, Severity
from kcheck.model.report import Row
from kcheck.tables import clusters

WORST = tuple(reversed(Severity))
_CLEAN = "clean"
_RISKS = (*map(str, WORST), _CLEAN)
_STARTED = ("next_start", "losing_partitions", "unserved_partitions", "lost_records", "scan_bytes")
"""The fields of a row about the next start; None where none is predicted."""


_DECISION = tuple(column.name for column in clusters.DECISION)
_LISTS = {column.name for column in clusters.DECISION if column.type == "json"}
_UNDECIDED = {name: () if name in _LISTS else None for name in _DECISION}
"""Of a cluster without metadata, or in a run of an older kcheck."""


class Counted(NamedTuple):
    """The size of each broker, and its findings by (cluster, broker, rule, severity)."""

    findings: Mapping[tuple[str | None, str | None, str, str], int]
    log_dirs: Mapping[BrokerKey, int]
    partitions: Mapping[BrokerKey, int]

    def of(self, shown: Chosen) -> "Counted":
        """Return the same with the findings that are shown alone."""
        chosen = {key: number for key, number in self.findings.items() if shown(key[2], Severity(key[3]))}
        return self._replace(findings=chosen)


def count(run: FleetRun) -> Counted:
    """Return how much there is; KcheckError where a table is corrupt."""
    names = ("cluster", "broker", "id", "severity")
    labels = labels_of(run)
    every = Counter(
        (cluster, labels.get((cluster, broker), broker), rule, severity)
        for cluster, broker, rule, severity in run.values("findings", names)
    )
    unknown = {severity for _, _, _, severity in every} - {*map(str, Severity)}
    if unknown or any(rule is None for _, _, rule, _ in every):
        raise KcheckError(f"{run.path}: a finding has no rule, or the severity {min(map(repr, unknown), default='?')}")
    log_dirs, partitions = (Counter(run.values(name, names[:2])) for name in ("log_dirs", "partitions"))
    return Counted(every, log_dirs, partitions)


def labels_of(run: FleetRun) -> Mapping[BrokerKey, str]:
    """Return the names of brokers by their ids. A finding about a lost broker has only the id.

    An id that is the name of a scanned broker stays. Names can be numbers that are not the ids.
    """
    columns = ("cluster", "broker", "broker_id")
    scanned = [*run.values("log_dirs", columns)]
    names = {(cluster, broker) for cluster, broker, _ in scanned}
    return {
        (cluster, str(broker_id)): broker
        for cluster, broker, broker_id in chain(scanned, run.values("findings", columns))
        if broker not in (None, str(broker_id)) and broker_id is not None and (cluster, str(broker_id)) not in names
    }


def by_severity(counted: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Return how many findings there are of each severity, the worst first."""
    counts = dict.fromkeys(map(str, WORST), 0)
    for severity, number in counted:
        counts[severity] += number
    return counts


def verdict(counts: Row) -> str:
    """Return the worst severity with a finding; `clean` without any."""
    return next((str(severity) for severity in WORST if counts[severity]), _CLEAN)


def worst_first(counts: Row) -> tuple[int, ...]:
    """Return the sort key, with the most findings of the worst severity first."""
    return tuple(-int(str(counts[severity])) for severity in WORST)


def broker_rows(
    counted: Counted, every: Counted, starts: Iterable[Row], commands: RunCommands
) -> tuple[Row, ...]:  # fmt: skip
    """Return a row for each broker, the one at the highest risk first, each with the command that looks closer.

    `every` finding decides the risk, whichever are `counted`.
    """
    by_place, of_all = _by_place(counted), _by_place(every)
    rules: dict[BrokerKey, dict[str, int]] = defaultdict(dict)
    for cluster, broker, rule, severity in counted.findings:
        of_broker, rank = rules[cluster, broker], Severity(severity).rank
        of_broker[rule] = max(of_broker.get(rule, rank), rank)
    predicted = {(row["cluster"], row["broker"]): row for row in starts}
    rows: list[dict[str, object]] = []
    for place in {*of_all, *counted.log_dirs, *counted.partitions}:
        row = {
            "cluster": place[0], "broker": place[1],
            **_risk(by_place[place], of_all[place], predicted.get(place)),
            "why": predicted[place]["why"] if place in predicted else None,
            "log_dirs": counted.log_dirs.get(place, 0), "partitions": counted.partitions.get(place, 0),
            "rule_ids": _worst_rules(rules[place]),
        }  # fmt: skip
        is_start = row["next_start"] in (Outcome.ABORT, Outcome.OFFLINE, Outcome.LOST, Outcome.STRAY)
        row["command"] = commands.predict(row) if is_start else commands.check(row)
        rows.append(row)
    return tuple(sorted(rows, key=_order))


def _by_place(counted: Counted) -> dict[BrokerKey, dict[str, int]]:
    """Return the findings of each broker by severity."""
    by_place: dict[BrokerKey, dict[str, int]] = defaultdict(lambda: by_severity(()))
    for (cluster, broker, _, severity), number in counted.findings.items():
        by_place[cluster, broker][severity] += number
    return by_place


def _by_cluster(counted: Counted) -> dict[object, dict[str, int]]:
    by_cluster: dict[object, dict[str, int]] = defaultdict(lambda: by_severity(()))
    for (cluster, _, _, severity), number in counted.findings.items():
        by_cluster[cluster][severity] += number
    return by_cluster


def _worst_rules(ranks: Mapping[str, int]) -> tuple[str, ...]:
    return tuple(sorted(ranks, key=lambda rule: (-ranks[rule], rule)))


def cluster_rows(
    counted: Counted, every: Counted, starts: Iterable[Row], brokers: Iterable[Row], decisions: Mapping[object, Row],
    needed: Container[object] = (),
) -> tuple[Row, ...]:  # fmt: skip
    """Return the rows of clusters.

    Each has its findings, its next start, its brokers by verdict and risk, and its decision. A cluster that is `needed`
    is at risk, whatever its findings say.
    """
    verdicts: dict[object, Counter[object]] = defaultdict(Counter)
    risks: dict[object, Counter[object]] = defaultdict(Counter)
    for broker in brokers:
        verdicts[broker["cluster"]][broker["verdict"]] += 1
        risks[broker["cluster"]][broker["risk"]] += 1
    by_cluster, of_all = _by_cluster(counted), _by_cluster(every)
    predicted = {row["cluster"]: row for row in starts}
    rows = []
    for cluster, of_brokers in verdicts.items():
        start, decision = predicted.get(cluster), decisions.get(cluster, _UNDECIDED)
        risk = _risk(by_cluster[cluster], of_all[cluster], start)
        if is_at_stake(decision) or cluster in needed:
            risk["risk"] = min(str(risk["risk"]), str(Severity.ERROR), key=_RISKS.index)
        rows.append({
            "cluster": cluster, **risk, "broker_count": of_brokers.total(),
            "verdicts": {name: of_brokers[name] for name in _RISKS},
            "risks": {name: risks[cluster][name] for name in _RISKS},
            "outcomes": None if start is None else start["outcomes"],
            **decision,
        })  # fmt: skip
    return tuple(sorted(rows, key=lambda row: (_RISKS.index(str(row["risk"])), not is_at_stake(row), *_order(row))))


def decisions_of(run: FleetRun) -> dict[object, Row]:
    """Return the decision about each cluster, by its name."""
    rows: dict[object, Row] = {}
    for name, *values in run.values("clusters", ("cluster", *_DECISION)):
        pairs = zip(_DECISION, values, strict=True)
        rows[name] = {
            column: tuple(json.loads(value or "[]")) if column in _LISTS else value for column, value in pairs
        }
    return rows


def _risk(counts: Mapping[str, int], every: Mapping[str, int], start: Row | None) -> dict[str, object]:
    """Return the counts and the next start, and the worse of both. `every` finding counts."""
    start = dict.fromkeys(_STARTED) if start is None else start
    of_start = [start["next_start"]] if start["next_start"] is not None else []
    # That a start is not known, or goes well, is no finding.
    known = [str(SEVERITIES[Outcome(str(outcome))]) for outcome in of_start]
    risk = min([verdict(every), *(name for name in known if name != Severity.INFO)], key=_RISKS.index)
    return {"verdict": verdict(counts), **counts, "risk": risk, **{name: start[name] for name in _STARTED}}


def _order(row: Mapping[str, object]) -> tuple[object, ...]:
    """Return the sort key, with the highest risk first, and among equal risks the most of the worst findings."""
    place = (name_order(row["cluster"]), name_order(row.get("broker")))
    return (_RISKS.index(str(row["risk"])), *worst_first(row), -int(str(row["losing_partitions"] or 0)), *place)
