"""The layout of `kcheck elect`: the verdict, the ways to go on, the worst partitions; one partition in full."""

from typing import Any

from kcheck.model.report import Report
from kcheck.renderers._election_rows import (
    CANDIDATE_TITLES,
    CLUSTER_TITLES,
    LOSS_TITLES,
    PARTITION_TITLES,
    SCENARIO_TITLES,
    best_of,
    brokers_of,
    candidate_cells,
    cluster_cells,
    extent,
    gap_words,
    harm,
    is_at_stake,
    log_lines,
    loss_cells,
    offsets,
    partition_cells,
    scenario_cells,
    warnings,
)
from kcheck.renderers._text_truncation import follower, row_name
from kcheck.screen.page import Page, cell
from kcheck.words import counted

_WORST_COUNT = 5
_CONTROLLERS = {"kraft": "KRaft", "zookeeper": "ZooKeeper"}
_SEATS = {"replicas": "replicas", "ISR": "isr", "ELR": "elr"}
_PICTURE_WIDTH = 44
_MARKS = {"lost": "x", "kept": "=", "fetched": "."}


def elect(report: Report, page: Page) -> None:
    """Write who should lead; a single partition in full."""
    body: Any = report.body
    if "clusters" in body:
        _clusters(report, page)
        return
    rows: list[Any] = list(body["partitions"])
    page.line(f"elections of Kafka {report.kafka} ({_CONTROLLERS[body['controller']]})", "bold")
    for words in warnings(body, rows):
        page.wrapped(words, hanging="  ", style="yellow")
    page.line()
    page.wrapped(body["verdict"], style="bold")
    page.line()
    page.table(SCENARIO_TITLES, [scenario_cells(row) for row in body["scenarios"]])
    _losses(body, page)
    saved = body["saved"]
    if saved:
        records = sum(row["records"] or 0 for row in saved)
        page.line()
        page.wrapped(
            f"Saved {counted(records, 'record')} of {counted(len(saved), 'replica')} that elections would cut."
        )
    if body["written"]:
        page.line()
        page.wrapped(f"Written: {', '.join(map(cell, body['written']))}. Read plan.md first.", hanging="  ")
    if len(rows) == 1 and not body.get("left_out"):
        page.line()
        _whole(rows[0], page)
        if not body["written"]:
            page.line()
            page.wrapped("--out DIR writes a plan: the commands to type, and files for Kafka's tools.")
        return
    at_stake = sorted(filter(is_at_stake, rows), key=harm)
    if not at_stake:
        page.line()
        page.line("No partition loses a record, whoever leads it.")
        return
    shown = at_stake if page.every else at_stake[:_WORST_COUNT]
    page.line()
    page.table(PARTITION_TITLES, [partition_cells(row) for row in shown])
    rest = len(at_stake) - len(shown)
    rest += body.get("left_out", 0)
    more = f"{counted(rest, 'more partition')} can lose records; --all lists them. " if rest else ""
    page.line()
    plan = "" if body["written"] else " --out DIR writes a plan: the commands to type."
    page.wrapped(f"{more}kcheck elect ... --partition {row_name(shown[0])} shows one in full.{plan}")


def _clusters(report: Report, page: Page) -> None:
    """Write a row for each cluster, the worst first, then what to do in each."""
    body: Any = report.body
    page.line(f"elections of {counted(len(body['clusters']), 'cluster')}, the worst first", "bold")
    page.line()
    page.table(CLUSTER_TITLES, [cluster_cells(row) for row in body["clusters"]])
    for row in body["clusters"]:
        page.line()
        page.line(f"cluster {cell(row['cluster'])}, Kafka {row['kafka']} ({_CONTROLLERS[row['controller']]})", "bold")
        for words in map(gap_words, row["gaps"]):
            page.wrapped(words, indent="  ", hanging="    ", style="yellow")
        page.wrapped(row["verdict"], indent="  ")
    page.line()
    page.wrapped("kcheck elect --from RUN --cluster NAME shows the partitions of one; its clusters start side by side.")


def _losses(body: Any, page: Page) -> None:
    """Write what goes with each broker, and the replicas in sync that lack committed records; only a run has them."""
    if body.get("broker_losses"):
        page.line()
        page.table(LOSS_TITLES, [loss_cells(row) for row in body["broker_losses"]])
    if body.get("lacking"):
        page.line()
        count = counted(body["lacking_count"], "replica")
        page.line(f"{count} in sync by the metadata without all committed records", "bold")
        shown = body["lacking"] if page.every else body["lacking"][:_WORST_COUNT]
        page.table(
            ("partition", "broker", "log end", "high watermark"),
            [(row_name(row), row["broker_id"], row["log_end_offset"], row["high_watermark"]) for row in shown],
        )


def _whole(row: Any, page: Page) -> None:
    """Write one partition: what the controllers know, every candidate, the logs side by side, the followers."""
    page.line(row_name(row), "bold")
    if row["isr"] is not None:
        seats = ", ".join(f"{name} {brokers_of(row[field])}" for name, field in _SEATS.items())
        epoch, mark = cell(row["leader_epoch"]), cell(row["high_watermark"])
        page.wrapped(f"{seats}, leader epoch {epoch}; highest high watermark {mark}", indent="  ")
        elects = row["kafka_elects"]
        page.wrapped(
            f"Kafka elects {_elected(elects['clean'])} by itself,"
            f" {_elected(elects['unclean'])} with unclean elections on.",
            indent="  ",
        )
    page.line()
    page.table(CANDIDATE_TITLES, [candidate_cells(candidate, row["best"]) for candidate in row["candidates"]])
    for candidate in row["candidates"]:
        if candidate["problem"]:
            page.wrapped(f"broker {candidate['broker_id']}: {candidate['problem']}", hanging="  ", style="yellow")
    best = best_of(row)
    if best is not None:
        page.line()
        page.line(f"under broker {best['broker_id']}: = kept, x lost, . fetched")
        _picture(row, best, page)
        for part in best["followers"]:
            follower(part, page)


def _picture(row: Any, best: Any, page: Page) -> None:
    """Draw the logs side by side, each from the lowest log start to the highest log end."""
    logs = log_lines(row, best)
    start, end = extent(logs)
    for log in logs:
        marks = ""
        for column in range(_PICTURE_WIDTH):
            first = start + column * (end - start) // _PICTURE_WIDTH
            last = max(first, start + (column + 1) * (end - start) // _PICTURE_WIDTH - 1)
            marks += next((_MARKS[part.kind] for part in log.parts if part.covers(first, last)), " ")
        page.line(f"  {f'broker {log.broker_id}':<10} |{marks}| {offsets(log.start, log.end)}")


def _elected(broker: object) -> str:
    return "nobody" if broker is None else f"broker {broker}"
