"""`kcheck apply`: applies a plan."""

import sys
from typing import Annotated

import typer

from kcheck.cli.options import with_output_options
from kcheck.cli.report_output import OutputOptions, changed_line, checked_renderer, remember, width_of, write_answer
from kcheck.errors import UsageError
from kcheck.model.report import Report


@with_output_options
def apply(
    plan: Annotated[str, typer.Argument(metavar="PLAN", help="A plan file written by kcheck repair -o.")],
    output_options: OutputOptions,
    backup: Annotated[
        str, typer.Option("--backup", metavar="DIR", help="Directory for backups, outside every log dir.")
    ],
    mapped: Annotated[
        list[str] | None,
        typer.Option(
            "--map", metavar="[NAME=]PATH", help="Place of a log dir of the plan on this machine; repeatable."
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
) -> None:
    """Apply a plan of repair, and back up every file that it replaces."""
    from kcheck.disk.apply import apply as carry_out
    from kcheck.disk.plan_here import plan_here
    from kcheck.disk.signals import at_once, at_steps
    from kcheck.model.plan_json import parse_plan
    from kcheck.plans.plan_report import PlanOutcome, plan_file

    data = plan_here(plan_file(plan), mapped or (), backup)
    steps = parse_plan(data)
    report = PlanOutcome(plan=steps).report()
    checked_renderer(report, output_options)
    if not yes:
        _confirm(report)
    with at_steps():
        done = carry_out(data, backup)
        line = changed_line(len(done.changed), backup)
        remember(line)
        with at_once():
            answer = PlanOutcome(plan=steps, changed=done.changed)
            write_answer(answer.report(), output_options, last_line=line)


def _confirm(report: Report) -> None:
    """Show what the plan does, and raise UsageError unless the operator types the word."""
    from kcheck.renderers import Options
    from kcheck.renderers.text import brief

    brief(report, sys.stderr, Options(width=width_of(sys.stderr)))
    print("Type apply to continue: ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip() != "apply":
        raise UsageError("not confirmed: type apply, or use --yes")
