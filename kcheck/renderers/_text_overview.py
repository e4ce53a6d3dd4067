"""The layout of the next starts in `kcheck PATH`, above its findings."""

from kcheck.core.start.verdicts import worst_first
from kcheck.model.report import Report
from kcheck.screen.page import Page
from kcheck.verbs.check import CheckReport
from kcheck.verbs.overview import Overview


def next_starts(report: Report, page: Page) -> CheckReport:
    """Write the next starts, of which a file has none, and return the check."""
    answer = report.answer
    assert isinstance(answer, Overview)
    if not answer.prediction.log_dirs:
        return answer.check
    from kcheck.renderers._text_predict import premise_lines, unserved_lines, verdict_on, worst_partitions

    if answer.start_of_all is not None:
        for sentence in answer.start_of_all.sentences:
            page.wrapped(sentence, style="bold red" if sentence in answer.start_of_all.losses else "bold")
        page.line()
    for start in answer.prediction.log_dirs:
        verdict_on(start, page)
        worst_partitions(worst_first(start.partitions), start.reasons, page)
    unserved_lines(answer.prediction.unserved, page)
    premise_lines(answer.premises, page)
    return answer.check
