"""The layout of `kcheck recover`: what it costs, the steps with a command a line, the partitions that matter."""

from collections.abc import Iterator

from kcheck.core.election.progress import State
from kcheck.documents.first_repairs import why_first
from kcheck.model.report import Report
from kcheck.plans.progress import RecoveryProgress
from kcheck.plans.recover import ClusterRecovery, case_words
from kcheck.renderers._election_rows import PARTITION_TITLES, partition_cells, warnings
from kcheck.screen.page import Page, cell
from kcheck.words import counted

_WORST_COUNT = 5


def recovery(report: Report, page: Page) -> None:
    """Write the decision."""
    answer = report.answer
    assert isinstance(answer, ClusterRecovery)
    brokers, partitions = len(answer.election.brokers), len(answer.election.partitions)
    page.line(f"recovery of {counted(brokers, 'broker')}, {counted(partitions, 'partition')}", "bold")
    page.line()
    for sentence in answer.sentences:
        page.wrapped(sentence, style="bold")
    _steps(answer, page)
    for case in answer.cases:
        page.line()
        page.wrapped(f"If {case_words(case)}:", style="bold")
        for sentence in case.recovery.sentences[1:]:
            page.wrapped(sentence)
        _steps(case.recovery, page)
    _at_stake(answer, page)
    words = [*dict.fromkeys((*_warnings(answer), *(f"Not known: {text}." for text in answer.not_known)))]
    if words:
        page.line()
    for text in words:
        page.wrapped(text, hanging="  ", style="yellow")
    if answer.written:
        page.line()
        page.wrapped(f"Written: {', '.join(map(cell, answer.written))}.", hanging="  ")
    page.line()
    page.line("Next:")
    page.line(f"  {answer.next_command}")


def recovery_next(report: Report, page: Page) -> None:
    """Write how far a plan is, and what to do now."""
    answer = report.answer
    assert isinstance(answer, RecoveryProgress)
    for sentence in answer.sentences:
        page.wrapped(sentence, style="bold")
    if answer.state is State.STOP:
        _steps(answer.now, page)
    elif answer.at is not None and answer.state is State.NEXT:
        page.line()
        for command in answer.steps[answer.at].commands:
            page.line(f"  {command}")
        page.line()
        page.wrapped(f"Then wait until {answer.steps[answer.at].until}.")
    if answer.state is not State.DONE:
        page.line()
        page.line("Next:")
        page.line(f"  {answer.next_command}")


def _warnings(answer: ClusterRecovery) -> Iterator[str]:
    """Yield what the decision rests on; what a step says already is left out."""
    said = {why_first(repair) for repair in answer.election.repairs}
    return (words for words in warnings(answer.election) if words not in said)


def _steps(answer: ClusterRecovery, page: Page) -> None:
    width = len(str(len(answer.texts)))
    if answer.texts:
        page.line()
    for place, text in enumerate(answer.texts, start=1):
        page.wrapped(f"{place:>{width}}. {text.title}.", hanging=" " * (width + 2))
        for command in text.commands:
            page.line(f"{' ' * (width + 4)}{command}")
        if answer.steps[place - 1].cuts:
            page.wrapped(f"Final: {text.final}", indent=" " * (width + 2), style="red")


def _at_stake(answer: ClusterRecovery, page: Page) -> None:
    rows = answer.at_stake
    if not rows:
        return
    shown = rows if page.every else rows[:_WORST_COUNT]
    page.line()
    page.table(PARTITION_TITLES, [partition_cells(partition) for partition in shown])
    if len(rows) > len(shown):
        page.line(f"{counted(len(rows) - len(shown), 'more partition')} can lose records; --all lists them.")
