"""The layout of `kcheck verify` (the verdict, differences, unknown steps, and the number of steps as planned)."""

from collections.abc import Mapping, Sequence

from kcheck.documents.verification import PlanStep, StepKind
from kcheck.model.report import Report
from kcheck.replicas.plan_steps import verdict
from kcheck.replicas.verification import Verification
from kcheck.screen.page import Page
from kcheck.words import counted, partition_name, shell_word

_SHOWN_COUNT = 5
_HEADINGS: Mapping[StepKind, str] = {
    StepKind.PREMISE: "Premises of the next start",
    StepKind.RECORDS: "Saved records",
    StepKind.REMOTE: "Remote storage",
    StepKind.LEADER: "Leaders",
    StepKind.TOPIC: "Topics",
    StepKind.EPOCH: "Leader epochs",
    StepKind.LOG_END: "Log ends",
    StepKind.TRUNCATION: "Followers",
    StepKind.BROKER: "Brokers to start",
    StepKind.REPLICAS: "Replicas to restore",
    StepKind.ISR: "Replicas to wait for",
    StepKind.CONFIG: "Configuration to set back",
    StepKind.STRAY: "Directories to look at, then remove",
}
"""The headings of steps, the worst first."""


def verify(report: Report, page: Page) -> None:
    """Write what differs from the plan."""
    answer = report.answer
    assert isinstance(answer, Verification)
    steps = answer.steps
    page.wrapped(verdict(steps), style="bold")
    differs = [step for step in steps if step.ok is False]
    _groups(differs, page)
    unknown = [step for step in steps if step.ok is None]
    if unknown:
        page.line()
        page.line("Not known:", "yellow")
        _groups(unknown, page)
    good = len(steps) - len(differs) - len(unknown)
    if (differs or unknown) and good:
        page.line()
        page.line(f"{counted(good, 'step')} as planned.")
    worst = next((step for kind in _HEADINGS for step in differs if step.kind == kind and step.topic), None)
    page.line()
    if worst is None:
        page.wrapped("kcheck check PATH... checks the same directories.")
    else:
        name = shell_word(partition_name(worst.topic, worst.partition))
        page.wrapped(f"kcheck elect BROKER=PATH... --partition {name} shows that partition in full.")


def _groups(steps: Sequence[PlanStep], page: Page) -> None:
    for kind, heading in _HEADINGS.items():
        rows = [step for step in steps if step.kind == kind]
        if not rows:
            continue
        page.line()
        page.line(heading, "bold")
        for step in rows if page.every else rows[:_SHOWN_COUNT]:
            name = "" if step.topic is None else f"{partition_name(step.topic, step.partition)}: "
            page.wrapped(f"{name}{step.expected}; seen: {step.seen}", indent="  ", hanging="    ")
        if len(rows) > _SHOWN_COUNT and not page.every:
            page.line(f"  {len(rows) - _SHOWN_COUNT} more; --all lists them")
