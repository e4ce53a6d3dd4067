"""`kcheck apply`: carries a plan out."""

import sys
from typing import Annotated

import typer

from kcheck.cli.leaving import Leaving, can_leave, changed_line, leave
from kcheck.cli.options import with_leaving
from kcheck.errors import ApplyError, UsageError
from kcheck.renderers._printable import printable


@with_leaving
def apply(
    plan: Annotated[str, typer.Argument(metavar="PLAN", help="A plan file, as kcheck repair writes it.")],
    leaving: Leaving,
    backup: Annotated[
        str, typer.Option("--backup", metavar="DIR", help="Keep there what is replaced: outside of every log dir.")
    ],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for the word apply.")] = False,
) -> None:
    """Carry out a plan, and keep what it replaces."""
    from kcheck.disk.apply import apply as carry_out
    from kcheck.plans.plan_report import outcome, planned
    from kcheck.renderers._page import plural

    data, found = planned(plan)
    can_leave(outcome(found, None), leaving)
    if not yes:
        for operation in found.operations:
            print(printable(f"{operation.path}: {operation.why.reason}"), file=sys.stderr)
        count = plural(len(found.operations), "operation")
        print(f"{count}. Type apply to go on: ", end="", file=sys.stderr, flush=True)
        if sys.stdin.readline().strip() != "apply":
            raise UsageError("the word apply is needed, or --yes")
    done = carry_out(data, backup)
    line = changed_line(len(done.changed), backup) if done.changed else None
    try:
        leave(outcome(found, done.changed), leaving, changed=line)
    except UsageError as error:
        raise ApplyError(str(error), changed=len(done.changed), backup=backup) from error
