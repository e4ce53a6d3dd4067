"""The layout of `kcheck recover metadata`: what comes back, the topics, the steps, or what to bring."""

from kcheck.documents.recovery_metadata import assumed_words, leader_words
from kcheck.model.report import Report
from kcheck.plans.recover_metadata import MetadataRecovery
from kcheck.plans.rescue_files import plan_words
from kcheck.renderers._text_rescue import files, refused, stepwise
from kcheck.screen.page import Page
from kcheck.words import counted, listed

_TITLES = ("topic", "partitions", "leaders at first", "assumed")
_TOPIC_COUNT_MAX = 20


def recovery_metadata(report: Report, page: Page) -> None:
    """Write the decision."""
    answer = report.answer
    assert isinstance(answer, MetadataRecovery)
    for sentence in answer.sentences:
        page.wrapped(sentence, style="bold")
    _topics(answer, page)
    _leftovers(answer, page)
    refused(answer.warnings, answer.refusals, page)
    if answer.plans:
        page.line()
        place = "bootstrap.checkpoint"
        if answer.place is not None:
            place = "offset {}, epoch {}".format(*answer.place)
        page.wrapped(f"Snapshot for the controller: {place}.", style="bold")
        page.wrapped(f"Changes: {plan_words(answer.plans)}.")
        stepwise(answer.steps, page)
    elif answer.znodes:
        page.line()
        page.wrapped(f"{counted(len(answer.znodes), 'znode')} for an empty ZooKeeper. No file changes.", style="bold")
        stepwise(answer.steps, page)
    files(answer.written, page)


def _topics(answer: MetadataRecovery, page: Page) -> None:
    topics = answer.rebuild.topics
    if not topics:
        return
    page.line()
    page.table(
        _TITLES,
        [
            (topic.name, len(topic.partitions), leader_words(topic), assumed_words(topic))
            for topic in topics[:_TOPIC_COUNT_MAX]
        ],
    )
    if len(topics) > _TOPIC_COUNT_MAX:
        page.line(f"and {counted(len(topics) - _TOPIC_COUNT_MAX, 'more topic')}")


def _leftovers(answer: MetadataRecovery, page: Page) -> None:
    names = [name for row in answer.disks.log_dirs for name in row.leftovers]
    if names:
        page.line()
        what = listed(names, most=2)
        page.wrapped(f"Not served, and left as they are: {what}. kcheck recover topic brings them back.", hanging="  ")
