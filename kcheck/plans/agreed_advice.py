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

_OF_STRAYS = ("KC235", "KC236", "KC251")
"""The rules of directories that no broker serves."""
_LEADS = "this replica leads"
_HeldDirectory = tuple[int | None, str | None]
"""A broker and the name of a directory."""


def agreed(findings: Iterable[Finding], answer: ClusterRecovery) -> list[Finding]:
    """Return the findings; if a recovery decides about their replica, their advice is its step.

    A directory that moves, or whose name is not known, has no other advice. Before the plan compares leaders no advice
    names one.
    """
    steps, first = _by_step(answer), _first(answer)
    leaders = _by_leader(answer) if first is None else {}
    dependent = {rule.id for rule in all_rules() if rule.depends_on_others}
    kept = {
        (row.broker_id, row.prediction.dir): same_records_words(row.prediction, row.holders)
        for row in answer.kept_elsewhere
    }
    moved = {(row.broker_id, row.dir.rpartition("/")[2]) for row in answer.recovery.misplaced}
    rows = []
    for row in findings:
        place = (row.where.broker_id, row.where.dir)
        planned = steps.get(place, leaders.get(place))
        if row.severity is Severity.INFO:
            rows.append(row)
        elif row.id in _OF_STRAYS and place in kept:
            rows.append(row._replace(advice=f"No step is needed (kcheck recover): {kept[place]}."))
        elif planned is not None and (row.id in dependent or place in moved):
            rows.append(row._replace(advice=f"Follow kcheck recover: {planned}."))
        elif first is not None and row.id in dependent:
            rows.append(row._replace(advice=f"Follow kcheck recover, which compares no leaders before {first}."))
        else:
            rows.append(row)
    return rows


def _first(answer: ClusterRecovery) -> str | None:
    """Return the condition for a comparison of leaders, as a clause; None if the leaders are known."""
    election = answer.election
    reasons = (
        (bool(answer.mistaken), "each disk is at the right broker"),
        (bool(answer.first.log_dirs), "every log dir is named"),
        (bool(answer.first.brokers), "most brokers are named"),
        (election.rescue is not None, "the metadata is back"),
        (election.is_misnamed or bool(answer.recovery.misplaced), "each directory is in the right place"),
        (answer.waits_for_disks, "the missing disks are here or given up"),
    )
    return next((words for holds, words in reasons if holds), None)


def _by_step(answer: ClusterRecovery) -> dict[_HeldDirectory, str]:
    """Return the steps about directories, as clauses; a later step of a directory overrides an earlier one."""
    advice: dict[_HeldDirectory, str] = {}
    names = {row.name for row in answer.election.of_cluster}
    repairs = {repair.broker_id: repair.arguments for repair in answer.election.repairs}
    for at, step in enumerate(answer.steps, 1):
        for number in step.brokers:
            if step.kind is RecoveryAction.REPAIR:
                repaired = names.intersection(repairs[number])
                advice |= {(number, name): f"step {at} repairs it" for name in repaired}
            elif step.kind is RecoveryAction.SET_ASIDE:
                words = f"step {at} moves this directory aside"
                advice |= {
                    (number, name): words for name in (*step.directories, *(row.name for row in step.partitions))
                }
        for row in step.misplaced:
            words = f"step {at} {'moves this directory aside' if row.is_extra else 'puts this directory back'}"
            advice[row.broker_id, row.dir.rpartition("/")[2]] = words
            advice.setdefault((row.to_broker, row.holds), f"step {at} brings the directory back")
    return advice


def _by_leader(answer: ClusterRecovery) -> dict[_HeldDirectory, str]:
    """Return the roles of replicas by the plan, as clauses."""
    advice: dict[_HeldDirectory, str] = {}
    for row in answer.election.of_cluster:
        led = _led(row)
        if not led and row.planned is not None and not is_at_stake(row):
            led = {row.planned: _LEADS}
        if led and row.lost_planned is not None and row.lost_planned.records != 0:
            led = {number: f"{words}. Even so, {amount_lost(row.lost_planned, '')}" for number, words in led.items()}
        advice |= {(number, row.name): words for number, words in led.items()}
    return advice


def _led(row: PartitionElection) -> dict[int, str]:
    """Return the words for replicas that lead or follow; empty if the elections are unknown."""
    leader = None if row.planned is None or row.seats is None else row.leaders[row.planned]
    if leader is None or leader.plan is None:
        return {}
    words = f"broker {leader.broker_id} leads, and this replica fetches what it lacks"
    led = {number: words for number in in_sync_under(leader.plan) if number not in leader.lacking}
    return {**led, leader.broker_id: _LEADS}
