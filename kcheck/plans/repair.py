"""`kcheck repair`: what can be done about what is wrong, as a plan. Nothing is changed."""

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from kcheck import __version__
from kcheck.core.start.predictions import LogDirPrediction
from kcheck.core.start.startup import NOT_SERVED, Outcome
from kcheck.disk.identity import known_identities
from kcheck.disk.paths import split
from kcheck.documents.answer import BrokerAnswer
from kcheck.documents.next_start import start_words
from kcheck.documents.predict import loss_row
from kcheck.documents.premises import premise_rows
from kcheck.errors import UsageError
from kcheck.model.finding import Chosen, Finding, Severity
from kcheck.model.loss import LostRecords
from kcheck.model.plan import Plan, placed, plan_row, serialize_plan
from kcheck.model.premises import JudgedPremise
from kcheck.model.release import Release
from kcheck.model.report import PartitionFilter, Report
from kcheck.model.unreadable import UnreadableError
from kcheck.plans.before_and_after import StartComparison
from kcheck.plans.diagnosis import diagnose, require_evidence
from kcheck.plans.edited_log_dir import EditedLogDir
from kcheck.plans.edited_partition import EditedPartition
from kcheck.plans.least_steps import PlannedStep, least_steps
from kcheck.plans.losses import PartitionLoss, lost_with, partition_losses, scope_row, why_refused, worse
from kcheck.plans.operations import Operations
from kcheck.plans.premised_starts import PremisedStarts, premised_starts
from kcheck.plans.remote_history import compare_histories
from kcheck.repairs import WITHOUT, Impact, Refused, Repair, RepairScope, RepairStep, Settled
from kcheck.repairs import RepairOutcome as RepairAnswer
from kcheck.startup.log_manager import combined_starts
from kcheck.startup.options import StartOptions
from kcheck.startup.virtual_files import StartError
from kcheck.survey.recheck import has_left
from kcheck.survey.rule_runner import all_repairs
from kcheck.survey.selection import require_match
from kcheck.verbs.predict import with_copies
from kcheck.views.log_dir import LogDirs
from kcheck.views.targets import Target, TargetKind, directory_wanted, paths_of, replica_targets

if TYPE_CHECKING:
    from kcheck.replicas.elect import ClusterElection

StartJudge = Callable[..., PremisedStarts]
"""Judges the combined starts without the plan and with it, by the premises."""
HEALED = "the next start makes it good without losing records; --tidy plans it too"
"""The reason why nothing is planned though a repair is known."""


class NotPlanned(NamedTuple):
    """A finding about which nothing is planned, and why."""

    finding: str
    """The rule's id."""
    severity: Severity
    """The severity of the finding."""
    log_dir: str
    """The log dir."""
    dir: str | None
    """The partition directory; None if it concerns the log dir."""
    file: str | None
    """The file; None if it concerns several."""
    why: str
    """The reason why no repair is planned."""


class ChosenStep(NamedTuple):
    """A step of a plan, and why nothing less is enough."""

    finding: str
    """The rule's id."""
    log_dir: str
    """The log dir."""
    dir: str | None
    """The partition directory; None if it concerns the log dir."""
    impact: str
    """The size of the change (an `Impact` in lower case)."""
    reason: str
    """The result of the step."""
    least: str
    """The next start without it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairPlan(BrokerAnswer):
    """The answer of `kcheck repair`."""

    plan: Plan
    """The operations, as `kcheck apply` takes them."""
    not_planned: tuple[NotPlanned, ...]
    """Findings about which nothing is planned."""
    healed: tuple[NotPlanned, ...]
    """Findings that the next start makes good itself, without loss; `--tidy` plans for them too."""
    chosen: tuple[ChosenStep, ...]
    """The steps, and why nothing less is enough."""
    losses: tuple[PartitionLoss, ...]
    """The loss of partitions without the plan and with it."""
    now: tuple[LogDirPrediction, ...]
    """The next starts of the log dirs without the plan."""
    starts: tuple[LogDirPrediction, ...]
    """The next starts of the log dirs with the plan applied."""
    premises: tuple[JudgedPremise, ...]
    """The assumptions about the next start without the plan."""
    is_of_nothing: bool = False
    """True if no log dir could be read."""

    def report(self) -> Report:
        """Return the answer as rows."""
        refused, healed = (
            tuple({**row._asdict(), "severity": str(row.severity)} for row in rows)
            for rows in (self.not_planned, self.healed)
        )
        chosen = tuple(row._asdict() for row in self.chosen)
        losses = tuple(map(_loss_row, self.losses))
        more = {"refused": refused, "healed": healed, "chosen": chosen, "losses": losses}
        return self.document("plan", body={**plan_row(self.plan), **more, "premises": premise_rows(self.premises)})

    def plan_bytes(self) -> bytes:
        """Return the plan file."""
        return serialize_plan(self.plan, kcheck=__version__)


def repair(
    arguments: list[str],
    against: list[str],
    options: StartOptions,
    *,
    accept_loss: bool,
    tidy: bool = False,
    adopt: bool = False,
    store: str | None = None,
    keep: Chosen = lambda *_: True,
    election: "ClusterElection | None" = None,
) -> RepairPlan:
    """Return a plan for everything that the paths name; `against` are replicas on other brokers, as a proof.

    A replica that should lead is not moved aside: `election` says which; None to ask as `kcheck recover` does.

    Unless `tidy`, it leaves out what the next start makes good itself. With `adopt`, directories of a topic's former id
    become replicas of the topic that has the name now. The epoch indexes of the remote `store` are a proof too.
    `keep` chooses the findings to plan for and to show, by rule and severity.
    """
    targets, wanted = _log_dirs(replica_targets(arguments), options.wanted)
    require_match(targets, options.wanted)
    for target in targets:
        require_evidence(target)
    log_dirs = LogDirs(options.release)
    options = with_copies(targets, options._replace(wanted=wanted), log_dirs)
    collected: list[Finding] = []
    edited = diagnose(targets, options, collected, log_dirs)
    for log_dir in edited:
        log_dir.adopts = adopt
    proofs = _log_dirs(replica_targets(against), wanted)[0] if against else ()
    others = diagnose(proofs, options, [], log_dirs) if proofs else []
    if proofs:
        from kcheck.plans.safe_replica import prove  # imports the elections: only to compare with another broker

        prove(edited, others, election or _election([*arguments, *against], options))
    compare_histories(edited, others, options.release, store=store)
    judged = partial(premised_starts, targets, edited, options=options, log_dirs=log_dirs)
    planner = _Planner(edited, options.release, judged, accept_loss=accept_loss, keep=keep)
    for rule_repair in all_repairs():
        planner.ask(rule_repair)
    planner.choose(tidy=tidy)
    real = {log_dir.real: log_dir.tree for log_dir in edited}
    identities = known_identities((tree, path) for path, tree in real.items())
    plan = Plan(options.release.name, tuple(real), planner.operations.build(), identities)
    plan = placed(plan, {log_dir: os.path.abspath(log_dir) for log_dir in real})
    return RepairPlan(
        release=options.release,
        plan=plan,
        not_planned=tuple(planner.not_planned()),
        healed=tuple(planner.healed),
        chosen=tuple(planner.chosen),
        losses=planner.losses,
        now=planner.judged.now,
        starts=planner.judged.then,
        premises=planner.judged.premises,
        is_of_nothing=not any(log_dir.is_listed for log_dir in edited),
        collected=[
            finding
            for finding in collected
            if finding.id.startswith(("KC00", "KC308")) and finding.where.log_dir not in planner.judged.missing
        ],
        checked=paths_of((*targets, *proofs)),
    )


def _election(arguments: list[str], options: StartOptions) -> "ClusterElection":
    """Return the recommended leaders of the partitions of these brokers, after the repairs that come first."""
    from kcheck.plans.first_repairs import elect  # it asks for repairs
    from kcheck.replicas.elect import ElectionQuestion

    question = ElectionQuestion(metadata=options.metadata, config=options.config)
    return elect(arguments, question, wanted=PartitionFilter(), release=options.release).whole()


def _log_dirs(targets: Iterable[Target], wanted: PartitionFilter) -> tuple[tuple[Target, ...], PartitionFilter]:
    """Return the log dirs that the targets are or are in, and which partitions of them are meant."""
    by_path: dict[str, Target] = {}
    names: list[str] = []
    names_log_dir = False
    for target in targets:
        if target.kind is TargetKind.FILE:
            raise directory_wanted(target, "a plan")
        if target.kind is TargetKind.PARTITION:
            parent, name = split(target.path)
            names.append(name.partition(".")[0] if name.endswith(("-future", "-stray", "-delete")) else name)
            by_path.setdefault(parent, target._replace(kind=TargetKind.LOG_DIR, path=parent))
        else:
            names_log_dir = True
            by_path.setdefault(target.path, target)
    if names and names_log_dir:
        raise UsageError("log dirs and partition directories cannot be mixed; name the log dirs, and --partition")
    return tuple(by_path.values()), wanted._replace(partitions=(*wanted.partitions, *names)) if names else wanted


class _Planner:
    """Asks the repairs one after the other, and makes the edits of each answer before it asks the next one.

    The steps of a repair are judged together, by the next start before and after them. If they make it worse, each is
    judged alone.
    """

    def __init__(
        self, log_dirs: list[EditedLogDir], release: Release, judge: StartJudge, *, accept_loss: bool, keep: Chosen
    ) -> None:
        self._log_dirs, self._release, self._accept_loss, self._keep = log_dirs, release, accept_loss, keep
        self._judge_starts = judge
        self.operations = Operations()
        self._refused: list[tuple[EditedLogDir, Refused]] = []
        self._answered: set[tuple[str, str | None, tuple[str, ...]]] = set()
        self._made: list[PlannedStep] = []
        self._planned: list[PlannedStep] = []
        self.healed: list[NotPlanned] = []
        self.chosen: list[ChosenStep] = []
        self.losses: tuple[PartitionLoss, ...] = ()
        self._restores: list[Callable[[], None]] = []
        self._first = self.starts = self._start()

    def _start(self) -> list[LogDirPrediction]:
        return combined_starts([log_dir.start() for log_dir in self._log_dirs], self._release, has_left)

    def ask(self, repair: Repair) -> None:
        """Take what a repair plans for each log dir or partition."""
        for log_dir in (log_dir for log_dir in self._log_dirs if log_dir.tree.exists(log_dir.path)):
            if repair.scope is RepairScope.LOG_DIR:
                findings = (*log_dir.findings, *(finding for part in log_dir.partitions for finding in part.findings))
                self._take(log_dir, repair, log_dir, findings)
                continue
            for partition in log_dir.partitions:
                if not partition.gone:
                    self._take(log_dir, repair, partition, partition.findings)
        self._judge()

    def _take(
        self,
        log_dir: EditedLogDir,
        repair: Repair,
        shown: EditedLogDir | EditedPartition,
        findings: tuple[Finding, ...],
    ) -> None:
        wanted = (
            finding for finding in findings if finding.id in repair.rules and self._keep(finding.id, finding.severity)
        )
        about = tuple(finding for finding in wanted if not log_dir.settled(finding))
        if (
            repair.impact is Impact.ASIDE
            and isinstance(shown, EditedPartition)
            and self._is_clean_with_less(log_dir, shown, about)
        ):
            return
        answers: Iterator[RepairAnswer] = repair.plan(shown, about) if about else iter(())
        try:
            for answer in answers:
                self._answered.add((log_dir.path, answer.finding.where.dir, repair.rules))
                if isinstance(answer, Settled):
                    log_dir.settle(answer.finding)
                elif isinstance(answer, Refused):
                    self._refused.append((log_dir, answer))
                else:
                    self._step(log_dir, answer, repair.impact)
        except (StartError, UnreadableError) as error:
            self._refused.extend((log_dir, Refused(finding, f"a file cannot be read: {error}")) for finding in about)

    def _is_clean_with_less(
        self, log_dir: EditedLogDir, partition: EditedPartition, about: tuple[Finding, ...]
    ) -> bool:
        """Return whether smaller repairs than moving a copy aside settle all errors, with a clean next start."""
        bad = [finding for finding in about if finding.severity in (Severity.ERROR, Severity.FATAL)]
        if not bad or not partition.holders():
            return False
        restore, planned = partition.saved(), dict(partition.planned)
        try:
            for repair in all_repairs():
                if repair.scope is RepairScope.PARTITION and repair.impact < Impact.ASIDE:
                    partition.try_out(repair, self._keep)
            start = log_dir.start_of(partition, {})
            clean = start is not None and start.lost is None and start.outcome in (Outcome.OK, Outcome.REPAIRED)
            clean = clean and all(map(partition.settled, bad))
        except (StartError, UnreadableError):
            clean = False
        restore()
        partition.planned = planned
        return clean

    def _step(self, shown: EditedLogDir, step: RepairStep, impact: Impact) -> None:
        log_dir = step.log_dir if isinstance(step.log_dir, EditedLogDir) else shown
        planned = PlannedStep(shown, log_dir, step, lost_with(log_dir, step), impact)
        why_not = None
        if planned.lost is not None and step.holder is None and not self._accept_loss:
            why_not = why_refused(planned)
        why_not = why_not or self.operations.refuses(log_dir, step)
        if why_not is not None:
            self._refused.append((shown, Refused(step.finding, why_not)))
            return
        self._make(planned)

    def _make(self, step: PlannedStep) -> None:
        """Make the edits of a step, which `_judge` keeps or takes back."""
        if not self._made:
            self._restores = [log_dir.saved() for log_dir in self._log_dirs]
        self._made.append(step)
        for edit in step.step.edits:
            step.edited.edit(edit)
        for finding in (step.step.finding, *step.step.settles):
            step.shown.settle(finding)

    def _judge(self) -> None:
        """Take the steps whose edits are made into the plan, unless the next start would be worse with them."""
        made, self._made = self._made, []
        if not made:
            return
        if self._accept_loss:
            self._planned += made
            return
        after = self._start()
        why_worse = worse(self.starts, after)
        if why_worse is None:
            for partition in {pending.edited.by_dir[name] for pending in made for name in pending.dirs if name}:
                partition.forget()
            self.starts = after
            self._planned += made
            return
        for restore in self._restores:
            restore()
        for pending in made:
            for finding in (pending.step.finding, *pending.step.settles):
                pending.shown.settle(finding, done=False)
        if len(made) == 1:
            self._refused.append((made[0].shown, Refused(made[0].step.finding, why_worse)))
            return
        for pending in made:
            self._make(pending)
            self._judge()

    def choose(self, *, tidy: bool) -> None:
        """Make operations of the steps; without `tidy` only of the steps that the next start needs."""
        needed, healed = (self._planned, []) if tidy else least_steps(self._planned)
        self.starts = self._start()
        for planned in healed:
            self._leave_out(planned)
        discarded: dict[tuple[str, str], list[LostRecords]] = defaultdict(list)
        for planned in needed:
            if planned.lost is not None and planned.step.holder is None:
                discarded[planned.edited.path, min(planned.dirs)].append(planned.lost)
        self.losses = tuple(partition_losses(self._log_dirs, (self._first, self.starts), discarded))
        self.judged = self._judge_starts(starts=(self._first, self.starts), is_changed=bool(needed))
        between = StartComparison(self.judged.now, self.judged.then, steps=len(needed))
        for planned in needed:
            step, lost = planned.step, planned.lost
            loses = None if lost is None else {"held": step.holder, **scope_row(step), **loss_row(lost)}
            self.operations.add(planned.edited, step, loses, *between.now_and_after(planned.edited, step))
            where = step.finding.where
            self.chosen.append(
                ChosenStep(
                    finding=step.finding.id, log_dir=planned.shown.path, dir=where.dir,
                    impact=planned.impact.name.lower(), reason=step.reason, least=planned.needed,
                )
            )  # fmt: skip

    def _leave_out(self, planned: PlannedStep) -> None:
        """Take a step that the next start does not need. The broker heals the log, or does not serve it."""
        finding = planned.step.finding
        owner = planned.shown.by_dir.get(finding.where.dir or "")
        starts = (part for start in self.starts if start.path == planned.shown.path for part in start.partitions)
        unserved = (part for part in starts if part.dir == finding.where.dir and part.outcome in NOT_SERVED)
        start = next(unserved, None) if owner is not None and owner.is_unknown else None
        if start is None:
            self.healed.append(_not_planned(planned.shown, finding, HEALED))
            return
        why = start_words(start, self._release)
        for about in (finding, *planned.step.settles):
            planned.shown.settle(about, done=False)
            self._refused.append((planned.shown, Refused(about, why)))

    def not_planned(self) -> Iterator[NotPlanned]:
        """Yield what is not planned, and why, unless another repair took care of it.

        A finding is one row, with the reason of each repair that was asked.
        """
        reasons: dict[tuple[object, ...], dict[str, None]] = {}
        rows: dict[tuple[object, ...], NotPlanned] = {}
        for log_dir, refused in (*self._refused, *self._unknown()):
            finding = refused.finding
            if log_dir.settled(finding) or log_dir.path in self.judged.missing:
                continue
            key = (log_dir.path, finding.id, finding.where, finding.message)
            reasons.setdefault(key, {})[refused.why] = None
            rows[key] = _not_planned(log_dir, finding, "; ".join(reasons[key]))
        yield from dict.fromkeys(rows.values())
        for finding in self.judged.left:
            if self._keep(finding.id, finding.severity):
                where = finding.where
                why = f"{finding.message} ({finding.advice})"
                yield NotPlanned(finding.id, finding.severity, where.log_dir or "", where.dir, where.file, why)

    def _unknown(self) -> Iterator[tuple[EditedLogDir, Refused]]:
        """Yield the errors for which no repair has said anything."""
        repaired: dict[str, list[tuple[str, ...]]] = {}
        for repair in all_repairs():
            for rule in repair.rules:
                repaired.setdefault(rule, []).append(repair.rules)
        for log_dir in self._log_dirs:
            for finding in chain(log_dir.findings, *(part.findings for part in log_dir.partitions)):
                owner = log_dir.by_dir.get(finding.where.dir or "")
                where = (log_dir.path, finding.where.dir)
                answered = any((*where, rules) in self._answered for rules in repaired.get(finding.id, ()))
                mended = owner is not None and owner.version and finding.id in repaired
                bad = finding.severity in (Severity.ERROR, Severity.FATAL) and self._keep(finding.id, finding.severity)
                if bad and not answered and not mended:
                    yield log_dir, Refused(finding, WITHOUT.get(finding.id, f"no repair is known. {finding.advice}"))


def _loss_row(loss: PartitionLoss) -> dict[str, object]:
    start, plan = (None if lost is None else loss_row(lost) for lost in (loss.start_loses, loss.plan_loses))
    return {"log_dir": loss.log_dir, "dir": loss.dir, "start_loses": start, "plan_loses": plan, "saved": loss.saved}


def _not_planned(log_dir: EditedLogDir, finding: Finding, why: str) -> NotPlanned:
    return NotPlanned(
        finding=finding.id,
        severity=finding.severity,
        log_dir=log_dir.path,
        dir=finding.where.dir,
        file=finding.where.file,
        why=why,
    )
