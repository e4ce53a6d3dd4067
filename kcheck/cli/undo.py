"""`kcheck undo`: restores the files that an apply, complete or not, has changed."""

from typing import Annotated

import typer

from kcheck.cli.leaving import UNCHANGED, Leaving, leave
from kcheck.cli.options import with_leaving


@with_leaving
def undo(
    backup: Annotated[str, typer.Argument(metavar="DIR", help="The backup directory of kcheck apply.")],
    leaving: Leaving,
) -> None:
    """Restore what apply changed, byte for byte."""
    from kcheck.disk.apply import undo as take_back
    from kcheck.plans.plan_report import outcome

    done = take_back(backup)
    count = len(done.changed)
    line = f"Changed {count} file{'s' * (count != 1)} back to what {'they were' if count != 1 else 'it was'}."
    leave(outcome(done.plan, done.changed), leaving, last_line=line if count else UNCHANGED)
