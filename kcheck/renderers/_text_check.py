"""The layout of `kcheck check` and `kcheck PATH` (verdicts of a prediction, findings, and the read parts)."""

from collections.abc import Sequence

from kcheck.model.depth import Depth
from kcheck.model.finding import Finding, Severity
from kcheck.model.report import Report
from kcheck.screen.page import Page, size
from kcheck.survey.coverage import Progress
from kcheck.verbs.check import CheckReport
from kcheck.words import counted

_CLEAN = "No problems found."
_DEPTHS = {
    Depth.CHECKPOINTS: "checkpoints and ends of logs (batch headers: --depth headers)",
    Depth.HEADERS: "batch headers (CRCs: kcheck check --depth crc)",
    Depth.CRC: "batches with CRCs (records: --depth records)",
    Depth.RECORDS: "records",
}
"""The depth of the check, and the option that looks further."""


def check(report: Report, page: Page) -> Sequence[Finding]:
    """Write the findings below their log dirs, then how much was read; none is left."""
    answer = report.answer
    nodes, good = dict[str, str](), _CLEAN
    if not isinstance(answer, CheckReport):
        answer, nodes, good = _next_starts(report, page)
    findings = report.findings()
    is_clean = not findings and not report.elsewhere and good
    if is_clean or (findings and findings[0].where.log_dir is None):
        page.line()
    if is_clean:
        page.line(good, "bold")
    page.findings(findings, nodes)
    page.line()
    counts = answer.counts
    words = [
        counted(count, noun)
        for count, noun in (
            (counts.log_dirs, "log dir"),
            (counts.partitions, "partition"),
            (counts.segments, "segment"),
            (counts.files, "file"),
        )
        if count
    ]
    page.wrapped(f"Read: {', '.join([*words, size(counts.bytes)])}; {_DEPTHS[answer.depth]}")
    if counts.segments_skipped:
        page.wrapped(f"skipped {counted(counts.segments_skipped, 'segment')} outside --since and --until")
    if answer.interrupted is not None:
        page.wrapped(f"interrupted after {_covered(*answer.interrupted)}", style="bold")
    return ()


def _next_starts(report: Report, page: Page) -> tuple[CheckReport, dict[str, str], str]:
    """Write the next starts of `kcheck PATH`, of which a file has none.

    Return its check, nodes by log dir, and the sentence for no findings; empty if the starts are not good.
    """
    from kcheck.core.start.verdicts import worst_first  # imports of `kcheck PATH` alone
    from kcheck.documents.premises import open_words
    from kcheck.verbs.overview import Overview

    answer = report.answer
    assert isinstance(answer, Overview)
    if not answer.prediction.log_dirs:
        return answer.check, {}, _CLEAN
    from kcheck.renderers._text_predict import losing_lines, premise_lines, unserved_lines, verdict_on, worst_partitions

    if answer.start_of_all is not None:
        for sentence in answer.start_of_all.sentences:
            page.wrapped(sentence, style="bold red" if sentence in answer.start_of_all.losses else "bold")
        page.line()
    losing_lines(answer.prediction, answer.premises, page)
    for start in answer.prediction.log_dirs:
        verdict_on(start, page)
        worst_partitions(worst_first(start.partitions), start.reasons, page)
    unserved_lines(answer.prediction.unserved, page)
    premise_lines(answer.premises, page)
    if answer.if_lost is not None:
        page.wrapped(answer.if_lost.sentence, hanging="    ")
    nodes = {start.path: start.node for start in answer.prediction.log_dirs}
    if answer.severity.rank >= Severity.WARNING.rank:
        return answer.check, nodes, ""
    is_open = any(open_words(row) is not None for row in answer.premises)
    return answer.check, nodes, "No problems found in these files." if is_open else _CLEAN


def _covered(done: Progress, planned: Progress) -> str:
    counts = [
        f"{part} of {counted(whole, noun)}"
        for part, whole, noun in (
            (done.log_dirs, planned.log_dirs, "log dir"),
            (done.partitions, planned.partitions, "partition"),
        )
        if whole
    ]
    return " / ".join([*counts, *([f"{size(done.bytes)} of {size(planned.bytes)}"] if planned.bytes else [])])
