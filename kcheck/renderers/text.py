"""Human-readable text: as wide as the terminal, 80 columns and no colour on a pipe."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any, TextIO

from kcheck.core.releases.releases import lines
from kcheck.model.evidence import AUTO, rules_of
from kcheck.model.report import Report, Row, finding_row
from kcheck.renderers._contract import Renderer
from kcheck.renderers._text_cluster import cluster
from kcheck.renderers._text_dump import dump
from kcheck.renderers._text_election import elect
from kcheck.renderers._text_explain import explain
from kcheck.renderers._text_fleet import fleet_diff, fleet_history, fleet_prune, fleet_publish, fleet_report
from kcheck.renderers._text_inspect import inspect
from kcheck.renderers._text_plan import plan, summary
from kcheck.renderers._text_predict import predict, preflight, verdicts, worst_partitions
from kcheck.renderers._text_simulation import simulate
from kcheck.renderers._text_truncation import truncation
from kcheck.renderers._text_verification import verify
from kcheck.screen.options import Options
from kcheck.screen.page import Findings, Page, cell, known, size
from kcheck.words import counted, partition_name, release_words


def render(report: Report, stream: TextIO, options: Options) -> None:
    """Write the layout of the command, then the findings it has not shown, then their number."""
    page = Page(stream, options)
    if report.verb in _STREAMED:
        _evidence(report, page)
        _STREAMED[report.verb](report, page)
        report = report._replace(body={}, elsewhere={}, evidence=None)
    body = {name: _whole(value) for name, value in report.body.items()}
    findings: Findings = defaultdict(list)
    for finding in report.findings():
        fields = finding_row(finding)
        findings[(fields["log_dir"], fields["dir"], fields["file"] if fields["dir"] is None else None)].append(fields)
    _evidence(report, page)
    if report.verb in _LAYOUTS:
        _LAYOUTS[report.verb](report._replace(body=body), page, findings)
    elif report.verb in _ALONE:
        _ALONE[report.verb](report._replace(body=body), page)
    left = [row for rows in findings.values() for row in rows]
    page.line() if left else None
    page.findings(left)
    _totals(report, page)


def brief(report: Report, stream: TextIO, options: Options) -> None:
    """Write a plan in brief, for the operator who confirms it."""
    summary(report, Page(stream, options))


def _evidence(report: Report, page: Page) -> None:
    if report.evidence is not None and not report.evidence.given:
        page.wrapped(release_words(report.evidence, lines()[-1]), hanging="    ")


def _whole(value: object) -> object:
    """Return the value with all iterators read, because a table needs the width of every cell."""
    if isinstance(value, Iterator):
        return [_whole(row) for row in value]
    if isinstance(value, dict) and any(isinstance(part, Iterator) for part in value.values()):
        return {name: _whole(part) for name, part in value.items()}
    return value


def _totals(report: Report, page: Page) -> None:
    counts = [(name, count) for name, count in reversed(report.summary().items()) if count]
    if not counts:
        return
    words = ", ".join(_count(name, count) for name, count in counts)
    if report.elsewhere:
        page.line()
        page.line(words)
        return
    worst = max(report.findings(), key=lambda finding: finding.severity.rank)
    page.line()
    page.line(f"{words}: kcheck explain {worst.id}")


def _count(name: str, count: int) -> str:
    return f"{count} {name}" if name in ("info", "fatal") else counted(count, name)


def _check(report: Report, page: Page, findings: Findings) -> None:
    predictions: Any = report.body.get("predictions")
    if predictions:
        for prediction in predictions:
            verdicts([prediction], page)
            worst_partitions(prediction, page)
        page.wrapped(f"details of the next start: {report.body['next']}")
        page.line()
    page.line(f"check, depth {report.body['depth']}, Kafka {report.kafka} rules", "bold")
    for log_dir in dict.fromkeys(key[0] for key in findings):
        rows = [row for key in [*findings] if key[0] == log_dir for row in findings.pop(key)]
        if log_dir is not None:
            page.line()
            page.wrapped(f"{cell(log_dir)}   broker {cell(rows[0]['broker_id'])}", hanging="    ", style="bold")
        page.findings(rows, indent="  " if log_dir is not None else "")
    page.line()
    checked: Any = report.body["checked"]
    counts = [counted(checked[key], word) for key, word in _COUNTED if checked[key]]
    page.wrapped(f"checked {', '.join([*counts, size(checked['bytes'])])}")
    if checked.get("segments_skipped"):
        page.wrapped(f"skipped {counted(checked['segments_skipped'], 'segment')} outside --since and --until")
    if report.interrupted:
        page.wrapped(f"interrupted after {_covered(report.body['coverage'])}", style="bold")


def _covered(coverage: Any) -> str:
    done, planned = coverage["done"], coverage["planned"]
    counts = [f"{done[key]} of {counted(planned[key], word)}" for key, word in _COUNTED if planned.get(key)]
    if planned["bytes"]:
        counts.append(f"{size(done['bytes'])} of {size(planned['bytes'])}")
    return " / ".join(counts)


_COUNTED = (("log_dirs", "log dir"), ("partitions", "partition"), ("segments", "segment"), ("files", "file"))


def _end_offset(report: Report, page: Page) -> None:
    page.line(f"OffsetsForLeaderEpoch answers of Kafka {report.kafka} (profile {report.body['profile']})", "bold")
    answers: Any = report.body["answers"]
    header = ("partition", "broker", "requested", "epoch", "end offset", "log end", "error")
    page.table(header, [_answer_cells(answer) for answer in answers])


def _answer_cells(answer: Row) -> tuple[object, ...]:
    name = "-" if answer["topic"] is None else partition_name(answer["topic"], answer["partition"])
    values = (answer["requested_epoch"], answer["epoch"], answer["end_offset"], answer["log_end_offset"])
    return (name, known(answer["broker_id"]), *values, "" if answer["error"] == "NONE" else answer["error"])


def _rules(report: Report, page: Page) -> None:
    rules: Any = report.body["rules"]
    page.table(_RULE_KEYS, [tuple(rule[key] for key in _RULE_KEYS) for rule in rules])


_RULE_KEYS = ("id", "name", "severity", "scope")


def _fleet_scan(report: Report, page: Page) -> None:
    body: Any = report.body
    page.line(f"fleet scan, depth {body['depth']}, {rules_of(report.kafka)}", "bold")
    page.wrapped(f"run {body['run']} in {body['path']}", hanging="    ")
    if report.kafka == AUTO:
        brokers = (f"{name} ({counted(count, 'broker')})" for name, count in body["releases"].items())
        page.wrapped(f"Kafka {', '.join(brokers)}; why: kafka_from in log_dirs", hanging="    ")
    if body["log_dirs_reached"] < body["log_dirs_expected"]:
        page.wrapped(f"reached {body['log_dirs_reached']} of {counted(body['log_dirs_expected'], 'log dir')}")
    page.line()
    page.table(("table", "rows"), list(body["rows"].items()))
    if "carried_over" in body:
        page.wrapped(f"{body['carried_over']} unchanged partition directories were not read again.")
    if not body["finished"]:
        page.wrapped("Incomplete: findings KC000 and KC001 list what could not be read.")


_LAYOUTS: dict[str, Callable[[Report, Page, Findings], None]] = {"inspect": inspect, "check": _check}
"""Layouts that show findings under their rows, and remove them from the rest."""

_ALONE: dict[str, Callable[[Report, Page], None]] = {
    "cluster": cluster,
    "elect": elect,
    "end-offset": _end_offset,
    "truncation": truncation,
    "verify": verify,
    "predict": predict,
    "preflight": preflight,
    "plan": plan,
    "rules": _rules,
    "simulate": simulate,
    "fleet-prune": fleet_prune,
    "fleet-publish": fleet_publish,
    "fleet-scan": _fleet_scan,
    "fleet-report": fleet_report,
}
"""Layouts without findings; `render` writes these below."""

_STREAMED: dict[str, Callable[[Report, Page], None]] = {
    "dump": dump,
    "explain": explain,
    "fleet-diff": fleet_diff,
    "fleet-history": fleet_history,
}
"""Layouts that stream their rows, which may not fit in memory."""


RENDERER = Renderer(name="text", render=render)
