"""The loss of starting everything now in each cluster of a run that is being written, and its refuted premises."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from kcheck.arrow import batch_of
from kcheck.core.premises.table import BY_ID
from kcheck.documents.premises import is_losing
from kcheck.fleet.risk import LEAST, is_at_stake, losing_clusters
from kcheck.fleet.run import FleetRun, holding, name_order, written_run
from kcheck.fleet.run_output import RunOutput, run_tables
from kcheck.fleet.scan.rows import findings_batch
from kcheck.jobs.guard import guarded
from kcheck.model.finding import Finding, Location, Severity
from kcheck.model.lost import AtStake
from kcheck.model.premises import JudgedPremise, PremiseEvidence, PremiseStatus
from kcheck.model.release import Release
from kcheck.model.report import Row
from kcheck.rules import kc315_premise_refuted
from kcheck.survey.rule_runner import check_run
from kcheck.tables import clusters

Decide = Callable[[FleetRun, str | None], Mapping[str, object]]
"""Returns the columns of the decision about a cluster, given the tables of the run."""
Needed = Callable[[FleetRun], Iterable[Row]]
"""Returns the decisions about the clusters of a run that need a person."""
Count = Callable[[str, Severity], bool]
"""Counts a finding by rule and severity; true for a written one."""
_PLACE = ("cluster", "broker", "log_dir", "dir")


def add_decisions(output: RunOutput, about: Mapping[str, str], release: Release, decide: Decide, count: Count) -> None:
    """Decide each cluster that has metadata, one after the other, and write the table of clusters again.

    Without metadata a cluster is decided if every leader loses committed records. A cluster at stake is a finding, and
    so is a bug. `about`: kafka and depth of the run.
    """
    run = written_run(output, run_tables().keys() - {"runs"}, **about)
    names = [column.name for column in clusters.TABLE.run_columns]
    rows = [dict(zip(names, values, strict=True)) for values in run.values("clusters", names)]
    losing = losing_clusters(run)
    others = {*losing} - {row["cluster"] for row in rows}
    by_name: dict[str | None, list[dict[str, Any]]] = defaultdict(list)
    for row in (*rows, *({"cluster": name} for name in sorted(others, key=name_order))):
        by_name[row["cluster"]].append(row)
    for held, name in holding(run, by_name):
        for row in by_name[name]:
            _decide(output, held, row, release, decide, count, losing[name])
    if rows:
        batch = batch_of([[row[name] for name in names] for row in rows], clusters.TABLE.run_columns)
        output.rewrite("clusters", batch)


def _decide(
    output: RunOutput, run: FleetRun, row: dict[str, Any], release: Release, decide: Decide, count: Count, least: int
) -> None:
    """Put the decision about a cluster into its row, and write the finding.

    `least` committed records are lost at most under the best leaders, where the decision does not say how many.
    """
    columns = guarded(lambda: decide(run, row["cluster"]), Location())
    if isinstance(columns, Finding):
        findings: tuple[Finding, ...] = (columns,)
    else:
        row.update(columns)
        stake = _at_stake(row, least)
        findings = () if stake is None else tuple(check_run(stake, release))
    written = [finding for finding in findings if count(finding.id, finding.severity)]
    if written:
        output.write("findings", findings_batch((row["cluster"], None), written))


def _at_stake(row: Mapping[str, Any], least: int) -> AtStake | None:
    """Return the loss of a decided cluster; None without one. Without metadata the leaders are not known."""
    if is_at_stake(row):
        return AtStake(row["start_all_committed"] or 0, row["start_all_offline"] or 0, row["recover"])
    least = row.get(LEAST) or least
    is_unknown = row.get("start_all_offline") is None and least
    return AtStake(least, 0, row["recover"], is_least=True) if is_unknown else None


def add_needed(
    output: RunOutput, about: Mapping[str, str], release: Release, needed: Needed, count: Count
) -> None:  # fmt: skip
    """Write a finding for each cluster that needs a person and has no error. So no command is green."""
    run = written_run(output, run_tables().keys() - {"runs"}, **about)
    rows = [*needed(run)]
    severities = run.values("findings", ("cluster", "severity")) if rows else ()
    known = {cluster for cluster, severity in severities if Severity(severity).rank >= Severity.ERROR.rank}
    least = losing_clusters(run) if rows else {}
    for row in rows:
        name: Any = row["cluster"]
        if name not in known:
            stake = AtStake(least.get(name, 0), 0, str(row["command"]), is_least=True, words=str(row["what"]))
            written = [finding for finding in check_run(stake, release) if count(finding.id, finding.severity)]
            output.write("findings", findings_batch((name, None), written))


def add_refuted(output: RunOutput, release: Release, count: Count) -> None:
    """Write a finding for each refuted premise without which records are lost, unless a rule reports it as an error.

    Such a rule can be milder, as the leader is not known there. At a low depth some rules do not run.
    """
    run = written_run(output, ("premises", "findings"))
    refuted = [*_refuted(run)]
    places = {row[:4] for row in refuted}
    known = {
        (*place, rule)
        for *place, rule, severity in (run.values("findings", (*_PLACE, "id", "severity")) if refuted else ())
        if tuple(place) in places and Severity(severity).rank >= Severity.ERROR.rank
    }
    for row in refuted:
        place, (rule, broker_id, topic, partition, sentence, evidence, differs) = row[:4], row[4:]
        *_, log_dir, directory = place
        premise = BY_ID[rule]
        if known.isdisjoint((*place, name) for name in premise.rules):
            files = tuple(PremiseEvidence(**file) for file in json.loads(evidence))
            judged = JudgedPremise(rule, PremiseStatus.REFUTED, sentence, broker_id, log_dir, directory, files)
            where = Location(broker_id, log_dir, directory, topic=topic, partition=partition)
            finding = kc315_premise_refuted.finding(where, judged, premise, release)._replace(kafka_differs=differs)
            if count(finding.id, finding.severity):
                output.write("findings", findings_batch(place[:2], (finding,)))


def _refuted(run: FleetRun) -> Iterator[tuple[Any, ...]]:
    """Yield the refuted premises about logs, which no KC315 reports yet."""
    names = [premise.id for premise in BY_ID.values() if premise.rules and is_losing(premise.id)]
    columns = (*_PLACE, "id", "broker_id", "topic", "partition", "sentence", "evidence", "kafka_differs", "status")
    for *row, status in run.values("premises", columns):
        if status == PremiseStatus.REFUTED and row[len(_PLACE)] in names:
            yield tuple(row)
