"""`kcheck undo`: restores the files that an apply, complete or not, has changed."""

from typing import Annotated

import typer

from kcheck.cli.options import with_output_options
from kcheck.cli.report_output import OutputOptions, remember, restored_line, write_answer


@with_output_options
def undo(
    backup: Annotated[str, typer.Argument(metavar="DIR", help="The backup directory of kcheck apply.")],
    output_options: OutputOptions,
) -> None:
    """Restore what apply changed, byte for byte."""
    from kcheck.disk.apply import undo as take_back
    from kcheck.disk.signals import at_once, at_steps
    from kcheck.plans.plan_report import PlanOutcome

    with at_steps():
        done = take_back(backup)
        line = restored_line(len(done.changed), 0, backup)
        remember(line)
        with at_once():
            answer = PlanOutcome(plan=done.plan, changed=done.changed, is_undone=True)
            write_answer(answer.report(), output_options, last_line=line)
