"""The cost of elections as JSON (the start order, complete scenarios, and every candidate of every partition)."""

from collections.abc import Iterable

from kcheck.core.election.broker_losses import BrokerLoss, Lacking
from kcheck.core.election.election import controllers_otherwise
from kcheck.core.election.first_repairs import FirstRepair
from kcheck.core.election.plans import (
    BrokerGap,
    Candidate,
    CutTransactions,
    PartitionElection,
)
from kcheck.core.election.scenarios import Scenario, lost_by_all
from kcheck.core.election.start_order import StartOrder
from kcheck.core.replication.leader_costs import Amounts
from kcheck.documents.answer import Outcomes
from kcheck.documents.remote_log import span_rows
from kcheck.documents.truncation import amounts_row, follower_row
from kcheck.model.cluster import ClusterImage
from kcheck.model.report import Row


def election_body(
    order: StartOrder,
    scenarios: Iterable[Scenario],
    partitions: Iterable[PartitionElection],
    gaps: Iterable[BrokerGap],
    *,
    kraft: bool,
    verdict: str,
) -> Row:
    """Return the body of the document."""
    scenarios = tuple(scenarios)
    return {
        "verdict": verdict,
        "controller": "kraft" if kraft else "zookeeper",
        "start_order": order.brokers,
        "start_order_proven": order.is_proven or is_least(scenarios),
        "start_together": order.together,
        "gaps": tuple({"broker_id": gap.broker_id, "replicas": gap.replicas, "why": gap.why} for gap in gaps),
        "scenarios": tuple(map(scenario_row, scenarios)),
        "partitions": map(partition_row, partitions),
    }


def election_outcomes(order: StartOrder, partitions: Iterable[PartitionElection]) -> Outcomes:
    """Return the order of starts, and for each partition the elected leader and the cost of each candidate."""
    of_partitions: Outcomes = {
        (f"elect {row.name}",): [
            (row.kafka_clean, row.kafka_unclean, row.best),
            *((part.broker_id, part.state, part.clean, part.problem, part.lost) for part in row.candidates),
        ]
        for row in partitions
    }
    return {**of_partitions, ("start order",): order.brokers}


def is_least(scenarios: Iterable[Scenario]) -> bool:
    """Return whether the plan loses no more than the best leaders would, so that no start order is better."""
    rows = {row.name: row for row in scenarios}
    plan, best = rows.get("plan"), rows.get("best")
    if plan is None or best is None or plan.offline_partitions is None or plan.lost.records is None:
        return False
    return (plan.lost, plan.offline_partitions) == (best.lost, best.offline_partitions)


def interrupted_row(what: str | None) -> Row:
    """Return that the user interrupted, and the unseen parts; empty without an interrupt."""
    return {} if what is None else {"interrupted": True, "not_looked_at": what}


def controller_row(image: ClusterImage | None, *, kraft: bool) -> Row:
    """Return the assumed controller, and the nodes with another setting for unclean elections."""
    return {
        "controller_id": None if image is None else image.controller,
        "controllers_otherwise": () if image is None else controllers_otherwise(image, kraft=kraft),
    }


def scenario_row(scenario: Scenario) -> Row:
    """Return the row of a way to go on."""
    return {
        "name": scenario.name,
        "lost": _lost_row(scenario.lost),
        "offline_partitions": scenario.offline_partitions,
    }


def _lost_row(lost: Amounts | None) -> Row | None:
    return None if lost is None else amounts_row(lost)


def broker_loss_row(loss: BrokerLoss) -> Row:
    """Return the row of a broker that may be lost."""
    return {
        "broker_id": loss.broker_id,
        "survived": loss.is_survived,
        "partitions": loss.partitions,
        "offline_partitions": loss.offline,
        "only_copies": loss.only_copy,
        "lost": _lost_row(loss.lost),
    }


def lacking_row(replica: Lacking) -> Row:
    """Return the row of a replica in sync that lacks committed records."""
    return {
        "topic": replica.topic,
        "partition": replica.partition,
        "broker_id": replica.broker_id,
        "log_end_offset": replica.log_end_offset,
        "high_watermark": replica.high_watermark,
    }


def partition_row(election: PartitionElection) -> Row:
    """Return the row of one partition."""
    registration = election.registration
    return {
        "topic": election.topic,
        "partition": election.partition,
        "replicas": None if registration is None else registration.replicas,
        "isr": None if registration is None else registration.isr,
        "elr": None if registration is None else registration.elr,
        "leader_epoch": None if registration is None else registration.leader_epoch,
        "high_watermark": election.high_watermark,
        "adding": () if registration is None else registration.adding,
        "removing": () if registration is None else registration.removing,
        "course": course_rows(election),
        "start_all": _race_row(election),
        "planned": election.planned,
        "lost_planned": _lost_row(election.lost_planned),
        "kafka_elects": {"clean": election.kafka_clean, "unclean": election.kafka_unclean},
        "best": election.best,
        "unknown_replicas": election.unknown_replicas,
        "candidates": tuple(map(_candidate_row, election.candidates)),
    }


def _race_row(election: PartitionElection) -> Row | None:
    """Return every broker that can lead first if all start at once, and the maximum loss; None if not known."""
    if not election.race:
        return None
    leaders = tuple(sorted(number for number in election.race if number is not None))
    return {"leaders": leaders, "lost": _lost_row(lost_by_all(election))}


def course_rows(election: PartitionElection) -> tuple[Row, ...]:
    """Return the leaders, one after the other, if all start and no operator acts, and the reasons."""
    now = election.now
    if now is None or election.seat_now is None:
        return ()
    first = {"broker_id": now.broker_id, "why": str(election.seat_now)}
    later = now.later
    return (first,) if later is None else (first, {"broker_id": later.broker_id, "why": str(later.why)})


def _candidate_row(candidate: Candidate) -> Row:
    refetch, plan = candidate.refetch, candidate.plan
    return {
        "broker_id": candidate.broker_id,
        "state": str(candidate.state),
        "dir": candidate.dir,
        "clean": candidate.clean,
        "seat": None if candidate.seat is None else str(candidate.seat),
        "problem": candidate.problem,
        "log_end_offset": candidate.log_end_offset,
        "log_start_offset": candidate.log_start_offset,
        "lost": _lost_row(candidate.lost),
        "remote_lost": None if plan is None else span_rows(plan.remote_lost),
        "later": None
        if candidate.later is None
        else {"broker_id": candidate.later.broker_id, "why": str(candidate.later.why)},
        "lost_in_the_end": _lost_row(candidate.lost_in_the_end),
        "refetch": None if refetch is None else {"records": refetch.records, "bytes": refetch.bytes},
        "open_transactions": candidate.open_transactions,
        "cut_transactions": _transactions_row(candidate.cut_transactions),
        "groups_beyond": candidate.groups_beyond,
        "only_here": _lost_row(candidate.only_here),
        "loses_no_more_than": candidate.loses_no_more_than,
        "followers": () if plan is None else tuple(follower_row(follower, plan) for follower in plan.followers),
    }


def _transactions_row(cut: CutTransactions | None) -> Row | None:
    return None if cut is None else {"committed": cut.committed, "markers": cut.markers}


def repair_row(repair: FirstRepair) -> Row:
    """Return the row of a repair."""
    return {name: value for name, value in repair._asdict().items() if name != "unmarks"}
