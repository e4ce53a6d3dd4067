"""`kcheck recover DIR --next`: how far a cluster is with a plan, and what to do now."""

from dataclasses import dataclass, replace
from typing import Self

from kcheck.core.election.progress import (
    Differs,
    PlanState,
    SavedStep,
    StepState,
    state_of,
)
from kcheck.core.election.steps import RecoveryAction, StepText
from kcheck.documents.answer import Answer, Outcomes
from kcheck.documents.election import interrupted_row
from kcheck.documents.recovery_next import go_on_words, progress_body, wait_words
from kcheck.documents.verification import PlanStep
from kcheck.model.finding import Finding
from kcheck.model.release import Release
from kcheck.model.report import Report
from kcheck.plans.recover import ClusterRecovery
from kcheck.plans.recovery_cases import case_folder, case_words
from kcheck.words import broker_names, counted, partition_name, shell_line, some_of, within

_ASK_AGAIN = "Solve that. Then this command has the next plan."


@dataclass(frozen=True, kw_only=True)
class RecoveryProgress(Answer):
    """The answer of `kcheck recover DIR --next`."""

    folder: str
    """The directory of the plan."""
    steps: tuple[SavedStep, ...]
    """The steps of the plan."""
    states: tuple[StepState, ...]
    """The state of each of them."""
    now: ClusterRecovery
    """The decision for the present files."""
    differs: tuple[Differs, ...] = ()
    """The partitions that another broker leads than the plan wants."""
    fails: tuple[str, ...] = ()
    """The reason why a broker that the next step starts does not start."""
    left: tuple[PlanStep, ...] = ()
    """Differences from the plan although every step is done; empty as long as steps are left."""
    unsolved: tuple[str, ...] = ()
    """The reasons why brokers here do not start that the plan leaves out."""
    strays: tuple[str, ...] = ()
    """The directories that brokers do not serve, once every step is done."""
    gone: tuple[str, ...] = ()
    """The partitions of the plan whose topics the cluster no longer has, or is deleting."""
    unfenced: tuple[int, ...] = ()
    """The brokers that the metadata lists as running since before the plan; none once a broker has started."""
    cases: tuple[str, ...] = ()
    """The conditions of the cases for which the directory has other plans."""

    @property
    def state(self) -> PlanState:
        """The next action."""
        state = state_of(self.states, differs=bool(self.differs or self.fails))
        return PlanState.WAIT if state is PlanState.DONE and (self.left or self.unsolved) else state

    @property
    def at(self) -> int | None:
        """The place of the first step that is not done; None if all are."""
        return next((at for at, state in enumerate(self.states) if state is not StepState.DONE), None)

    @property
    def sentences(self) -> tuple[str, ...]:
        """Done, wait, go on or stop, and why."""
        if self.state is PlanState.STOP:
            led = [
                f"{partition_name(row.partition.topic, row.partition.partition)} is led by broker {row.leader}, the"
                f" plan has broker {row.partition.leader}"
                for row in self.differs
            ]
            why = some_of([*led, *self.fails])
            return f"Stop: {why}.", "From what is there now:", *self.now.sentences
        if self.at is None:
            rows = [*self.unsolved, *(f"{_place(row.topic, row.partition)}{row.seen}" for row in self.left)]
            if rows:
                waits = f"Wait. Every step is done, but {some_of(rows)}."
                return (waits, *([_ASK_AGAIN] if self.unsolved else []))
            which = f"every partition but {some_of([*self.gone])} (topic deleted)" if self.gone else "every partition"
            done = f"Done: all {counted(len(self.steps), 'step')}, and {which} is as planned."
            if not self.strays:
                return (done,)
            return done, f"No broker serves {some_of([*self.strays])}: remove what no application needs."
        step, count = self.steps[self.at], len(self.steps)
        if self.state is PlanState.WAIT:
            waits = f"{wait_words(self.at, count, step.title)} It is once {step.until}."
            return (*self.now.uncounted, waits, *self.now.bundle_words)
        words = go_on_words(self.at, count, step.title)
        go_on = [*self.before, *([] if self.waits_for_nodes else [f"Then {within(words)}" if self.before else words])]
        if self.then is not None:
            words = go_on_words(self.then, count, self.steps[self.then].title)
            go_on.append(f"If the disk is lost for good, {within(words)}")
        return (*self.now.uncounted, *go_on, *self.other_plans, *self.now.bundle_words)

    @property
    def before(self) -> tuple[str, ...]:
        """The step 0, as long as the metadata lists brokers as running that have not started since; else nothing."""
        if self.first is None:
            return ()
        running = f"The metadata still lists {broker_names(self.unfenced)} as running."
        return (f"Step 0 is not done yet. {self.first.title}. {running}",)

    @property
    def first(self) -> StepText | None:
        """The step 0 as long as that is not done; None otherwise."""
        first, step = self.now.nodes_first, None if self.at is None else self.steps[self.at]
        is_next = self.state is PlanState.NEXT and step is not None and step.kind is RecoveryAction.START
        return first if is_next and self.unfenced else None

    @property
    def waits_for_nodes(self) -> bool:
        """True if the named metadata shows later that step 0 is done.

        In 3.9 and earlier only the next step shows that. So does the copy of a broker that does not run.
        """
        has_controller = bool(self.now.election.question.metadata)
        return self.first is not None and self.release.fences_in_hash_order and has_controller

    @property
    def until(self) -> str | None:
        """The condition before the next question; None if nothing is left."""
        if self.waits_for_nodes:
            return "a controller leads, and the metadata lists no broker as running"
        return None if self.at is None or self.state is PlanState.STOP else self.steps[self.at].until

    @property
    def commands(self) -> tuple[str, ...]:
        """The commands to type now."""
        own = () if self.at is None or self.state is PlanState.STOP else self.steps[self.at].commands
        if self.first is None:
            return own
        return self.first.commands if self.waits_for_nodes else (*self.first.commands, *own)

    @property
    def then(self) -> int | None:
        """The place of the first step that can be taken without the disk that the next step brings.

        None without one, or if another plan is for the lost disk.
        """
        steps = list(enumerate(zip(self.steps, self.states, strict=True)))
        if self.at is None or self.steps[self.at].kind is not RecoveryAction.BRING:
            return None
        if self.now.waits_for_disks:
            return None
        left = (
            at for at, (step, state) in steps if StepState.DONE is not state and step.kind is not RecoveryAction.BRING
        )
        return next(left, None)

    @property
    def other_plans(self) -> tuple[str, ...]:
        """The plans for other cases that are still open, as sentences; none once a step is done."""
        numbers = {condition: number for number, condition in enumerate(self.cases, start=1)} if self.at == 0 else {}
        return tuple(
            case_words(case, case_folder(self.folder, numbers[case.condition]))
            for case in self.now.cases
            if case.condition in numbers
        )

    @property
    def next_command(self) -> str | None:
        """The command to type after the step; None once every step is done."""
        if self.state is PlanState.DONE:
            return None
        if self.state is PlanState.STOP:
            return self.now.next_command
        return shell_line(["kcheck", "recover", self.folder, "--next", *self.now.words])

    @property
    def release(self) -> Release:
        """The Kafka release that is modelled."""
        return self.now.release

    @property
    def collected(self) -> list[Finding]:
        """The findings about the files that were read."""
        return self.now.collected

    @property
    def badness(self) -> tuple[float, ...]:
        """Return the loss as a sort key."""
        return self.now.badness

    def outcomes(self) -> tuple[Self, Outcomes | None]:
        """Return the outcomes of the decision for the present files."""
        return self, self.now.outcomes()[1]

    def of_release(self, release: Release) -> Self:
        """Return the same answer with another account of its release."""
        return replace(self, now=self.now.of_release(release))

    def report(self) -> Report:
        """Return the answer as rows."""
        steps = zip(self.steps, self.states, strict=True)
        is_open = self.at is not None and self.state is not PlanState.STOP and not self.waits_for_nodes
        step = self.steps[self.at] if is_open and self.at is not None else None
        return self.as_report(
            "recovery-next",
            self.release.name,
            body={
                **interrupted_row(self.now.election.interrupted),
                **progress_body(
                    self.state,
                    self.sentences,
                    self.at,
                    [(str(one.kind), one.title, state) for one, state in steps],
                    commands=self.commands,
                    until=self.until,
                    check=() if step is None else step.check,
                    needs=None if step is None else step.needs,
                    where=None if step is None else step.where,
                    final=None if step is None else step.final,
                    fails=self.fails,
                    next_command=self.next_command,
                    differs=[
                        {
                            "topic": row.partition.topic,
                            "partition": row.partition.partition,
                            "leader": row.leader,
                            "planned": row.partition.leader,
                        }
                        for row in self.differs
                    ],
                ),
            },
            collected=self.collected,
            checked=self.now.election.checked,
            evidence=self.release.evidence,
            kinds={"steps": "step"},
        )


def _place(topic: str | None, partition: int | None) -> str:
    return "" if topic is None else f"{partition_name(topic, partition)}: "
