"""The layouts of `fleet report` and `fleet diff`."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from kcheck.core.start.startup import NEXT_STARTS, Outcome
from kcheck.model.depth import Depth
from kcheck.model.evidence import AUTO, rules_of
from kcheck.model.report import Report, Row
from kcheck.screen.page import STYLES, Page, cell, size
from kcheck.words import agree, counted, moment, some_of

_SEVERITIES = ("fatal", "error", "warning", "info")
_COUNT = 10
"""Number of rows shown of each kind; the HTML page and JSON have more."""
WHENS = (
    "now: page the operator of the host. before a restart: open a ticket, and hold restarts until then. soon: open"
    " a ticket. not known: read the disks before a restart."
)
"""The legend of the decisions by cluster."""
_LOSS = (
    ("lost anyway", "committed_lost"), ("only one copy", "committed_on_one_disk"),
    ("lost if all start", "start_all_committed"),
)  # fmt: skip
"""Titles of the columns of committed records at risk."""
_CHANGES = {"new": "new", "gone": "gone", "changed": "changed", "unknown": "not looked for again"}
"""The changes of findings in words. The later run could not find an unknown one again."""


def place_of(row: Row) -> str:
    """Return the place of a finding (the directory, the file, the line or position)."""
    parts = [str(row[part]) for part in ("log_dir", "dir", "file") if row[part] is not None]
    where = "/".join(parts)
    if row["line"] is not None:
        return f"{where}, line {row['line']}"
    return where if row["position"] is None else f"{where}, position {row['position']}"


def _in(row: Row) -> str:
    where = place_of(row)
    return f" in {where}" if where else ""


def fleet_report(report: Report, page: Page) -> None:
    """Write the summary, worst first."""
    body: Any = report.body
    page.line(f"fleet report, {rules_of(report.kafka)}", "bold")
    page.wrapped(f"run {body['run']} in {body['path']}, depth {body['depth']}", hanging="    ")
    page.wrapped(f"scanned {moment(body['started'])} to {moment(body['ended'])}", hanging="    ")
    rows = body["rows"]
    nodes = nodes_of(body["brokers"])
    things = ((len(body["clusters"]), "cluster"), (len(nodes), "node"), (rows["log_dirs"], "log dir"))
    page.wrapped(", ".join(counted(*thing) for thing in (*things, (rows["partitions"], "partition directory"))))
    coverage = body["log_dirs_reached"], body["log_dirs_expected"], body["not_reached"]
    for words in incomplete_words(*coverage, finished=body["finished"], failing=body["failing"]):
        page.wrapped(words, style="yellow")
    for words in body["not_known"]:
        page.wrapped(words, style="yellow")
    for words in carried_words(body["carried_over"], rows["partitions"], body["since"]):
        page.wrapped(words)
    _by_cluster(page, body["decisions"], body["depth"])
    _table(page, "clusters", body["clusters"], ("cluster", "kafka", "risk", *_SEVERITIES))
    for row in body["clusters"]:
        for words in filter(None, (row["kafka_differs"], row["decision_differs"])):
            page.wrapped(f"{cell(row['cluster'])}: {words}", hanging="  ")
    _decisions(page, body["clusters"])
    _table(page, "nodes", nodes, ("cluster", "broker", "risk", *_SEVERITIES))
    _table(page, "rules", body["rules"], ("id", "name", "verdict", *_SEVERITIES))
    _table(page, "owners", body["owners"], ("cluster", "owner", "topics", "partitions_at_risk"))
    owner = ("owner",) if body["owners"] else ()
    partitions = [{**row, "corrupt": row["damaged"], "one copy only": row["at_risk"]} for row in body["partitions"]]
    names = ("cluster", "topic", "partition", *owner, "verdict", "corrupt", "lost", "one copy only")
    if partitions:
        _table(page, "partitions at risk", partitions, names, body["partitions_at_risk"])
    elif body["partitions_at_risk"]:
        page.line()
        page.line(f"partitions at risk: at least {body['partitions_at_risk']}, on log dirs that were not found", "bold")
    _starts(page, body)


def nodes_of(brokers: Iterable[Row]) -> list[Row]:
    """Return the brokers and controllers of a report. A finding about a cluster has no node."""
    return [row for row in brokers if row["broker"] is not None or row["log_dirs"]]


def incomplete_words(
    reached: int | None, expected: int | None, others: Sequence[str], *, finished: bool, failing: int = 0
) -> Iterator[str]:
    """Yield the parts that a run lacks, in words, and the findings that its exit code 3 hides."""
    if (reached or 0) < (expected or 0):
        names = f": {some_of(others)}" if others else ""
        yield f"Incomplete: reached {reached} of {counted(expected or 0, 'log dir')}. Not reached{names}"
    elif not finished:
        yield "Incomplete: findings KC000 and KC001 list what could not be read."
    if failing and not finished:
        found = f"{counted(failing, 'finding')} {agree(failing, 'is', 'are')} at or above --fail-on"
        yield f"Exit code 3, because the run is incomplete. Also {found}, which alone would be exit code 1."


def carried_words(carried: int | None, directories: int, since: str | None) -> Iterator[str]:
    """Yield how many directories this run did not read, and the run with their answers."""
    if carried:
        some = f"{carried} of {counted(directories, 'partition directory')}"
        yield f"{some} had the sizes and times of run {since}. This run did not read their bytes again."
        yield "Bits that flip on the disk change neither. A scan with --depth crc and without --since-run finds these."


def _by_cluster(page: Page, decisions: Any, depth: str) -> None:
    """Write what to do about each cluster, with the command that looks closer; at the end the clusters without."""
    idle = [cell(row["cluster"]) for row in decisions if row["command"] is None]
    told = [row for row in decisions if row["command"] is not None]
    if not decisions:
        return
    page.line()
    page.line(_title("what to do, by cluster", min(len(told), _COUNT), len(told)), "bold")
    for number, row in enumerate(told[:_COUNT], start=1):
        page.wrapped(f"{number}. {cell(row['cluster'])}, {row['when']}: {row['what']}", hanging="   ")
        for text in row["also"]:
            page.wrapped(f"Also: {text}", indent="   ", hanging="     ")
        page.line(f"   {row['command']}")
    if told:
        page.wrapped(WHENS)
    if idle:
        page.wrapped(f"{idle_words(depth)}: {some_of(idle)}.")


def idle_words(depth: str) -> str:
    """Return the words before the clusters without anything to do. A scan that reads less says less."""
    return " ".join(filter(None, ("Nothing to do", Depth(depth).bound)))


def _decisions(page: Page, clusters: Iterable[Row]) -> None:
    """Write what starting everything now loses in each cluster, and what the plan of recover loses."""
    rows = [
        {"cluster": row["cluster"], "lost": row["start_all_lost"], "committed": row["start_all_committed"],
         "without leader": row["start_all_offline"], "plan: lost": row["plan_lost"],
         "plan: without leader": row["plan_offline"]}
        for row in clusters if row["decision"] is not None or not row["brokers_reached"]
    ]  # fmt: skip
    names = ("cluster", "lost", "committed", "without leader", "plan: lost", "plan: without leader")
    _table(page, "if everything starts now, and by the plan", rows, names)


def _starts(page: Page, body: Any) -> None:
    """Write the next start of the brokers, and the partitions that lose records at it."""
    brokers = [
        {**row, "next start": NEXT_STARTS[row["next_start"]], "records lost": row["lost_records"],
         "log read at start": size(row["scan_bytes"])}
        for row in body["broker_starts"]
    ]  # fmt: skip
    _table(page, "next start", brokers, ("cluster", "broker", "next start", "records lost", "log read at start"))
    if any(row["next_start"] == Outcome.UNKNOWN for row in body["broker_starts"]):
        page.wrapped("not known: the broker reads logs first; kcheck fleet scan --depth crc predicts these starts")
    if body["premises_refuted"]:
        page.line()
        shown = body["premises"][:_COUNT]
        page.line(_title("brokers that lose records or refuse to start", len(shown), body["premises_refuted"]), "bold")
        for row in shown:
            node = cell(row["broker"]) if row["cluster"] is None else f"{cell(row['cluster'])} {cell(row['broker'])}"
            page.wrapped(f"{node}: {row['sentence']} ({row['id']})", hanging="  ")
    losses = [{**row, "committed": row["below_high_watermark"]} for row in body["losses"]]
    owner = ("owner",) if body["owners"] else ()
    names = ("cluster", "broker", "topic", "partition", *owner, "from", "to", "records", "committed")
    _table(page, "lose records by the next start", losses, names, body["partitions_losing"])
    remote = [{**row, "lost": row["lost_if_leads"], "not readable": row["not_readable"]} for row in body["remote"]]
    of_remote = ("cluster", "broker", "topic", "partition", "lost", "not readable", "metadata")
    _table(page, "lose or hide remote records if they lead", remote, of_remote, body["remote_count"])


def _table(page: Page, title: str, rows: Any, names: tuple[str, ...], count: int | None = None) -> None:
    total = len(rows) if count is None else count
    if not total:
        return
    page.line()
    shown = rows[:_COUNT]
    page.line(_title(title, len(shown), total), "bold")
    page.table(names, [tuple(cell(row[name]) for name in names) for row in shown])
    if any(row[name] is None for row in shown for name in names):
        page.line("?: not known")


def _title(title: str, shown: int, total: int) -> str:
    return title if shown == total else f"{title}, {shown} of {total}, worst first"


def fleet_diff(report: Report, page: Page) -> None:
    """Write a paragraph per difference, then their number; differences are streamed."""
    body: Any = report.body
    before, after = body["before"], body["after"]
    page.line(f"fleet diff, {rules_of(report.kafka)}", "bold")
    for word, run in (("before", before), ("after", after)):
        left = "" if run["finished"] else ", incomplete"
        facts = f"depth {run['depth']}, {rules_of(run['kafka'])}, ended {moment(run['ended'])}{left}"
        page.wrapped(f"{word}: run {run['run']} in {run['path']}, {facts}", hanging="    ")
    if (before["depth"], before["kafka"]) != (after["depth"], after["kafka"]):
        page.wrapped("The runs used different options, so some differences may come from that.")
    place: object = None
    for row in body["changes"]:
        if place != (row["cluster"], row["broker"]):
            place = (row["cluster"], row["broker"])
            page.line()
            page.line(_place_words(row), "bold")
        style = STYLES[row["severity"]] if row["change"] in ("new", "changed") else None
        page.wrapped(f"{_CHANGES[row['change']]}: {_said(row)}{_in(row)}", indent="  ", hanging="    ", style=style)
        if row["before"] is not None:
            page.wrapped(f"before: {_said({**row, **row['before']})}", indent="    ", hanging="      ")
    for row in body["lost"]:
        page.line()
        page.wrapped(f"new: {_place_words(row)}: {_lost_words(row)}", hanging="  ", style=STYLES[row["severity"]])
    counts = {row["change"]: row["findings"] for row in body["counts"]}
    page.line()
    new = [f"{count} {name}" for name in _SEVERITIES if (count := report.summary()[name])]
    said = f" ({', '.join(new)})" if new else ""
    unknown = f", {counts['unknown']} {_CHANGES['unknown']}" if counts["unknown"] else ""
    page.wrapped(
        f"{counts['new']} new{said}, {counts['gone']} gone{unknown}, {counts['changed']} changed,"
        f" {counts['same']} unchanged"
    )


def _place_words(row: Row) -> str:
    """Return the cluster of a row, and its broker; some findings are about the cluster alone."""
    of_broker = f" broker {cell(row['broker'])}" if row["broker"] is not None or row["log_dir"] is not None else ""
    return f"cluster {cell(row['cluster'])}{of_broker}"


def _lost_words(row: Row) -> str:
    path = "/".join(str(row[name]) for name in ("log_dir", "dir") if row[name] is not None)
    return _said(row) + (f" in {path}" if path else "")


def fleet_history(report: Report, page: Page) -> None:
    """Write a line per finding, then their number; findings are streamed."""
    body: Any = report.body
    runs = body["runs"]
    page.line(f"fleet trend, {counted(len(runs), 'run')}", "bold")
    for word, run in (("first", runs[0]), ("last", runs[-1])):
        page.wrapped(f"{word}: run {run['run']} in {run['path']}, ended {moment(run['ended'])}", hanging="    ")
    page.line()
    page.line("committed records at risk", "bold")
    losses = [{**run, "ended": moment(run["ended"]), **{title: run[name] for title, name in _LOSS}} for run in runs]
    page.table(
        ("run", "ended", *(title for title, _ in _LOSS)),
        [tuple(cell(row[name]) for name in ("run", "ended", *dict(_LOSS))) for row in losses[-_COUNT:]],
    )
    place: object = None
    for row in body["history"]:
        first, last = moment(row["first_seen"]), moment(row["last_seen"])
        if place != (row["state"], row["cluster"], row["broker"]):
            place = (row["state"], row["cluster"], row["broker"])
            page.line()
            page.line(f"{row['state']}: {_place_words(row)}", "bold")
        is_there = row["state"] in ("new", "open")
        times = f"since {first}" if is_there else f"{first} to {last}"
        where = _in({**row, "line": None, "position": None})
        page.wrapped(f"{times}: {_said(row)}{where}", indent="  ", hanging="    ")
    page.line()
    page.line(", ".join(f"{row['findings']} {row['state']}" for row in body["counts"]))


def fleet_prune(report: Report, page: Page) -> None:
    """Write what was removed, a line each."""
    body: Any = report.body
    verb = "would remove" if body["dry_run"] else "removed"
    for row in body["removed"]:
        page.wrapped(f"{verb} {row['path']}: {row['why']}", hanging="    ")
    if not body["removed"]:
        page.line("Nothing to remove.")


def fleet_publish(report: Report, page: Page) -> None:
    """Write which tables have how many rows of the run."""
    body: Any = report.body
    tables = [row for row in body["tables"] if row["rows"]]
    rows = sum(row["rows"] for row in tables)
    page.table(("table", "rows", "snapshot"), [tuple(row.values()) for row in tables])
    page.line()
    page.line(f"run {body['run']}: {counted(rows, 'row')} in {counted(len(tables), 'table')} of {body['target']}")


def fleet_scan(report: Report, page: Page) -> None:
    """Write how much the scan has written."""
    body: Any = report.body
    page.line(f"fleet scan, depth {body['depth']}, {rules_of(report.kafka)}", "bold")
    page.wrapped(f"run {body['run']} in {body['path']}", hanging="    ")
    if report.kafka == AUTO:
        brokers = (f"{name} ({counted(count, 'node')})" for name, count in body["releases"].items())
        page.wrapped(f"Kafka {', '.join(brokers)}; evidence: table log_dirs, column kafka_from", hanging="    ")
    rows = body["rows"]
    tables = sum(count > 0 for count in rows.values())
    page.wrapped(
        f"{counted(rows['log_dirs'], 'log dir')}, {counted(rows['partitions'], 'partition directory')},"
        f" {counted(rows['findings'], 'finding')} in {counted(tables, 'table')}"
    )
    coverage = body["log_dirs_reached"], body["log_dirs_expected"], body["not_reached"]
    for words in incomplete_words(*coverage, finished=body["finished"], failing=body["failing"]):
        page.wrapped(words, style="yellow")
    for words in body["not_known"]:
        page.wrapped(words, style="yellow")
    worst = [{**row, "broker": "-" if row["broker"] is None else row["broker"]} for row in body["worst_brokers"]]
    _table(page, "errors", worst, ("cluster", "broker", "fatal", "error"))
    if "carried_over" in body:
        page.wrapped(
            f"{body['carried_over']} unchanged partition directories were not read again. Only sizes and times of their"
            " files were compared."
        )


def _said(row: Row) -> str:
    return f"{row['severity']} {row['id']} {row['message']}"
