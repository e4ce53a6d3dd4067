"""The layouts of `kcheck recover quorum`, `metadata` and `topic` (the loss, the steps, or what to bring)."""

from collections.abc import Sequence

from kcheck.core.rescue.quorum_loss import QuorumLoss, is_usable
from kcheck.documents.recovery_metadata import assumed_words, leader_words
from kcheck.documents.recovery_quorum import gap_of, lacking_words, role
from kcheck.handouts.quorum_steps import QuorumStep
from kcheck.model.report import Report
from kcheck.plans.recover_metadata import MetadataRecovery
from kcheck.plans.recover_quorum import QuorumRecovery
from kcheck.plans.recover_topic import TopicRecovery
from kcheck.plans.rescue_answer import RescueAnswer
from kcheck.plans.rescue_files import plan_words
from kcheck.screen.page import Page, cell
from kcheck.words import counted, listed

_SHOWN_COUNT_MAX = 12
"""Reasons without a plan."""
_TOPIC_COUNT_MAX, _DIRECTORY_COUNT_MAX = 20, 30


def recovery_quorum(report: Report, page: Page) -> None:
    """Write the decision."""
    answer = report.answer
    assert isinstance(answer, QuorumRecovery)
    _sentences(answer, page)
    if answer.loss is not None:
        _copies(answer.loss, page)
    _refused(answer, page)
    if answer.rescue is not None:
        page.line()
        page.wrapped(f"Way back: {answer.rescue.way}, with controller {answer.rescue.target.node_id}.", style="bold")
        if answer.plans:
            page.wrapped(f"Changes: {plan_words(answer.plans)}.")
        stepwise(answer.steps, page)
    _files(answer.written, page)


def _copies(loss: QuorumLoss, page: Page) -> None:
    page.line()
    rows = []
    for node in loss.nodes:
        copy = node.copy
        place = ("-", "-", "-") if copy is None else (copy.epoch, copy.end, node.snapshot_end or "-")
        damage = "" if copy is None or is_usable(node) else "damaged; "
        rows.append((node.node_id, role(loss, node), *place, f"{damage}{lacking_words(gap_of(loss, node))}"))
    page.table(("node", "role", "epoch", "end", "snapshot", "lacks"), rows)


def recovery_metadata(report: Report, page: Page) -> None:
    """Write the decision."""
    answer = report.answer
    assert isinstance(answer, MetadataRecovery)
    _sentences(answer, page)
    _topics(answer, page)
    _leftovers(answer, page)
    _refused(answer, page)
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
    _files(answer.written, page)


def _topics(answer: MetadataRecovery, page: Page) -> None:
    rows = [
        (topic.name, len(topic.partitions), leader_words(topic), assumed_words(topic))
        for topic in answer.rebuild.topics[:_TOPIC_COUNT_MAX]
    ]
    _some(("topic", "partitions", "leaders at first", "assumed"), rows, len(answer.rebuild.topics), "topic", page)


def _leftovers(answer: MetadataRecovery, page: Page) -> None:
    names = [name for row in answer.disks.log_dirs for name in row.leftovers]
    if names:
        page.line()
        what = listed(names, most=2)
        page.wrapped(f"Not served, and left as they are: {what}. kcheck recover topic brings them back.", hanging="  ")


def recovery_topic(report: Report, page: Page) -> None:
    """Write the decision."""
    answer = report.answer
    assert isinstance(answer, TopicRecovery)
    _sentences(answer, page)
    old, names = answer.topic.old, {row.old: row.name for row in answer.adoptions}
    rows = [
        (row.broker_id, row.name, row.epoch, f"{row.start}-{row.end - 1}", names.get(row, "-"))
        for row in old[:_DIRECTORY_COUNT_MAX]
    ]
    _some(("broker", "directory", "epoch", "offsets", "becomes"), rows, len(old), "directory", page)
    _refused(answer, page)
    if answer.plans:
        page.line()
        if any(row.rewrites_epochs for row in answer.adoptions):
            page.wrapped("Batches get leader epoch 0. Their CRC does not cover it, so no CRC changes.")
        stepwise(answer.steps, page)
    _files(answer.written, page)


def _sentences(answer: RescueAnswer, page: Page) -> None:
    for sentence in answer.sentences:
        page.wrapped(sentence, style="bold")


def _some(titles: tuple[str, ...], rows: Sequence[tuple[object, ...]], count: int, noun: str, page: Page) -> None:
    """Write a table with some of so many rows; nothing without rows."""
    if not rows:
        return
    page.line()
    page.table(titles, rows)
    if count > len(rows):
        page.line(f"and {counted(count - len(rows), f'more {noun}')}")


def _refused(answer: RescueAnswer, page: Page) -> None:
    """Write what the user overruled, and why there is no plan."""
    for refusal in answer.warnings:
        page.line()
        page.wrapped(f"Overruled: {refusal.why}", hanging="  ", style="yellow")
    rows = answer.refusals
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


def _files(written: Sequence[str], page: Page) -> None:
    """Write which files were written."""
    if written:
        page.line()
        page.wrapped(f"Written: {', '.join(map(cell, written))}.", hanging="  ")
