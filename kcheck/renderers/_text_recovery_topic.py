"""The layout of `kcheck recover topic`: the directories that are left, the steps, or what to bring."""

from kcheck.model.report import Report
from kcheck.plans.recover_topic import TopicRecovery
from kcheck.renderers._text_rescue import files, refused, stepwise
from kcheck.screen.page import Page
from kcheck.words import counted

_TITLES = ("broker", "directory", "epoch", "offsets", "becomes")
_SHOWN_COUNT_MAX = 30


def recovery_topic(report: Report, page: Page) -> None:
    """Write the decision."""
    answer = report.answer
    assert isinstance(answer, TopicRecovery)
    for sentence in answer.sentences:
        page.wrapped(sentence, style="bold")
    old = answer.topic.old
    if old:
        names = {row.old: row.name for row in answer.adoptions}
        page.line()
        page.table(
            _TITLES,
            [
                (row.broker_id, row.name, row.epoch, f"{row.start}-{row.end - 1}", names.get(row, "-"))
                for row in old[:_SHOWN_COUNT_MAX]
            ],
        )
        if len(old) > _SHOWN_COUNT_MAX:
            page.line(f"and {counted(len(old) - _SHOWN_COUNT_MAX, 'more directory', 'more directories')}")
    refused(answer.warnings, answer.refusals, page)
    if answer.plans:
        page.line()
        if any(row.rewrites_epochs for row in answer.adoptions):
            page.wrapped("Batches get leader epoch 0. Their CRC does not cover it, so no CRC changes.")
        stepwise(answer.steps, page)
    files(answer.written, page)
