"""`kcheck recover --from RUN`: what starting everything now loses in the clusters of a run, and the first steps.

The tables hold no batches. What only the disks show is named, with the command that reads them.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from kcheck.core.election.scenarios import START_ALL, Scenario, costs
from kcheck.core.election.steps import StepText, steps_of
from kcheck.documents.answer import Answer, release_row
from kcheck.documents.comes_first import brokers_words
from kcheck.documents.election import scenario_row
from kcheck.documents.election_words import decision_words, rescue_words
from kcheck.documents.next_commands import FOLDER
from kcheck.documents.uncounted import uncounted_words
from kcheck.documents.unserved import not_counted_words
from kcheck.errors import UsageError
from kcheck.fleet.risk import LEAST
from kcheck.fleet.run import FleetRun, holding, open_run
from kcheck.fleet.runs.cluster import cluster_names
from kcheck.fleet.runs.elect import RunElection, elect_in, here_of
from kcheck.fleet.runs.election_plan import moved_places, recovery_of
from kcheck.handouts.plan_context import PlanContext
from kcheck.handouts.step_words import step_texts
from kcheck.model.depth import Depth
from kcheck.model.premises import PremiseStatus
from kcheck.model.release import Release
from kcheck.model.report import PartitionFilter, Report, Row
from kcheck.replicas.elect import ElectionQuestion
from kcheck.words import LISTED_MAX, broker_names, counted, other_end_words, some_names

FIRST_COUNT = 3
"""Number of shown steps of a plan. `kcheck recover` on the disks gives all of them."""


class ClusterDecision(NamedTuple):
    """The state of one cluster in a run."""

    cluster: str | None
    release: Release
    """The release of the answer; its evidence names the other end of a range of releases."""
    sentences: tuple[str, ...]
    """The loss of starting everything now, the loss of the plan, and the uncounted parts."""
    start_all: Scenario
    plan: Scenario
    best: Scenario
    steps: tuple[StepText, ...]
    """The first steps of the plan."""
    step_count: int
    not_known: tuple[str, ...]
    """Facts that only the disks show, as clauses."""
    command: str
    """The command that reads the disks, and writes the complete plan."""
    is_safe: bool | None
    """True if starting all loses no committed record and leaves no partition without leader; None if not known."""
    is_whole: bool = True
    """True if a loss of 0 is proven, because no missing disk or broker has records that are not counted."""

    def proven(self, count: int | None) -> int | None:
        """Return a count of lost records; None for a 0 that is not proven."""
        return count if self.is_whole else count or None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecovery(Answer):
    """The answer of `kcheck recover --from`."""

    run: FleetRun
    """The run."""
    clusters: tuple[ClusterDecision, ...]
    """The decisions, those first that need one most."""

    @property
    def is_safe(self) -> bool:
        """True if every cluster can be started as it is."""
        return all(decision.is_safe is True for decision in self.clusters)

    def report(self) -> Report:
        """Return the answer as rows."""
        return self.as_report(
            "recover-run",
            self.run.kafka,
            body={"run": self.run.path, "clusters": tuple(map(decision_row, self.clusters))},
            kinds={"clusters": "cluster"},
            checked=(self.run.path,),
        )


def recover_run(path: str, cluster: str | None, question: ElectionQuestion) -> RunRecovery:
    """Return the decisions for a cluster of a run, or for each of its clusters.

    UsageError as in `elect_run`.
    """
    run = open_run(path)
    names = cluster_names(run) if cluster is None else [cluster]
    decisions = [decide(held, name, question) for held, name in holding(run, names)]
    return RunRecovery(run=run, clusters=tuple(sorted(decisions, key=_urgency)))


def decide(run: FleetRun, name: str | None, question: ElectionQuestion) -> ClusterDecision:
    """Return the decision for a cluster by a run. UsageError as in `elect_run`."""
    election = elect_in(run, name, question, wanted=PartitionFilter())
    scenarios = {row.name: row for row in election.scenarios}
    start_all, plan, best = scenarios[START_ALL], scenarios["plan"], scenarios["best"]
    uncounted, first = election.uncounted, election.by_disks.first
    is_known, is_counted = start_all.offline_partitions is not None, election.is_counted
    is_open = bool(first.log_dirs) or election.is_out_of_place
    has_steps = bool(election.starts) and not is_open
    words = (
        *uncounted_words(election.gaps, uncounted, election.worst_in_full, has_steps=has_steps),
        *not_counted_words(election.unserved),
    )
    sentences: Iterable[str]
    if election.rescue is not None:
        refuted = (row for row in election.premises if row.status is PremiseStatus.REFUTED)
        sentences = rescue_words(election.rescue, refuted)
    elif not election.of_cluster:
        sentences = (election.verdict,)
    elif first.brokers:
        sentences = brokers_words(first.brokers, election.gaps)
    else:
        said = decision_words(
            start_all, plan, best, election.of_cluster, is_counted=is_counted, nothing=election.nothing,
            uncounted=words, is_planned=not election.by_disks.are_first,
        )  # fmt: skip
        sentences = dict.fromkeys((*first.log_dirs, *(row.text for row in said)))
    not_known = tuple(_not_known(election, run.depth, is_counted=is_counted))
    steps = tuple(_texts(run, election, question))
    return ClusterDecision(
        cluster=name,
        release=election.cluster.release,
        sentences=tuple(sentences),
        start_all=start_all,
        plan=plan,
        best=best,
        steps=steps[:FIRST_COUNT],
        step_count=len(steps),
        not_known=not_known,
        command=election.by_disks.command,
        is_safe=_is_safe(election, start_all, is_known=is_counted and is_known),
        is_whole=not (election.gaps or uncounted or election.unserved),
    )


def _is_safe(election: RunElection, start_all: Scenario, *, is_known: bool) -> bool | None:
    """Return whether starting everything keeps all; None if that is not known.

    A run plans no repairs. So where one may save records first, nothing is safe.
    """
    if election.rescue is not None:
        return False
    if not is_known:
        return None
    is_safe = election.is_safe and start_all.keeps_all
    return None if is_safe and election.cluster.mendable else is_safe


def _texts(run: FleetRun, election: RunElection, question: ElectionQuestion) -> Iterator[StepText]:
    """Yield the steps in words; one alone where only the disks show the first step."""
    first, lacks, command = election.by_disks
    if first.is_alone:
        return
    if lacks:
        yield StepText(
            election.by_disks.title,
            "no broker of the cluster runs",
            (command,),
            "DIR has a plan",
            "nothing: the command only reads",
        )
        return
    here = here_of(election.cluster, question)
    recovery = recovery_of(
        run, election.cluster, here, election.worst_in_full, election.order, election.uncounted, election.rescue,
        election.unserved, first.disks, FOLDER,
    )  # fmt: skip
    steps = steps_of(recovery)
    places = moved_places(run, election.cluster, steps)
    context = PlanContext(recovery, (), {}, {}, places, FOLDER, sought=first.disks, save=command)
    yield from step_texts(context, steps)


def _not_known(election: RunElection, depth: str, *, is_counted: bool) -> Iterator[str]:
    """Yield facts that tables do not show (other disks, unread logs, and the benefit of repairs)."""
    yield from (f"what only broker {gap.broker_id} holds" for gap in election.gaps if gap.why is None)
    remote = sorted(election.cluster.remote)
    if remote:
        names = some_names(remote)
        yield f"how many records in remote storage a leader of {names} deletes or does not serve"
    if election.unread:
        yield f"what the next start keeps of {counted(election.unread, 'replica')}: the scan did not read the logs"
    elif not is_counted:
        unread = (
            "a run keeps no batches"
            if Depth(depth).verifies
            else "the scan did not read all batches (--depth crc does)"
        )
        yield f"how many records the replicas do not share: {unread}"
    mendable = election.cluster.mendable
    if mendable:
        yield f"whether a repair of {broker_names(mendable, LISTED_MAX)} saves records first: a run plans no repairs"


def decision_columns(run: FleetRun, name: str | None) -> Row:
    """Return the decision for a cluster of a run as columns of the table `clusters`.

    The loss under the best leaders is there too, because only that is known without metadata.
    """
    try:
        decision = decide(run, name, ElectionQuestion())
    except UsageError as error:  # The name stands for several clusters.
        return {"not_known": json.dumps([str(error)])}
    start, plan = decision.start_all, decision.plan
    return {
        "decision": " ".join(decision.sentences),
        "safe": decision.is_safe,
        "start_all_lost": decision.proven(start.lost.upper_records),
        "start_all_committed": decision.proven(start.lost.upper_committed),
        "start_all_offline": start.offline_partitions,
        "plan_lost": decision.proven(plan.lost.upper_records),
        "plan_committed": decision.proven(plan.lost.upper_committed),
        "plan_offline": plan.offline_partitions,
        "first_steps": json.dumps([*step_rows(decision)]),
        "not_known": json.dumps(decision.not_known),
        "recover": decision.command,
        "decision_differs": other_end_words(decision.release.evidence),
        LEAST: decision.best.lost.upper_committed,
    }


def decision_row(decision: ClusterDecision) -> Row:
    """Return a decision as a row."""
    return {
        "cluster": decision.cluster,
        **release_row(decision.release.name, decision.release.evidence),
        "verdict": " ".join(decision.sentences),
        "safe": decision.is_safe,
        "start_all": scenario_row(decision.start_all),
        "plan": scenario_row(decision.plan),
        "steps": tuple(step_rows(decision)),
        "step_count": decision.step_count,
        "not_known": decision.not_known,
        "next": decision.command,
    }


def step_rows(decision: ClusterDecision) -> Iterator[Row]:
    """Yield the first steps as rows."""
    for number, step in enumerate(decision.steps, start=1):
        yield {"step": number, "title": step.title, "commands": step.commands}


def _urgency(decision: ClusterDecision) -> tuple[Any, ...]:
    """Return the sort key, with the cluster that needs a decision most first."""
    return decision.is_safe is True, *(-cost for cost in costs(decision.start_all)), str(decision.cluster)
