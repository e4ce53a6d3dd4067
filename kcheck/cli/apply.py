"""`kcheck apply`: applies a plan."""

import sys
from typing import Annotated

import typer

from kcheck.cli.leaving import Leaving, can_leave, changed_line, leave, remember, width_of
from kcheck.cli.options import with_leaving
from kcheck.errors import UsageError
from kcheck.model.report import Report


@with_leaving
def apply(
    plan: Annotated[str, typer.Argument(metavar="PLAN", help="A plan file written by kcheck repair -o.")],
    leaving: Leaving,
    backup: Annotated[
        str, typer.Option("--backup", metavar="DIR", help="Directory for backups, outside every log dir.")
    ],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
) -> None:
    """Apply a plan, and back up every file it replaces."""
    from kcheck.disk.apply import apply as carry_out
    from kcheck.disk.signals import at_once, at_steps
    from kcheck.plans.plan_report import outcome, planned

    data, steps = planned(plan)
    report = outcome(steps, None)
    can_leave(report, leaving)
    if not yes:
        _confirm(report)
    with at_steps():
        done = carry_out(data, backup)
        line = changed_line(len(done.changed), backup)
        remember(line)
        with at_once():
            leave(outcome(steps, done.changed), leaving, last_line=line)


def _confirm(report: Report) -> None:
    """Show what the plan does, and raise UsageError unless the operator types the word."""
    from kcheck.renderers._contract import Options
    from kcheck.renderers._page import Page
    from kcheck.renderers._text_plan import summary

    summary(report, Page(sys.stderr, Options(width=width_of(sys.stderr))))
    print("Type apply to continue: ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip() != "apply":
        raise UsageError("not confirmed: type apply, or use --yes")
