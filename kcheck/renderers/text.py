"""Text for people: 80 columns, more on a wider terminal, the same without colour on a pipe."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any, TextIO

from kcheck.model.report import Report, Row, finding_row
from kcheck.renderers._contract import Options, Renderer
from kcheck.renderers._page import Page, cell, plural, size
from kcheck.renderers._text_dump import dump
from kcheck.renderers._text_fleet import fleet_diff, fleet_report
from kcheck.renderers._text_plan import plan
from kcheck.renderers._text_predict import predict, verdicts
from kcheck.renderers._text_truncation import truncation

Findings = dict[tuple[object, ...], list[Row]]


def render(report: Report, stream: TextIO, options: Options) -> None:
    """Write the layout of the verb, then the findings that stand under no row, then how many there are."""
    page = Page(stream, options)
    if report.verb in _STREAMED:
        _STREAMED[report.verb](report, page)
        report = report._replace(body={}, elsewhere={})
    body = {name: _whole(value) for name, value in report.body.items()}
    findings: Findings = defaultdict(list)
    for finding in report.findings():
        found = finding_row(finding)
        findings[(found["log_dir"], found["dir"], found["file"] if found["dir"] is None else None)].append(found)
    if report.verb in _LAYOUTS:
        _LAYOUTS[report.verb](report._replace(body=body), page, findings)
    elif report.verb in _ALONE:
        _ALONE[report.verb](report._replace(body=body), page)
    left = [row for rows in findings.values() for row in rows]
    page.line() if left else None
    for row in left:
        page.finding(row)
    _totals(report, page)


def _whole(value: object) -> object:
    """Read iterators to their end: columns are as wide as their widest cell, and findings stand under their rows."""
    if isinstance(value, Iterator):
        return [_whole(row) for row in value]
    if isinstance(value, dict) and any(isinstance(part, Iterator) for part in value.values()):
        return {name: _whole(part) for name, part in value.items()}
    return value


def _totals(report: Report, page: Page) -> None:
    counts = [(name, count) for name, count in reversed(report.summary().items()) if count]
    if not counts:
        return
    words = ", ".join("fatal " + str(count) if name == "fatal" else _count(name, count) for name, count in counts)
    if report.elsewhere:
        page.line()
        page.line(words)
        return
    worst = max(report.findings(), key=lambda finding: finding.severity.rank)
    page.line()
    page.line(f"{words}: kcheck explain {worst.id}")


def _count(name: str, count: int) -> str:
    return f"{count} info" if name == "info" else plural(count, name)


def _inspect(report: Report, page: Page, findings: Findings) -> None:
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
    facts += [f"clean shutdown: {_yes(item['clean_shutdown'])}", f"Kafka {report.kafka} rules"]
    page.wrapped(" · ".join(facts), hanging="    ", style="bold")
    checkpoints: Any = item["checkpoints"]
    states = " · ".join(f"{_short_name(name)} {_state(state)}" for name, state in checkpoints.items())
    page.wrapped("checkpoints  " + states, hanging="             ")
    for row in findings.pop((item["path"], None, None), []):
        page.finding(row, indent="  ")
    for key in [key for key in findings if key[0] == item["path"] and key[1] is None]:
        for row in findings.pop(key):
            page.finding(row, indent="  ")
    _partitions(item["partitions"], page, findings)


def _short_name(checkpoint: str) -> str:
    return "recovery-point" if checkpoint.startswith("recovery-point") else checkpoint.removesuffix("-checkpoint")


def _yes(value: object) -> str:
    return "?" if value is None else "yes" if value else "no"


def _state(state: Row) -> str:
    status = state["status"]
    if status == "ok":
        return plural(int(str(state["entries"])), "entry")
    return f"damaged: {state['defect']}" if status == "damaged" else str(status)


_PARTITION_HEADER = (
    "partition", "segments", "size", "log start", "recovery", "high wm", "log end", "epochs", "last epoch",
)  # fmt: skip


def _partitions(rows: Any, page: Page, findings: Findings) -> None:
    """Write the table; a partition with findings ends its part of it, so that they stand under its row."""
    page.table(_PARTITION_HEADER, [_partition_cells(row) for row in rows]) if rows else page.line("no partitions")
    for row in rows:
        found = findings.pop((row["log_dir"], row["dir"], None), [])
        if found:
            page.line(f"{row['dir']}:")
        for finding in found:
            page.finding(finding, indent="  ")
        _widened(row, page)


def _partition_cells(row: Row) -> tuple[object, ...]:
    epochs: Any = row["leader_epochs"]
    segments: Any = row["segments"]
    last = f"{epochs[-1]['epoch']} @ {epochs[-1]['start_offset']}" if epochs else "-"
    offsets = (row["log_start_offset"], _entry(row["recovery_point"]), _entry(row["high_watermark"]))
    return (row["dir"], len(segments), size(row["size"]), *offsets, row["log_end_offset"], len(epochs), last)


def _entry(value: object) -> object:
    return "-" if value is None else value


def _widened(row: Row, page: Page) -> None:
    """Write what --segments, --epochs, --batches and --files ask for."""
    shown: Any = row.get("shown") or {}
    if not shown:
        return
    page.line(f"{row['dir']}:")
    for name, rows in shown.items():
        page.line(f"  {name}", "bold")
        if rows:
            page.table(tuple(rows[0]), [tuple(part.values()) for part in rows], indent="  ")


def _partition_item(item: Row, report: Report, page: Page, findings: Findings) -> None:
    facts = [f"{item['path']}   {item['topic']}-{item['partition']}", f"broker {cell(item['broker_id'])}"]
    facts += [f"topic id {cell(item['topic_id'])}", f"state {item['state']}", f"Kafka {report.kafka} rules"]
    page.wrapped(" · ".join(facts), hanging="    ", style="bold")
    _partitions([item], page, findings)


def _file(item: Row, report: Report, page: Page, findings: Findings) -> None:
    fields = {name: value for name, value in item.items() if name not in ("kind", "path", "broker_reads")}
    page.wrapped(f"{item['path']}   {item['kind']} · Kafka {report.kafka} rules", hanging="    ", style="bold")
    tables = {name: value for name, value in fields.items() if isinstance(value, (list, tuple)) and value}
    single = [f"{name} {_short(value)}" for name, value in fields.items() if name not in tables]
    page.wrapped(" · ".join(single), hanging="    ")
    for value in tables.values():
        page.table(tuple(value[0]), [tuple(row.values()) for row in value])
    reads: Any = item.get("broker_reads")
    if reads is not None:
        page.wrapped(f"The broker of Kafka {report.kafka} {_reads(reads)}.")
    for row in findings.pop((None, None, item["path"]), []):
        page.finding(row)


def _reads(reads: Row) -> str:
    if "error" in reads:
        return f"cannot read it: {reads['error']}"
    entries: Any = reads.get("entries")
    return "reads the same" if entries is None else f"reads {plural(len(entries), 'entry')}"


def _short(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key}={part}" for key, part in value.items())
    return "none" if value in ((), []) else cell(value)


def _check(report: Report, page: Page, findings: Findings) -> None:
    predictions: Any = report.body.get("predictions")
    if predictions:
        verdicts(predictions, page)
        page.wrapped(f"more about the next start: {report.body['next']}")
        page.line()
    page.line(f"check to the depth of {report.body['depth']}, Kafka {report.kafka} rules", "bold")
    log_dir: object = None
    for key, rows in list(findings.items()):
        if key[0] != log_dir:
            log_dir = key[0]
            page.line()
            page.wrapped(f"{cell(log_dir)}   broker {cell(rows[0]['broker_id'])}", hanging="    ", style="bold")
        for row in findings.pop(key):
            page.finding(row, indent="  " if log_dir is not None else "")
    page.line()
    checked: Any = report.body["checked"]
    counts = [plural(checked[key], word) for key, word in _COUNTED if checked[key]]
    page.wrapped(f"checked {', '.join([*counts, size(checked['bytes'])])}")
    if checked.get("segments_skipped"):
        page.wrapped(f"not read, outside of the time asked for: {plural(checked['segments_skipped'], 'segment')}")
    if report.interrupted:
        page.wrapped(f"stopped by ^C after {_covered(report.body['coverage'])}", style="bold")


def _covered(coverage: Any) -> str:
    done, planned = coverage["done"], coverage["planned"]
    counts = [f"{done[key]} of {plural(planned[key], word)}" for key, word in _COUNTED if planned.get(key)]
    if planned["bytes"]:
        counts.append(f"{size(done['bytes'])} of {size(planned['bytes'])}")
    return " / ".join(counts)


_COUNTED = (("log_dirs", "log dir"), ("partitions", "partition"), ("segments", "segment"), ("files", "file"))


def _end_offset(report: Report, page: Page) -> None:
    page.line(f"OffsetsForLeaderEpoch as Kafka {report.kafka} answers it (profile {report.body['profile']})", "bold")
    answers: Any = report.body["answers"]
    header = ("partition", "broker", "asked", "epoch", "end offset", "log end", "error")
    page.table(header, [_answer_cells(answer) for answer in answers])


def _answer_cells(answer: Row) -> tuple[object, ...]:
    name = "-" if answer["topic"] is None else f"{answer['topic']}-{answer['partition']}"
    asked = (answer["requested_epoch"], answer["epoch"], answer["end_offset"], answer["log_end_offset"])
    return (name, _entry(answer["broker_id"]), *asked, "" if answer["error"] == "NONE" else answer["error"])


def _rules(report: Report, page: Page) -> None:
    rules: Any = report.body["rules"]
    page.table(("id", "name", "severity", "scope"), [tuple(rule[key] for key in _RULE_KEYS) for rule in rules])


_RULE_KEYS = ("id", "name", "severity", "scope")


def _explain(report: Report, page: Page) -> None:
    rules: Any = report.body["rules"]
    for rule in rules:
        page.line(f"{rule['id']} {rule['name']} ({rule['severity']}, {rule['scope']})", "bold")
        page.line()
        for number, paragraph in enumerate(str(rule["page"]).split("\n\n")):
            page.line() if number else None
            for item in re.split(r"\n(?=- )", paragraph):
                page.wrapped(" ".join(item.split()), hanging="  " if item.startswith("- ") else "")


def _fleet_scan(report: Report, page: Page) -> None:
    body: Any = report.body
    page.line(f"fleet scan to the depth of {body['depth']}, Kafka {report.kafka} rules", "bold")
    page.wrapped(f"run {body['run']} in {body['path']}", hanging="    ")
    page.line()
    page.table(("table", "rows"), list(body["rows"].items()))
    if "carried_over" in body:
        page.wrapped(f"{body['carried_over']} of the partition directories had not changed and were not looked at.")
    if not body["finished"]:
        page.wrapped("Not everything could be looked at: the findings KC000 and KC001 tell what.")


_LAYOUTS: dict[str, Callable[[Report, Page, Findings], None]] = {"inspect": _inspect, "check": _check}
"""Layouts that take the findings which they show under their rows."""

_ALONE: dict[str, Callable[[Report, Page], None]] = {
    "end-offset": _end_offset,
    "truncation": truncation,
    "predict": predict,
    "plan": plan,
    "rules": _rules,
    "explain": _explain,
    "fleet-scan": _fleet_scan,
    "fleet-report": fleet_report,
}
"""Layouts that show no findings: these stand below."""

_STREAMED: dict[str, Callable[[Report, Page], None]] = {"dump": dump, "fleet-diff": fleet_diff}
"""Layouts whose rows are too many to be kept."""


RENDERER = Renderer(name="text", render=render)
