"""`kcheck apply`: applies a plan."""

import sys
from typing import Annotated

import typer

from kcheck.cli.leaving import UNCHANGED, Leaving, can_leave, changed_line, leave
from kcheck.cli.options import with_leaving
from kcheck.errors import ApplyError, UsageError
from kcheck.renderers._printable import printable


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
    from kcheck.plans.plan_report import outcome, planned
    from kcheck.renderers._page import plural

    data, steps = planned(plan)
    can_leave(outcome(steps, None), leaving)
    if not yes:
        for operation in steps.operations:
            print(printable(f"{operation.path}: {operation.why.reason}"), file=sys.stderr)
        count = plural(len(steps.operations), "operation")
        print(f"{count}. Type apply to continue: ", end="", file=sys.stderr, flush=True)
        if sys.stdin.readline().strip() != "apply":
            raise UsageError("not confirmed: type apply, or use --yes")
    done = carry_out(data, backup)
    line = changed_line(len(done.changed), backup) if done.changed else UNCHANGED
    try:
        leave(outcome(steps, done.changed), leaving, last_line=line)
    except UsageError as error:
        raise ApplyError(str(error), changed=len(done.changed), backup=backup) from error
