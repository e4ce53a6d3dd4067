"""The layout of `kcheck recover quorum`: what is lost, the copies, the steps, or what to bring."""

from kcheck.core.rescue.quorum_loss import QuorumLoss, is_usable
from kcheck.documents.recovery_quorum import gap_of, lacking_words, role
from kcheck.model.report import Report
from kcheck.plans.recover_quorum import QuorumRecovery, plan_words
from kcheck.screen.page import Page, cell

_TITLES = ("node", "role", "epoch", "end", "snapshot", "lacks")


def recovery_quorum(report: Report, page: Page) -> None:
    """Write the decision."""
    answer = report.answer
    assert isinstance(answer, QuorumRecovery)
    for sentence in answer.sentences:
        page.wrapped(sentence, style="bold")
    if answer.loss is not None:
        _copies(answer.loss, page)
    for refusal in answer.warnings:
        page.line()
        page.wrapped(f"Overruled: {refusal.why}", hanging="  ", style="yellow")
    for refusal in answer.refusals:
        page.line()
        page.wrapped(f"Refused: {refusal.why}", hanging="  ", style="red")
        forced = " Or pass over it with --force." if refusal.forced else ""
        page.wrapped(f"{refusal.bring}{forced}", indent="  ")
    _steps(answer, page)
    if answer.written:
        page.line()
        page.wrapped(f"Written: {', '.join(map(cell, answer.written))}.", hanging="  ")
    if answer.next_command is not None:
        page.line()
        page.line("Next:")
        page.line(f"  {answer.next_command}")


def _copies(loss: QuorumLoss, page: Page) -> None:
    page.line()
    rows = []
    for node in loss.nodes:
        copy = node.copy
        place = ("-", "-", "-") if copy is None else (copy.epoch, copy.end, node.snapshot_end or "-")
        damage = "" if copy is None or is_usable(node) else "damaged; "
        rows.append((node.node_id, role(loss, node), *place, f"{damage}{lacking_words(gap_of(loss, node))}"))
    page.table(_TITLES, rows)


def _steps(answer: QuorumRecovery, page: Page) -> None:
    if answer.rescue is None:
        return
    page.line()
    page.wrapped(f"Way back: {answer.rescue.way}, with controller {answer.rescue.target.node_id}.", style="bold")
    if answer.plans:
        page.wrapped(f"Changes: {plan_words(answer.plans)}.")
    width = len(str(len(answer.steps)))
    for place, step in enumerate(answer.steps, start=1):
        page.wrapped(f"{place:>{width}}. {step.title}.", hanging=" " * (width + 2))
        for command in step.commands:
            page.line(f"{' ' * (width + 4)}{command}")
        for note in step.notes:
            page.wrapped(note, indent=" " * (width + 2))
