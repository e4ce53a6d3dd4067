"""The layout of `kcheck recover quorum`: what is lost, the copies, the steps, or what to bring."""

from kcheck.core.rescue.quorum_loss import QuorumLoss, is_usable
from kcheck.documents.recovery_quorum import gap_of, lacking_words, role
from kcheck.model.report import Report
from kcheck.plans.recover_quorum import QuorumRecovery
from kcheck.plans.rescue_files import plan_words
from kcheck.renderers._text_rescue import files, refused, stepwise
from kcheck.screen.page import Page

_TITLES = ("node", "role", "epoch", "end", "snapshot", "lacks")


def recovery_quorum(report: Report, page: Page) -> None:
    """Write the decision."""
    answer = report.answer
    assert isinstance(answer, QuorumRecovery)
    for sentence in answer.sentences:
        page.wrapped(sentence, style="bold")
    if answer.loss is not None:
        _copies(answer.loss, page)
    refused(answer.warnings, answer.refusals, page)
    if answer.rescue is not None:
        page.line()
        page.wrapped(f"Way back: {answer.rescue.way}, with controller {answer.rescue.target.node_id}.", style="bold")
        if answer.plans:
            page.wrapped(f"Changes: {plan_words(answer.plans)}.")
        stepwise(answer.steps, page)
    files(answer.written, page)


def _copies(loss: QuorumLoss, page: Page) -> None:
    page.line()
    rows = []
    for node in loss.nodes:
        copy = node.copy
        place = ("-", "-", "-") if copy is None else (copy.epoch, copy.end, node.snapshot_end or "-")
        damage = "" if copy is None or is_usable(node) else "damaged; "
        rows.append((node.node_id, role(loss, node), *place, f"{damage}{lacking_words(gap_of(loss, node))}"))
    page.table(_TITLES, rows)
