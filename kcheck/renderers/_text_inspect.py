"""The layout of `kcheck inspect`: log dirs with a table of their partitions, and single files."""

from typing import Any

from kcheck.model.mapped import Mapped
from kcheck.model.report import Report, Row
from kcheck.screen.page import Cells, Findings, Page, cell, known, size
from kcheck.words import counted, partition_name


def inspect(report: Report, page: Page, findings: Findings) -> None:
    """Write each file, partition or log dir with its findings below; remove what is written from `findings`."""
    items: Any = report.body["items"]
    for number, item in enumerate(items):
        if number:
            page.line()
        if item["kind"] == "log-dir":
            _log_dir(item, report, page, findings)
        elif item["kind"] == "partition":
            _partition_item(item, report, page, findings)
        else:
            _file(item, report, page, findings)


def _log_dir(item: Row, report: Report, page: Page, findings: Findings) -> None:
    facts = [f"{item['path']}   broker {cell(item['broker_id'])}", f"cluster {cell(item['cluster_id'])}"]
    facts += [f"directory {item['directory_id']}"] if item["directory_id"] else []
    facts += ["cordoned: no new replicas"] if item["cordoned"] else []
    facts += [f"clean shutdown: {_yes(item['clean_shutdown'])}", f"Kafka {report.kafka} rules"]
    page.wrapped(" · ".join(facts), hanging="    ", style="bold")
    checkpoints: Any = item["checkpoints"]
    states = " · ".join(f"{_short_name(name)} {_state(state)}" for name, state in checkpoints.items())
    page.wrapped("checkpoints  " + states, hanging="             ")
    if item["remote_index_cache"] is not None:
        _index_cache(item["remote_index_cache"], page)
    for row in findings.pop((item["path"], None, None), []):
        page.finding(row, indent="  ")
    for key in [key for key in findings if key[0] == item["path"] and key[1] is None]:
        for row in findings.pop(key):
            page.finding(row, indent="  ")
    _partitions(item["partitions"], page, findings)


def _index_cache(cache: Any, page: Page) -> None:
    facts = [
        f"{size(cache['size'])} in {counted(cache['files'], 'file')}",
        counted(cache["segments"], "remote segment"),
    ]
    facts += [f"{cache['incomplete']} incomplete"] if cache["incomplete"] else []
    facts += [f"{cache['leftovers']} .tmp or .deleted"] if cache["leftovers"] else []
    page.wrapped(f"index cache  {' · '.join(facts)}", hanging="             ")
    if cache["indexed"]:
        rows = [(known(offset), *rest) for offset, *rest in map(dict.values, cache["indexed"])]
        page.table(("start offset", "remote segment", "index", "timeindex", "txnindex"), rows, indent="  ")


def _short_name(checkpoint: str) -> str:
    return "recovery-point" if checkpoint.startswith("recovery-point") else checkpoint.removesuffix("-checkpoint")


def _yes(value: object) -> str:
    return "?" if value is None else "yes" if value else "no"


def _state(state: Row) -> str:
    status = state["status"]
    if status == "ok":
        return counted(int(str(state["entries"])), "entry")
    return f"{status}: {state['defect']}" if state["defect"] else str(status)


_PARTITION_HEADER = (
    "partition", "segments", "size", "log start", "recovery", "high wm", "log end", "epochs", "last epoch",
)  # fmt: skip


def _partitions(rows: Any, page: Page, findings: Findings) -> None:
    """Write the table, then the findings of each partition."""
    page.table(_PARTITION_HEADER, [_partition_cells(row) for row in rows]) if rows else page.line("no partitions")
    for row in rows:
        own_findings = findings.pop((row["log_dir"], row["dir"], None), [])
        if own_findings:
            page.line(f"{row['dir']}:")
        for finding in own_findings:
            page.finding(finding, indent="  ")
        _widened(row, page)


def _partition_cells(row: Row) -> tuple[object, ...]:
    epochs: Any = row["leader_epochs"]
    segments: Any = row["segments"]
    last = f"{epochs[-1]['epoch']} @ {epochs[-1]['start_offset']}" if epochs else "-"
    offsets = (row["log_start_offset"], known(row["recovery_point"]), known(row["high_watermark"]))
    return (row["dir"], len(segments), size(row["size"]), *offsets, row["log_end_offset"], len(epochs), last)


def _widened(row: Row, page: Page) -> None:
    """Write the additional tables of --segments, --epochs, --batches and --files."""
    shown: Any = row.get("shown") or {}
    if not shown:
        return
    page.line(f"{row['dir']}:")
    for name, rows in shown.items():
        page.line(f"  {name}", "bold")
        if rows:
            page.table(tuple(rows[0]), [tuple(part.values()) for part in rows], indent="  ")


def _partition_item(item: Row, report: Report, page: Page, findings: Findings) -> None:
    facts = [
        f"{item['path']}   {partition_name(item['topic'], item['partition'])}",
        f"broker {cell(item['broker_id'])}",
    ]
    facts += [f"topic id {cell(item['topic_id'])}", f"state {item['state']}", f"Kafka {report.kafka} rules"]
    page.wrapped(" · ".join(facts), hanging="    ", style="bold")
    _partitions([item], page, findings)


def _file(item: Row, report: Report, page: Page, findings: Findings) -> None:
    fields = {name: value for name, value in item.items() if name not in ("kind", "path", "broker_reads")}
    page.wrapped(f"{item['path']}   {item['kind']} · Kafka {report.kafka} rules", hanging="    ", style="bold")
    tables: dict[str, Any] = {name: value for name, value in fields.items() if _is_table(value)}
    single = [f"{name} {_short(value)}" for name, value in fields.items() if name not in tables]
    page.wrapped(" · ".join(single), hanging="    ")
    for value in tables.values():
        page.table(tuple(value[0]), Mapped(_cells, value))
    reads: Any = item.get("broker_reads")
    if reads is not None:
        page.wrapped(f"The broker of Kafka {report.kafka} {_reads(reads)}.")
    for row in findings.pop((None, None, item["path"]), []):
        page.finding(row)


def _is_table(value: object) -> bool:
    return isinstance(value, (list, tuple, Mapped)) and len(value) > 0 and not isinstance(value[0], int)


def _cells(row: Row) -> Cells:
    return tuple(map(_short, row.values()))


def _reads(reads: Row) -> str:
    if "error" in reads:
        return f"cannot read it: {reads['error']}"
    if reads.get("removed_because") is not None:
        return f"removes it and forgets the last election: {reads['removed_because']}"
    entries: Any = reads.get("entries")
    return "reads the same" if entries is None else f"reads {counted(len(entries), 'entry')}"


def _short(value: object) -> str:
    if isinstance(value, dict) and value:
        return ", ".join(f"{key}={part}" for key, part in value.items())
    if isinstance(value, tuple) and value:
        return ", ".join(map(str, value))
    return "none" if value in ((), [], {}) else cell(value)
