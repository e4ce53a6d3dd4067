"""The layout of `kcheck end-offset`: a row for each answer."""

from kcheck.core.replication.offsets_for_leader_epoch import Error
from kcheck.model.report import Report
from kcheck.replicas.end_offset import EndOffset, EndOffsets
from kcheck.screen.page import Page, known
from kcheck.words import partition_name

_HEADER = ("partition", "broker", "requested", "epoch", "end offset", "log end", "error")


def end_offset(report: Report, page: Page) -> None:
    """Write the table of the answers."""
    answer = report.answer
    assert isinstance(answer, EndOffsets)
    rows = [*map(_cells, answer.answers)]
    page.line("OffsetsForLeaderEpoch", "bold")
    page.table(_HEADER, rows) if rows else page.line("no partitions")


def _cells(row: EndOffset) -> tuple[object, ...]:
    name = "-" if row.topic is None else partition_name(row.topic, row.partition)
    error = "" if row.error is Error.NONE else row.error
    return (name, known(row.broker_id), row.requested_epoch, row.epoch, row.end_offset, row.log_end_offset, error)
