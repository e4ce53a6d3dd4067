"""Advice that agrees with `kcheck recover`: a rule sees one replica, the plan the disks of all brokers."""

from collections.abc import Iterable

from kcheck.core.election.course import in_sync_under
from kcheck.core.election.plans import PartitionElection, is_at_stake
from kcheck.core.election.steps import RecoveryAction
from kcheck.documents.election_words import amount_lost
from kcheck.documents.unserved import same_records_words
from kcheck.model.finding import Finding, Severity
from kcheck.plans.recover import ClusterRecovery
from kcheck.survey.rule_runner import all_rules

_OF_STRAYS = ("KC235", "KC236")
"""The rules of replicas that the cluster does not place on their broker."""
_LEADS = "this replica leads"
_PlacedReplica = tuple[int | None, str | None, int | None]


def agreed(findings: Iterable[Finding], answer: ClusterRecovery) -> list[Finding]:
    """Return the findings; if a recovery decides about their replica, their advice is its step."""
    advice, dependent = _by_replica(answer), {rule.id for rule in all_rules() if rule.depends_on_others}
    kept = {
        (row.broker_id, row.partition.topic, row.partition.partition): same_records_words(row.prediction, row.holders)
        for row in answer.kept_elsewhere
    }
    rows = []
    for row in findings:
        place = (row.where.broker_id, row.where.topic, row.where.partition)
        planned = advice.get(place)
        if row.id in _OF_STRAYS and place in kept:
            rows.append(row._replace(advice=f"No step is needed (kcheck recover): {kept[place]}."))
            continue
        applies = planned is not None and row.id in dependent and row.severity is not Severity.INFO
        rows.append(row._replace(advice=f"Follow kcheck recover: {planned}.") if applies else row)
    return rows


def _by_replica(answer: ClusterRecovery) -> dict[_PlacedReplica, str]:
    """Return the decisions of the plan about replicas, as clauses; a step about a replica overrides its role."""
    advice: dict[_PlacedReplica, str] = {}
    rows = {row.name: row for row in answer.election.of_cluster}
    for row in rows.values():
        led = _led(row)
        if not led and row.planned is not None and not is_at_stake(row):
            led = {row.planned: _LEADS}
        if led and row.lost_planned is not None and row.lost_planned.records != 0:
            led = {number: f"{words}. Even so, {amount_lost(row.lost_planned, '')}" for number, words in led.items()}
        advice |= {(number, row.topic, row.partition): words for number, words in led.items()}
    repairs = {repair.broker_id: repair.arguments for repair in answer.election.repairs}
    for at, step in enumerate(answer.steps, 1):
        for number in step.brokers:
            if step.kind is RecoveryAction.REPAIR:
                repaired = [rows[name] for name in repairs[number] if name in rows]
                advice |= {(number, row.topic, row.partition): f"step {at} repairs it" for row in repaired}
            elif step.kind is RecoveryAction.SET_ASIDE:
                words = f"step {at} moves this directory aside"
                advice |= {(number, row.topic, row.partition): words for row in step.partitions}
    return advice


def _led(row: PartitionElection) -> dict[int, str]:
    """Return the words for replicas that lead or follow; empty if the elections are unknown."""
    leader = None if row.planned is None or row.seats is None else row.leaders[row.planned]
    if leader is None or leader.plan is None:
        return {}
    words = f"broker {leader.broker_id} leads, and this replica fetches what it lacks"
    led = {number: words for number in in_sync_under(leader.plan) if number not in leader.lacking}
    return {**led, leader.broker_id: _LEADS}
