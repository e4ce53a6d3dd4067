"""The layout of `kcheck inspect`: log dirs with a table of their partitions, and single files."""

from collections import defaultdict
from collections.abc import Sequence, Sized
from typing import TypeAlias, TypeGuard

from kcheck.core.replication.lost_transactions import OpenTransaction
from kcheck.documents.inspect import CheckpointState, checkpoint_state, item_row, shown_rows
from kcheck.documents.inspection import (
    InspectDetail,
    InspectedFile,
    InspectedLogDir,
    InspectedPartition,
    InspectedSegment,
)
from kcheck.documents.remote_log import remote_words
from kcheck.model.finding import Finding
from kcheck.model.mapped import Mapped
from kcheck.model.names import OFFSET_CHECKPOINTS
from kcheck.model.remote_index_cache import RemoteIndexCache
from kcheck.model.report import Report, Row
from kcheck.screen.page import Cells, Page, cell, known, size
from kcheck.verbs.inspect import Inspection
from kcheck.words import counted, partition_name

_Findings: TypeAlias = dict[tuple[str | None, str | None, str | None], list[Finding]]
"""Findings by log dir and directory; by file if they have no directory."""


def inspect(report: Report, page: Page) -> Sequence[Finding]:
    """Write each file, partition or log dir with its findings below; return the other findings."""
    answer = report.answer
    assert isinstance(answer, Inspection)
    items = [
        item._replace(partitions=iter([*item.partitions])) if isinstance(item, InspectedLogDir) else item
        for item in answer.items
    ]
    findings: _Findings = defaultdict(list)
    for finding in report.findings():
        where = finding.where
        findings[where.log_dir, where.dir, where.file if where.dir is None else None].append(finding)
    for number, item in enumerate(items):
        if number:
            page.line()
        match item:
            case InspectedLogDir():
                _log_dir(item, answer, page, findings)
            case InspectedPartition():
                _partition_item(item, answer, page, findings)
            case InspectedFile() | InspectedSegment():
                _file(item_row(item, answer.detail), answer, page, findings)
    return [finding for left in findings.values() for finding in left]


def _log_dir(item: InspectedLogDir, answer: Inspection, page: Page, findings: _Findings) -> None:
    view, path = item.view, item.view.where.log_dir
    facts = [f"{path}   broker {cell(view.where.broker_id)}", f"cluster {cell(view.cluster_id)}"]
    facts += [f"directory {view.directory_id}"] if view.directory_id else []
    facts += ["cordoned: no new replicas"] if item.cordoned else []
    facts += [f"clean shutdown: {_yes(view.clean_shutdown)}"]
    page.wrapped(" · ".join(facts), hanging="    ", style="bold")
    states = {name: checkpoint_state(view, name) for name in OFFSET_CHECKPOINTS}
    words = " · ".join(f"{_short_name(name)} {_state(state)}" for name, state in states.items())
    page.wrapped("checkpoints  " + words, hanging="             ")
    if view.remote_index_cache is not None:
        _index_cache(view.remote_index_cache, answer.detail, page)
    own = [key for key in findings if key[:2] == (path, None)]
    for key in sorted(own, key=lambda key: key[2] is not None):
        for finding in findings.pop(key):
            page.finding(finding, indent="  ")
    _partitions([*item.partitions], answer.detail, page, findings)


def _index_cache(cache: RemoteIndexCache, detail: InspectDetail, page: Page) -> None:
    facts = [f"{size(cache.size)} in {counted(cache.files, 'file')}", counted(cache.segments, "remote segment")]
    facts += [f"{cache.incomplete} incomplete"] if cache.incomplete else []
    facts += [f"{cache.leftovers} .tmp or .deleted"] if cache.leftovers else []
    page.wrapped(f"index cache  {' · '.join(facts)}", hanging="             ")
    if cache.indexed and detail.files:
        rows = [(known(offset), *rest) for offset, *rest in cache.indexed]
        page.table(("start offset", "remote segment", "index", "timeindex", "txnindex"), rows, indent="  ")


def _short_name(checkpoint: str) -> str:
    return "recovery-point" if checkpoint.startswith("recovery-point") else checkpoint.removesuffix("-checkpoint")


def _yes(value: object) -> str:
    return "?" if value is None else "yes" if value else "no"


def _state(state: CheckpointState) -> str:
    if state.status == "ok":
        return counted(state.entries or 0, "entry")
    return f"{state.status}: {state.defect}" if state.defect else state.status


_PARTITION_HEADER = (
    "partition", "segments", "size", "log start", "recovery", "high wm", "log end", "epochs", "last epoch",
)  # fmt: skip


def _partitions(items: Sequence[InspectedPartition], detail: InspectDetail, page: Page, findings: _Findings) -> None:
    """Write the table, then the findings of each partition."""
    page.table(_PARTITION_HEADER, [_partition_cells(item) for item in items]) if items else page.line("no partitions")
    for item in items:
        where, remote = item.view.where, remote_words(item.view)
        if remote is not None:
            page.wrapped(f"{where.dir}: {remote}", hanging="    ")
        own_findings = findings.pop((where.log_dir, where.dir, None), [])
        if own_findings:
            page.line(f"{where.dir}:")
        for finding in own_findings:
            page.finding(finding, indent="  ")
        if item.open:
            page.wrapped(_open_words(item, item.open), hanging="    ")
        _widened(item, detail, page)


def _open_words(item: InspectedPartition, still_open: Sequence[OpenTransaction]) -> str:
    producer_id, epoch, first = still_open[0]
    more = f", and {counted(len(still_open) - 1, 'more transaction')}" if len(still_open) > 1 else ""
    return (
        f"{item.view.where.dir}: last stable offset {cell(item.last_stable_offset)}: a transaction of producer"
        f" {producer_id} (epoch {epoch}) is open since offset {first}{more}"
    )


def _partition_cells(item: InspectedPartition) -> tuple[object, ...]:
    view, epochs = item.view, item.view.leader_epochs
    last = f"{epochs[-1].epoch} @ {epochs[-1].start_offset}" if epochs else "-"
    offsets = (view.log_start_offset, known(view.recovery_point), known(view.high_watermark), view.log_end_offset)
    return (view.where.dir, len(view.segments), size(view.size), *offsets, len(epochs), last)


def _widened(item: InspectedPartition, detail: InspectDetail, page: Page) -> None:
    """Write the additional tables of --segments, --epochs, --batches and --files."""
    shown = shown_rows(item, detail)
    if not shown:
        return
    page.line(f"{item.view.where.dir}:")
    for name, rows in shown.items():
        page.line(f"  {name}", "bold")
        if rows:
            page.table(tuple(rows[0]), [tuple(part.values()) for part in rows], indent="  ")


def _partition_item(item: InspectedPartition, answer: Inspection, page: Page, findings: _Findings) -> None:
    view = item.view
    facts = [f"{item.path}   {partition_name(view.topic, view.partition)}", f"broker {cell(view.where.broker_id)}"]
    facts += [f"topic id {cell(view.topic_id)}", f"state {view.state}"]
    page.wrapped(" · ".join(facts), hanging="    ", style="bold")
    _partitions([item], answer.detail, page, findings)


def _file(row: Row, answer: Inspection, page: Page, findings: _Findings) -> None:
    fields = {name: value for name, value in row.items() if name not in ("kind", "path", "broker_reads")}
    kafka, path = answer.release.name, str(row["path"])
    page.wrapped(f"{path}   {row['kind']}", hanging="    ", style="bold")
    tables = {name: value for name, value in fields.items() if _is_table(value)}
    single = [f"{name} {_short(value)}" for name, value in fields.items() if name not in tables]
    page.wrapped(" · ".join(single), hanging="    ")
    for value in tables.values():
        page.table(tuple(value[0]), Mapped(_cells, value))
    reads = row.get("broker_reads")
    if isinstance(reads, dict):
        page.wrapped(f"The broker of Kafka {kafka} {_reads(reads)}.")
    for finding in findings.pop((None, None, path), []):
        page.finding(finding)


def _is_table(value: object) -> TypeGuard[Sequence[Row]]:
    return isinstance(value, (list, tuple, Mapped)) and len(value) > 0 and not isinstance(value[0], int)


def _cells(row: Row) -> Cells:
    return tuple(map(_short, row.values()))


def _reads(reads: Row) -> str:
    if "error" in reads:
        return f"cannot read it: {reads['error']}"
    if reads.get("removed_because") is not None:
        return f"removes it and forgets the last election: {reads['removed_because']}"
    entries = reads.get("entries")
    return f"reads {counted(len(entries), 'entry')}" if isinstance(entries, Sized) else "reads the same"


def _short(value: object) -> str:
    if isinstance(value, dict) and value:
        return ", ".join(f"{key}={part}" for key, part in value.items())
    if isinstance(value, tuple) and value:
        return ", ".join(map(str, value))
    return "none" if value in ((), [], {}) else cell(value)
