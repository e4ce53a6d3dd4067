"""Shared parts of `kcheck recover quorum`, `metadata` and `topic` (refusals, steps and files)."""

from collections.abc import Iterable, Sequence

from kcheck.core.rescue.refusals import RescueRefusal
from kcheck.handouts.quorum_steps import QuorumStep
from kcheck.screen.page import Page, cell
from kcheck.words import counted

_SHOWN_COUNT_MAX = 12


def refused(warnings: Iterable[RescueRefusal], refusals: Iterable[RescueRefusal], page: Page) -> None:
    """Write what the user overruled, and why there is no plan."""
    for refusal in warnings:
        page.line()
        page.wrapped(f"Overruled: {refusal.why}", hanging="  ", style="yellow")
    rows = tuple(refusals)
    for refusal in rows[:_SHOWN_COUNT_MAX]:
        page.line()
        page.wrapped(f"Refused: {refusal.why}", hanging="  ", style="red")
        forced = " Or pass over it with --force." if refusal.forced else ""
        page.wrapped(f"{refusal.bring}{forced}", indent="  ")
    if len(rows) > _SHOWN_COUNT_MAX:
        page.line()
        page.line(f"and {counted(len(rows) - _SHOWN_COUNT_MAX, 'more reason')}", "red")


def stepwise(steps: Sequence[QuorumStep], page: Page, first: int = 1) -> None:
    """Write steps, with their commands and notes; `first` is the number of the first one."""
    width = len(str(first + len(steps) - 1))
    for place, step in enumerate(steps, start=first):
        page.wrapped(f"{place:>{width}}. {step.title}.", hanging=" " * (width + 2))
        for command in step.commands:
            page.line(f"{' ' * (width + 4)}{command}")
        for note in step.notes:
            page.wrapped(note, indent=" " * (width + 2))


def files(written: Sequence[str], page: Page) -> None:
    """Write which files were written."""
    if written:
        page.line()
        page.wrapped(f"Written: {', '.join(map(cell, written))}.", hanging="  ")
