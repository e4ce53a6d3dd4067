"""`kcheck elect --from RUN`, the elections of a cluster from the tables of a run instead of directories.

The decisions equal `kcheck elect`. The tables have no batches, so facts of batches are unknown, never guessed.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import itemgetter
from typing import Any, Self

from kcheck.core.election.broker_losses import BrokerLoss, Lacking, broker_losses
from kcheck.core.election.choice import choice_of
from kcheck.core.election.election import BrokerStart
from kcheck.core.election.fencing import fencing_order
from kcheck.core.election.first_rescue import FirstRescue, RescueVerb
from kcheck.core.election.phases import of_brokers
from kcheck.core.election.plans import BrokerGap, CopyState, PartitionElection, is_safe, only_aside
from kcheck.core.election.scenarios import (
    OF_METADATA,
    Scenario,
    badness,
    in_doubt,
    not_known,
    of_start_all,
    planned,
    scenarios,
)
from kcheck.core.election.start_order import NO_ORDER, StartOrder
from kcheck.core.premises.facts import LogFacts
from kcheck.core.replication.leader_costs import NOT_KNOWN
from kcheck.core.replication.truncation_plans import Refetched, TruncationPlan
from kcheck.core.start.unserved import Unserved
from kcheck.disk.output import scratch
from kcheck.documents.answer import Answer, Outcomes
from kcheck.documents.election import (
    broker_loss_row,
    controller_row,
    election_body,
    election_outcomes,
    lacking_row,
)
from kcheck.documents.election_verdict import verdict, why_empty
from kcheck.documents.premises import premise_rows, with_old_disk
from kcheck.documents.uncounted import NOTHING, nothing_words
from kcheck.documents.unserved import not_counted_words
from kcheck.errors import UsageError
from kcheck.fleet.lost import not_reached_of
from kcheck.fleet.run import FleetRun, open_run
from kcheck.fleet.runs.across import differing_logs, names_across, premises_across
from kcheck.fleet.runs.by_disks import ByDisks, are_shown, by_disks, is_counted, not_shown_words
from kcheck.fleet.runs.cluster import RunCluster, registration_of, run_cluster, with_partition
from kcheck.fleet.runs.election_plan import require_metadata, require_steps, write_plan_of_run
from kcheck.fleet.runs.election_rows import PartitionRows, partition_rows
from kcheck.fleet.runs.elections import Elections
from kcheck.fleet.runs.quorum import rescue_of
from kcheck.fleet.runs.replicas import copies_of
from kcheck.fleet.runs.unserved import unserved_of
from kcheck.model.cluster import ClusterImage
from kcheck.model.depth import Depth
from kcheck.model.entries import Offset
from kcheck.model.finding import Finding
from kcheck.model.names import TopicPartition
from kcheck.model.premises import JudgedPremise
from kcheck.model.release import Release
from kcheck.model.report import PartitionFilter, Report
from kcheck.replicas.broker_gaps import failing_of, gaps_of, is_out_of_place, mistaken_of
from kcheck.replicas.candidates import ClusterHere, ReplicaCopy, election_of
from kcheck.replicas.elect import ElectionQuestion
from kcheck.replicas.election_output import require_whole
from kcheck.replicas.uncounted import uncounted_premises
from kcheck.verbs.release import of_worse_end


@dataclass(frozen=True, slots=True, kw_only=True)
class RunElection(Answer):
    """The answer of `kcheck elect --from`."""

    run: FleetRun
    """The run."""
    cluster: RunCluster
    """The cluster in the run."""
    fenced: tuple[int, ...]
    """The running brokers of the metadata, in the order in which the controller notices that they have stopped."""
    verdict: str
    """The recommendation, and its cost, in sentences."""
    gaps: tuple[BrokerGap, ...]
    """The brokers whose replicas are not part of the picture."""
    order: StartOrder
    """The order in which the brokers of the run should start."""
    scenarios: tuple[Scenario, ...]
    """The courses to compare."""
    partitions: tuple[PartitionElection, ...]
    """The shown partitions, by topic and number (all, or the worst)."""
    partition_count: int
    """Their number."""
    left_out: int
    """Number of those at stake that are not shown."""
    unread: int
    """Replicas whose next start depends on batches that the scan has not read."""
    broker_losses: tuple[BrokerLoss, ...]
    """Offline partitions and lost records without each broker."""
    lacking: tuple[Lacking, ...]
    """Replicas in sync that lack committed records, by topic and number (all, or the first)."""
    lacking_count: int
    """Their number."""
    is_safe: bool
    """True if every partition has a recommended leader, and no record is lost by the recommended steps.

    Every broker here starts, and no record is left uncounted.
    """
    of_cluster: Sequence[PartitionElection]
    """Every partition, with no more than decides the order of starts."""
    starts: Mapping[int, BrokerStart]
    """The registrations of the brokers that do start, by id."""
    order_of_cluster: StartOrder
    """The order of all brokers of the cluster, whatever partitions are wanted."""
    rescue: FirstRescue | None = None
    """The rescue of the metadata that comes before any start; None if none is needed."""
    unserved: tuple[Unserved, ...] = ()
    """The directories with records that no election counts."""
    by_disks: ByDisks
    """The reasons to plan by the disks, and the command."""
    nothing: str = NOTHING
    """The words for no loss, which say how much of the cluster they are about."""
    premises: tuple[JudgedPremise, ...] = ()
    """The premises of the next starts that are refuted or were not seen."""
    written: tuple[str, ...] = ()
    """The files of the plan."""

    @property
    def uncounted(self) -> tuple[JudgedPremise, ...]:
        """The premises whose losses no election counts."""
        return uncounted_premises(self.premises, self.of_cluster)

    @property
    def is_out_of_place(self) -> bool:
        """True if disks or directories are in a wrong place. No broker should start before that is solved."""
        return is_out_of_place(self.gaps, self.premises)

    @property
    def is_counted(self) -> bool:
        """True if the loss of starting everything, and of the plan, is known or has a bound."""
        return is_counted(self.scenarios)

    @property
    def worst_in_full(self) -> list[PartitionElection]:
        """Every partition. The shown ones have the plans of their leaders, and their directories."""
        shown = {(row.topic, row.partition): row for row in self.partitions}
        return [shown.get((row.topic, row.partition), row) for row in self.of_cluster]

    @property
    def image(self) -> ClusterImage | None:
        """The metadata of the cluster, without topics; None without any."""
        return self.cluster.image

    @property
    def kraft(self) -> bool:
        """True if KRaft controllers elect."""
        return self.cluster.kraft

    @property
    def collected(self) -> list[Finding]:
        """No findings, because they are a table of the run."""
        return []

    @property
    def badness(self) -> tuple[float, ...]:
        """Return the loss as a sort key."""
        return badness(self.scenarios, is_safe=self.is_safe)

    def outcomes(self) -> tuple[Self, Outcomes | None]:
        """Return the outcomes of all partitions; see `election_outcomes`."""
        return self, election_outcomes(self.order_of_cluster, self.of_cluster)

    def of_release(self, release: Release) -> Self:
        """Return the same answer with another account of its release."""
        return replace(self, cluster=self.cluster._replace(release=release))

    def report(self) -> Report:
        """Return the answer as rows."""
        return self.as_report(
            "elect",
            self.cluster.release.name,
            evidence=self.cluster.release.evidence,
            body={
                "run": self.run.path,
                "cluster": self.cluster.name,
                **election_body(
                    self.order, self.scenarios, self.partitions, self.gaps, kraft=self.kraft,
                    verdict=self.verdict,
                ),
                **controller_row(self.image, kraft=self.kraft),
                "running_in_metadata": self.fenced,
                "partition_count": self.partition_count,
                "left_out": self.left_out,
                "unread_replicas": self.unread,
                "broker_losses": tuple(map(broker_loss_row, self.broker_losses)),
                "lacking": tuple(map(lacking_row, self.lacking)),
                "lacking_count": self.lacking_count,
                "saved": (),
                "written": self.written,
                "premises": premise_rows(self.premises),
            },
            kinds={
                "scenarios": "scenario", "partitions": "partition", "gaps": "gap", "broker_losses": "broker-loss",
                "lacking": "lacking", "premises": "premise",
            },
            checked=(self.run.path,),
        )  # fmt: skip


def elect_run(
    path: str, cluster: str | None, question: ElectionQuestion, *, wanted: PartitionFilter, out: str | None = None
) -> RunElection:
    """Return the best leaders of the partitions of a cluster of a run; write the plan into `out`.

    UsageError if the run has several clusters without a given name, or lacks the necessary tables. UsageError also
    without metadata for a plan, or for a plan of some partitions. UsageError also if its files cannot be written.
    """
    require_whole(wanted, out)
    run = open_run(path)
    known = prepared(run, cluster, question, is_planned=out is not None)
    return _elected(run, known, question, wanted, out, not_reached_of(run, known.name))


def elect_in(run: FleetRun, cluster: str | None, question: ElectionQuestion, *, wanted: PartitionFilter) -> RunElection:
    """Return the same as `elect_run`, of a run that is open or is being written. Missing log dirs do not count."""
    return _elected(run, prepared(run, cluster, question), question, wanted)


def _elected(
    run: FleetRun, known: RunCluster, question: ElectionQuestion, wanted: PartitionFilter, out: str | None = None,
    unreached: tuple[str, ...] = (),
) -> RunElection:  # fmt: skip

    def choose(here: ClusterHere) -> Elections:
        chosen = Elections(wanted, is_planned=out is not None)
        with scratch() as folder:
            for rows in partition_rows(run, known.name, folder):
                chosen.add(*elected(rows, here))
        return chosen

    return elected_by(choose, run, known, question, out, unreached)


def elected_by(
    choose: Callable[[ClusterHere], "Elections"], run: FleetRun, known: RunCluster, question: ElectionQuestion,
    out: str | None, unreached: tuple[str, ...],
) -> RunElection:  # fmt: skip
    """Return the answer for the end of the cluster's range of releases with more losses. `choose` decides for one end.

    Write its plan into the directory `out`. `unreached` are missing log dirs.
    """

    def decided(release: Release) -> RunElection:
        cluster = known._replace(release=release)
        here = here_of(cluster, question)
        return _concluded(run, cluster, here, choose(here), unreached)

    answer = of_worse_end(known.release, decided)
    if out is None:
        return answer
    require_steps(answer.by_disks)
    here = here_of(answer.cluster, question)
    written = write_plan_of_run(
        run,
        answer.cluster,
        here,
        answer.of_cluster,
        answer.order_of_cluster,
        answer.uncounted,
        answer.rescue,
        answer.unserved,
        answer.by_disks.first.disks,
        answer.verdict,
        out,
    )
    return replace(answer, written=written)


def prepared(run: FleetRun, cluster: str | None, question: ElectionQuestion, *, is_planned: bool = False) -> RunCluster:
    """Return a cluster of a run, once its partitions can be decided; see `elect_run`."""
    for table in ("replicas", "cluster_partitions"):
        if table not in run.parts:
            raise UsageError(f"{run.path} has no table {table}: an older kcheck wrote it; scan again")
    known = run_cluster(run, cluster)
    present = sorted(known.brokers.keys() & set(question.dead))
    if present:
        raise UsageError(f"--dead {present[0]}: the run has broker {present[0]}")
    if is_planned:
        require_metadata(run, known)
    return known


def here_of(cluster: RunCluster, question: ElectionQuestion) -> ClusterHere:
    """Return the facts for the elections of every partition."""
    kraft, image = cluster.kraft, cluster.image
    return ClusterHere(
        image=image,
        brokers=cluster.brokers,
        dead=frozenset(question.dead),
        kraft=kraft,
        release=cluster.release,
        incomplete_ok=question.incomplete_ok,
        offsets=_no_offsets,
        marks=partial(_marks_of, cluster.marks),
        old=with_old_disk(cluster.premises),
        fenced=() if image is None or not kraft else fencing_order(image.brokers, cluster.release),
        remote=cluster.remote,
    )


def _no_offsets(_: str, __: int) -> None:
    """Return the committed offsets of consumer groups, which no table has."""


def _marks_of(
    known: Mapping[TopicPartition, Mapping[int, Offset]], topic: str, partition: int
) -> Mapping[int, Offset]:  # fmt: skip
    """Return the checkpointed high watermarks of a partition, by broker."""
    return known.get(TopicPartition(topic, partition), {})


def elected(
    rows: PartitionRows, here: ClusterHere
) -> tuple[PartitionElection, int, tuple[JudgedPremise, ...], tuple[tuple[int, LogFacts], ...]]:
    """Return the election of a partition, and how many of its replicas the scan has not read.

    Also return the premises that its replicas decide together, and the replicas by broker if two of them differ.
    """
    copies, unread = copies_of(rows.topic, rows.partition, rows.replicas, here)
    registration = None if rows.registration is None else registration_of(rows.registration)
    here = with_partition(here, rows.topic, rows.partition, rows.registration, registration)
    here = here._replace(counted=_counter(rows.counts))
    election = election_of(rows.topic, rows.partition, copies, here)
    is_local = TopicPartition(rows.topic, rows.partition) not in here.remote
    election = _as_known(election, unread, is_compared=is_local and _are_compared(copies))
    return election, len(unread), premises_across(rows, copies, unread, here), differing_logs(rows, copies)


def _are_compared(copies: Iterable[ReplicaCopy]) -> bool:
    """Return whether the tables show where logs part. Only batches show where logs without epochs part."""
    served = [copy.state for copy in copies if copy.role is CopyState.CURRENT]
    is_blind = any(not row.cache and row.log_start_offset < (row.log_end_offset or 0) for row in served)
    return not is_blind or len({row.log_end_offset for row in served}) < 2


def _as_known(election: PartitionElection, unread: Collection[int], *, is_compared: bool) -> PartitionElection:
    """Return an election without costs where a log was not read, or where the tables cannot compare the logs.

    No leader with unknown costs is recommended.
    """
    if unread or not is_compared:
        unknown = NOT_KNOWN, Refetched(None, None)
        candidates = tuple(
            candidate._replace(
                lost=unknown[0], refetch=unknown[1], loses_no_more_than=(), plan=None,
                log_end_offset=None if candidate.broker_id in unread else candidate.log_end_offset,
            )
            if candidate.problem is None
            else candidate
            for candidate in election.candidates
        )  # fmt: skip
        election = election._replace(candidates=candidates)
    best = election.recommended
    is_known = (
        best is not None and best.lost is not None and None not in (best.lost.upper_committed, best.lost.upper_records)
    )
    return election if is_known else election._replace(best=None)


def _counter(rows: Sequence[Mapping[str, Any]]) -> Callable[[TruncationPlan], TruncationPlan]:
    """Return the function that fills in the counted records, where the scan has truncated at the same offsets."""
    known = {(row["leader_id"], row["broker_id"]): row for row in rows}

    def counted(plan: TruncationPlan) -> TruncationPlan:
        followers = []
        for follower in plan.followers:
            row = known.get((plan.leader, follower.broker_id), {})
            lost, refetch = follower.lost, follower.refetch
            if lost is not None and (row.get("lost_from"), row.get("lost_to")) == (lost.start, lost.end):
                lost = lost._replace(records=row["lost_records"], bytes=row["lost_bytes"])
            if refetch is not None and (row.get("refetch_from"), row.get("refetch_to")) == (refetch.start, refetch.end):
                refetch = refetch._replace(records=row["refetch_records"], bytes=row["refetch_bytes"])
            followers.append(follower._replace(lost=lost, refetch=refetch))
        return plan._replace(followers=tuple(followers))

    return counted


def _raced(row: PartitionElection, lean: PartitionElection) -> PartitionElection:
    """Return an election with the race of its lean one."""
    return row._replace(race=lean.race, race_unseen=lean.race_unseen)


def _brokers_of(election: PartitionElection) -> set[int]:
    """Return the brokers that have a replica of a partition, in the run or by the metadata."""
    assigned = () if election.registration is None else election.registration.replicas
    return {*assigned, *(candidate.broker_id for candidate in election.candidates)}


def _with_all(premises: Sequence[JudgedPremise], more: Iterable[JudgedPremise]) -> tuple[JudgedPremise, ...]:
    """Return the premises with further ones, by id. What a broker's own files show already is said once."""
    known = {(row.id, row.broker_id, row.partition) for row in premises}
    others = (row for row in more if (row.id, row.broker_id, row.partition) not in known)
    return tuple(sorted((*premises, *others), key=_premise_order))


def _premise_order(premise: JudgedPremise) -> tuple[object, ...]:
    return premise.broker_id is None, premise.broker_id or 0, premise.id


def _concluded(
    run: FleetRun, cluster: RunCluster, here: ClusterHere, chosen: Elections, unreached: tuple[str, ...]
) -> RunElection:
    """Return the answer (the start order, the cost of each course, and the worst partitions)."""
    elections = in_doubt(sorted(chosen.lean, key=itemgetter(0, 1)))
    races = {(row.topic, row.partition): row for row in elections}
    shown = tuple(_raced(row, races[row.topic, row.partition]) for row in chosen.shown)
    elections, order, course = choice_of(here.starts, here.release, cluster.controllers, elections)
    shown = planned(shown, here.starts, order.brokers, course.means)
    wanted = tuple(row for row in elections if chosen.wanted.has(row.topic, row.partition))
    gaps = tuple(gaps_of(wanted, here))
    more = (*chosen.premises, *names_across(chosen.differing, here), *cluster.no_majority)
    premises = _with_all(cluster.premises, more)
    apart = unserved_of(run, cluster)
    costs = scenarios(wanted, here.starts, order.brokers)
    rescue = rescue_of(cluster.controllers, cluster.nodes, premises, here.dead, starts=bool(here.starts))
    uncounted = uncounted_premises(premises, elections)
    failing = failing_of(gaps)
    empty = None if wanted else why_empty(premises, here.image)
    own = {broker for row in wanted for broker in _brokers_of(row)}
    is_part = len(wanted) < len(elections)  # Then brokers without these partitions have no part in the answer.
    shown_order, shown_course = of_brokers(order, course, own) if is_part else (order, course)
    is_mistaken, is_apart = bool(mistaken_of(gaps, premises)), is_out_of_place(gaps, premises)
    costs = of_start_all(costs) if is_apart else costs
    nothing = nothing_words([*gaps, *uncounted, *unreached], [*apart, *only_aside(elections), *failing], wanted)
    nothing = " ".join(filter(None, (nothing, Depth(run.depth).bound)))
    disks = by_disks(run, cluster, here, elections, premises, gaps, costs, has_rescue=rescue is not None)
    return RunElection(
        run=run,
        cluster=cluster,
        fenced=here.fenced,
        rescue=rescue,
        unserved=apart,
        by_disks=disks,
        nothing=nothing,
        verdict=rescue.sentence
        if rescue is not None
        else verdict(
            wanted,
            here.starts,
            shown_order,
            shown_course,
            why_empty=empty,
            failing=failing,
            is_mistaken=is_mistaken,
            uncounted=uncounted,
            apart=[*not_counted_words(apart), *not_shown_words(cluster, wanted, run.depth, unreached)],
            nothing=nothing,
            is_all=not is_part,
            by_disks=None if are_shown(wanted, costs, here.starts, order.brokers) else disks.title,
        ),
        gaps=gaps,
        order=NO_ORDER if is_apart else shown_order,
        scenarios=costs if rescue is None or rescue.verb is RescueVerb.NONE else not_known(costs, OF_METADATA),
        partitions=shown,
        partition_count=len(wanted),
        left_out=max(0, chosen.at_stake - len(shown)),
        unread=chosen.unread,
        broker_losses=broker_losses(wanted, here.starts),
        lacking=tuple(chosen.lacking),
        lacking_count=chosen.lacking_count,
        is_safe=not (rescue or apart or empty or uncounted or failing or cluster.mendable or unreached)
        and is_safe(wanted)
        and (here.incomplete_ok or all(row.registration is not None for row in wanted)),
        of_cluster=elections,
        starts=here.starts,
        order_of_cluster=order,
        premises=premises,
    )
