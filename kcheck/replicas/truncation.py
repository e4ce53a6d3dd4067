"""`kcheck truncation`: for each partition and follower, the requests to the leader and the records lost."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Self

from kcheck.core.premises.presence import PARTITIONS_THERE
from kcheck.core.premises.table import ENDS_START
from kcheck.core.replication.truncation_plans import TruncationPlan
from kcheck.core.start.startup import Outcome, Settings
from kcheck.core.start.strays import StrayDetector
from kcheck.disk.refusals import Refusals
from kcheck.documents.answer import BrokerAnswer, Outcomes, compared, name_of, outcomes_of
from kcheck.documents.premises import broker_sentence, losing_premises, premise_rows
from kcheck.documents.strays import NOT_SERVED, stray_outcome
from kcheck.documents.truncation import plan_row
from kcheck.errors import UsageError
from kcheck.model.finding import Finding
from kcheck.model.java import java_int
from kcheck.model.premises import JudgedPremise, PremiseStatus
from kcheck.model.release import Release
from kcheck.model.report import PartitionFilter, Report
from kcheck.replicas.costed_plans import plans_of
from kcheck.replicas.election_kinds import ElectionKinds
from kcheck.replicas.leader_plans import Election
from kcheck.replicas.loading import ReplicaFiles, replicas_of, require_one_cluster, started
from kcheck.replicas.replica import ReplicaState, live
from kcheck.startup.log_manager import start_context
from kcheck.startup.options import StartOptions
from kcheck.survey.refused_paths import refused_findings
from kcheck.survey.selection import require_match
from kcheck.verbs.batch_reads import broker_budgets
from kcheck.verbs.predict import start_of, with_copies
from kcheck.verbs.premises import judged_starts
from kcheck.views.log_dir import LogDirs
from kcheck.views.metadata_at_hand import image_at_hand
from kcheck.views.targets import Target, TargetKind, paths_of, replica_targets

_REPLICAS_MIN = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Truncation(BrokerAnswer):
    """The answer of `kcheck truncation`."""

    election: Election
    """The election."""
    plans: Iterator[TruncationPlan]
    """A plan per partition, or per candidate of each partition; read once."""
    losing: list[tuple[str | None, int | None]] = field(default_factory=list)
    """The partitions that lose records below a high watermark, under the best leader where every one is tried.

    One whose leader does not start is among them.

    It is complete once the plans have been read.
    """
    truncated: list[tuple[str | None, int | None]] = field(default_factory=list)
    """The partitions of which some follower loses records; complete as `losing` is."""
    premises: tuple[JudgedPremise, ...] = ()
    """The assumptions of the answer; empty for running brokers."""

    @property
    def is_proven(self) -> bool:
        """True if no premise is open without which a broker may lack records, or does not start."""
        return not any(self.open_sentences())

    def open_sentences(self) -> Iterator[str]:
        """Yield what the plans do not count (losses, brokers that do not start, replicas without a directory)."""
        uncounted = ENDS_START | {PARTITIONS_THERE}
        yield from losing_premises(self.premises)
        for premise in self.premises:
            if premise.status is PremiseStatus.REFUTED and premise.id in uncounted:
                yield broker_sentence(premise)

    def outcomes(self) -> tuple[Self, Outcomes | None]:
        """Return the findings, and the truncations and losses of each plan, as outcomes."""
        rows, first = compared(self.plans)
        answer = replace(self, plans=rows)
        if first is None:
            return answer, None
        plans: Outcomes = {
            (f"truncation {name_of(plan.topic, plan.partition)}", plan.leader): [
                plan.problem, plan.lost_at_start, plan.is_best,
                *(
                    (part.broker_id, part.problem, part.truncate_to, part.lost, part.diverges_silently_at)
                    for part in plan.followers
                ),
            ]
            for plan in first
        }  # fmt: skip
        return answer, {**outcomes_of(self.collected), **plans}

    def report(self) -> Report:
        """Return the answer as rows."""
        leader = self.election.leader
        broker_id = java_int(leader or "")
        query = {
            "profile": str(self.release.profile),
            "leader": leader if broker_id is None else broker_id,
            "live": self.election.live,
        }
        return self.document(
            "truncation",
            body={**query, "partitions": map(plan_row, self.watched()), "premises": premise_rows(self.premises)},
            kinds={"partitions": "partition"},
        )

    def watched(self) -> Iterator[TruncationPlan]:
        """Yield the plans, and note plans that lose committed records, or whose leader cannot lead."""
        for plan in self.plans:
            if plan.problem is not None or (plan.loses_committed and plan.is_best is not False):
                self.losing.append((plan.topic, plan.partition))
            if any(part.lost is not None and part.lost.records != 0 for part in plan.followers):
                self.truncated.append((plan.topic, plan.partition))
            yield plan


def truncation(
    arguments: list[str],
    election: Election,
    *,
    wanted: PartitionFilter,
    release: Release,
    metadata: tuple[str, ...] = (),
) -> Truncation:
    """Return the plan for every partition of the replicas; each is computed when it is read.

    `metadata` are copies of the cluster's metadata outside of the arguments. UsageError: a replica without a broker id,
    a bare file without a log end offset, a leader without a replica.
    """
    targets = replica_targets(arguments)
    require_match(targets, wanted)
    log_dirs = LogDirs(release)
    image = image_at_hand(targets, metadata, log_dirs, own_only=True)
    loaded = replicas_of(targets, wanted=wanted, log_dirs=log_dirs, running=election.live, image=image)
    require_one_cluster(loaded)
    after_starts = None if election.live else _AfterStarts(targets, log_dirs, metadata, wanted)
    by_partition: dict[tuple[str, int], list[ReplicaState]] = {}
    budgets = broker_budgets()
    for files in loaded.replicas:
        broker = files.view.where.broker_id
        if broker is None:
            raise UsageError(f"{files.path}: no broker id; write BROKER={files.path}")
        if files.bare and files.view.log_end_offset is None:
            raise UsageError(f"{files.path}: no log end offset; write {files.path},leo=N")
        is_live = election.live
        state = live(files.view, files.log_dir, release) if is_live else started(files, release, budgets[broker])
        problem = None if after_starts is None else after_starts.problem(files)
        by_partition.setdefault(files.key, []).append(
            state if problem is None or state.problem is not None else state._replace(problem=problem)
        )
    _known_leader(election, [state for states in by_partition.values() for state in states])
    if len({target.path if target.broker_id is None else target.broker_id for target in targets}) < _REPLICAS_MIN:
        raise UsageError("name the replicas of at least two brokers: 1=PATH 2=PATH")
    return Truncation(
        election=election,
        release=release,
        plans=_plans(
            map(tuple, by_partition.values()),
            election,
            release,
            loaded.findings,
            None if image is None else ElectionKinds(image, loaded.replicas, release, live=election.live),
        ),
        collected=loaded.findings,
        checked=paths_of(targets),
        premises=() if after_starts is None else after_starts.premises,
    )


class _AfterStarts:
    """Replicas after the next start of their brokers, by premises and the metadata of the cluster."""

    def __init__(
        self, targets: Iterable[Target], log_dirs: LogDirs, metadata: tuple[str, ...], wanted: PartitionFilter
    ) -> None:
        self._log_dirs = log_dirs
        options = StartOptions(None, Settings(), log_dirs.release, wanted=wanted, metadata=metadata)
        directories = [target for target in targets if target.kind is not TargetKind.FILE]
        self._targets = {target.log_dir: target for target in directories}
        self._options = with_copies(directories, options, self._log_dirs)
        self._detectors: dict[str, StrayDetector | None] = {}
        starts = [start_of(target, options, [], self._log_dirs, all_simulated=False) for target in directories]
        judged, self.premises = judged_starts(
            tuple(directories), starts, self._options, self._log_dirs, [], one_cluster=True
        )
        self._aborts = {
            target.log_dir: f"its broker does not start: {', '.join(start.reasons[:1])}"
            for target, start in zip(directories, judged, strict=True)
            if start.outcome is Outcome.ABORT
        }

    def problem(self, files: ReplicaFiles) -> str | None:
        """Return why a replica takes no part after the next start; None if it does."""
        return self._aborts.get(files.view.where.log_dir or "") or self._stray(files)

    def _stray(self, files: ReplicaFiles) -> str | None:
        """Return why the broker will not serve a replica; None if it will, or if the metadata does not say."""
        where = files.view.where
        if files.log_dir is None or where.log_dir is None or files.view.topic_id is None:
            return None
        if where.log_dir not in self._detectors:
            log_dir = self._log_dirs.open(self._targets[where.log_dir])
            self._detectors[where.log_dir] = start_context(log_dir, self._options)[1].stray_detector
        detector, release = self._detectors[where.log_dir], self._options.release
        outcome = detector and stray_outcome(detector, files.view.topic_id, files.view.partition, release)
        return None if outcome is None else f"{NOT_SERVED}{outcome[1]}"


def _plans(
    partitions: Iterable[tuple[ReplicaState, ...]],
    election: Election,
    release: Release,
    collected: list[Finding],
    in_cluster: ElectionKinds | None,
) -> Iterator[TruncationPlan]:
    """Yield the plans of all partitions, then collect a finding for each file that was refused meanwhile."""
    with Refusals() as refused:
        for states in partitions:
            placed = None if in_cluster is None else partial(in_cluster.placed, states=states)
            plans = [*plans_of(states, election, release, in_cluster=placed)]
            # Where no replica can lead, that is the plan: the first one's problem says why.
            alone = replace(election, leader=str(states[0].broker_id))
            yield from plans or plans_of(states, alone, release, in_cluster=placed)
    collected.extend(refused_findings(refused, collected))


def _known_leader(election: Election, states: list[ReplicaState]) -> None:
    known = {str(state.broker_id) for state in states}
    if known and election.leader not in ("best", None, *known):
        raise UsageError(f"--leader {election.leader}: not one of {', '.join(sorted(known))}")
