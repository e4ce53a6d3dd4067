"""The layout of `kcheck check` and `kcheck PATH` (verdicts of a prediction, findings, and the read parts)."""

from collections.abc import Sequence

from kcheck.model.depth import Depth
from kcheck.model.finding import Finding
from kcheck.model.report import Report
from kcheck.screen.page import Page, size
from kcheck.survey.coverage import Progress
from kcheck.verbs.check import CheckReport
from kcheck.words import counted

_DEPTHS = {
    Depth.CHECKPOINTS: "checkpoints and ends of logs (batch headers: --depth headers)",
    Depth.HEADERS: "batch headers (CRCs: --depth crc)",
    Depth.CRC: "batches with CRCs (records: --depth records)",
    Depth.RECORDS: "records",
}
"""The depth of the check, and the option that looks further."""


def check(report: Report, page: Page) -> Sequence[Finding]:
    """Write the findings below their log dirs, then how much was read; none is left."""
    answer = report.answer
    if not isinstance(answer, CheckReport):
        from kcheck.renderers._text_overview import next_starts  # only for `kcheck PATH`

        answer = next_starts(report, page)
    findings = report.findings()
    if not findings or findings[0].where.log_dir is None:
        page.line()
    if not findings and not report.elsewhere:
        page.line("No problems found.", "bold")
    page.findings(findings)
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
