"""The layout of `kcheck truncation`: a block per partition, worst first, with the requests of each follower."""

from collections import defaultdict
from itertools import groupby
from typing import Any

from kcheck.model.report import Report, Row
from kcheck.screen.page import Page, cell, loss_of, loss_text, size
from kcheck.words import counted, lost_words, offset_range, partition_name, record_count, some_of

_ADVANTAGES = {
    "followers": "more replicas can follow it",
    "committed": "fewest records lost below a high watermark",
    "offsets": "fewest offsets lost",
    "log-end": "the longest log",
    "none": "no other leader costs less",
}
"""Why a leader is best, by the value of `core.replication.truncation_plans.Advantage`, slow to import."""


def truncation(report: Report, page: Page) -> None:
    """Write the plan; without a chosen leader, one line per candidate."""
    page.line(f"truncation by Kafka {report.kafka} (profile {report.body['profile']})", "bold")
    rows: Any = report.body["partitions"]
    if not rows:
        page.line("no replicas in these paths")
        return
    partitions = [[*leaders] for _, leaders in groupby(rows, key=lambda row: (row["topic"], row["partition"]))]
    partitions.sort(key=_harm)
    shown = [leaders for leaders in partitions if page.every or not _is_quiet(leaders)]
    if report.body["leader"] is None and shown:
        _candidates(shown, page)
    elif report.body["leader"] is not None:
        for leaders in shown:
            page.line()
            _partition(leaders[0], page)
    if len(shown) < len(partitions):
        rest = counted(len(partitions) - len(shown), "other partition" if shown else "partition")
        page.line()
        page.wrapped(f"{rest}: no replica truncates or loses records; --all lists every partition")


def _harm(leaders: list[Row]) -> tuple[int, ...]:
    """Return what orders partitions, the worst first: what the best leader costs, then what the worst one does."""
    best = [row for row in leaders if row["is_best"]] or leaders
    return (*max(map(_losses, best)), *min(map(_losses, leaders)))


def _losses(row: Row) -> tuple[int, int, int]:
    """Return the records lost below a high watermark, the records lost, and the logs truncated; negative."""
    followers: Any = row["followers"]
    at_start: Any = row["lost_at_start"]
    lost = [part for part in (*at_start, *(follower["lost"] for follower in followers)) if part is not None]
    below = sum(part["below_high_watermark"] or 0 for part in lost)
    records = sum(part["records"] or 0 for part in lost)
    return -below, -records, -sum(follower["truncate_to"] is not None for follower in followers)


def _is_quiet(leaders: list[Row]) -> bool:
    """Whether under no leader anything is truncated, lost or unknown."""
    followers: list[Any] = [follower for row in leaders for follower in row["followers"]]  # type: ignore[attr-defined]
    return not any(row["problem"] or row["lost_at_start"] for row in leaders) and all(
        follower["status"] == "ok" and follower["truncate_to"] is None and follower["diverges_silently_at"] is None
        for follower in followers
    )


def _candidates(partitions: list[list[Row]], page: Page) -> None:
    header: tuple[str, ...] = ("partition", "leader", "log end", "truncate", "lost", "below hw", "refetch")
    rows: list[tuple[object, ...]] = [_candidate(row) for leaders in partitions for row in leaders]
    elections = [row["election"] for leaders in partitions for row in leaders]
    if any(elections):
        header = (*header, "election")
        rows = [(*row, cell(election)) for row, election in zip(rows, elections, strict=True)]
    page.table(header, rows)
    best_of: dict[tuple[object, str], list[str]] = defaultdict(list)
    for leaders in partitions:
        _starts(leaders[0], page, f"{row_name(leaders[0])}: ")
        for row in leaders:
            if row["is_best"] and len(leaders) > 1:
                best_of[row["leader"], _advantage(row)].append(row_name(row))
    for (leader, why), names in best_of.items():
        page.wrapped(f"* broker {cell(leader)} is the best leader of {some_of(names)}: {why}", hanging="  ")
    for row in (row for leaders in partitions for row in leaders):
        followers: Any = row["followers"]
        under = f"{row_name(row)} under leader {cell(row['leader'])}"
        for follower in followers:
            if follower["problem"]:
                text = f"{under}: broker {cell(follower['broker_id'])} skipped: {follower['problem']}"
                page.wrapped(text, hanging="  ", style="yellow")


def _advantage(row: Row) -> str:
    return _ADVANTAGES[str(row["advantage"])]


def _candidate(partition: Row) -> tuple[object, ...]:
    followers: Any = partition["followers"]
    cut = sum(follower["truncate_to"] is not None for follower in followers)
    left_out = any(follower["problem"] for follower in followers)
    return (
        row_name(partition),
        f"{cell(partition['leader'])}{' *' if partition['is_best'] else ''}",
        partition["leader_log_end_offset"],
        f"{cut} of {len(followers)}",
        None if left_out else _sum(followers, "lost", "records"),
        None if left_out else _sum(followers, "lost", "below_high_watermark"),
        None if left_out else _sum(followers, "refetch", "records"),
    )


def row_name(row: Row) -> str:
    """Return the partition as TOPIC-N, or `bare files` if no topic is known."""
    return "bare files" if row["topic"] is None else partition_name(row["topic"], row["partition"])


def _sum(followers: tuple[Row, ...], part: str, key: str) -> int | None:
    rows: list[Any] = [follower[part] for follower in followers]
    values = [row[key] for row in rows if row is not None]
    return sum(value for value in values if isinstance(value, int)) if None not in values else None


def _partition(partition: Row, page: Page) -> None:
    name = row_name(partition)
    if partition["problem"]:
        page.wrapped(f"{name}   leader {cell(partition['leader'])} cannot lead: {partition['problem']}", hanging="  ")
        return
    state = f"log end {cell(partition['leader_log_end_offset'])}, epoch {cell(partition['leader_epoch'])}"
    page.line(f"{name}   leader {cell(partition['leader'])} ({state})", "bold")
    if partition["is_best"]:
        page.line(f"  the best leader: {_advantage(partition)}")
    _starts(partition, page, "  ")
    followers: Any = partition["followers"]
    if not followers:
        page.line("  no other replica in these paths")
    for part in followers:
        follower(part, page)


def _starts(partition: Row, page: Page, indent: str) -> None:
    """Write which records the brokers lose at their own starts, before any follower truncates."""
    lost: Any = partition["lost_at_start"]
    for loss in lost:
        text = f"startup of broker {cell(loss['broker_id'])}: LOST {loss_text(loss)}"
        page.wrapped(text, indent=indent, hanging="      ", style="bold red")


def follower(follower: Row, page: Page) -> None:
    """Write what a follower does: its requests, where it truncates, what it loses."""
    before, after = follower["log_end_offset_before"], follower["log_end_offset_after"]
    ends = f"log end {cell(before)}" + ("" if before == after else f" → {cell(after)}")
    refetch: Any = follower["refetch"]
    back = f", refetch {_amount(refetch)}" if refetch else ""
    page.wrapped(f"broker {cell(follower['broker_id'])}   {ends}{back}", indent="  ", hanging="      ")
    if follower["problem"]:
        page.wrapped(str(follower["problem"]), indent="    ", style="yellow")
    steps: Any = follower["steps"]
    for step in steps:
        page.wrapped(_step(step), indent="    ", hanging="      ")
    if follower["status"] == "never_completes":
        page.wrapped(
            "Truncation never completes: the follower repeats the same requests forever.", indent="    ", style="red"
        )
    elif follower["status"] == "unfinished":
        page.wrapped(f"kcheck stopped after {len(steps)} requests.", indent="    ", style="red")
    elif follower["status"] == "fetch_fails":
        text = f"The follower cannot append the leader's records from offset {cell(after)} on; it stops fetching."
        page.wrapped(text, indent="    ", style="red")
    elif follower["status"] == "truncation_fails":
        text = "The follower fails as it truncates below an open transaction: it fetches no more until it restarts."
        page.wrapped(text, indent="    ", style="red")
    _outcome(follower, page)


def _amount(part: Any) -> str:
    count = record_count(part["records"])
    return count if part["bytes"] is None else f"{count} ({size(part['bytes'])})"


def _outcome(follower: Row, page: Page) -> None:
    lost: Any = follower["lost"]
    broker = cell(follower["broker_id"])
    if lost:
        bytes_lost = "" if lost["bytes"] is None else f", {size(lost['bytes'])}"
        below = f"{cell(lost['below_high_watermark'])} below its high watermark {cell(follower['high_watermark'])}"
        amount = ("" if lost["certain"] else "at most ") + lost_words(loss_of(lost))
        text = f"LOST on broker {broker}: {amount}{bytes_lost}; {below}"
        page.wrapped(text, indent="    ", hanging="      ", style="bold red")
    expired: Any = follower["expired"]
    if expired:
        text = f"dropped: {offset_range(expired['from'], expired['to'])}, below the leader's log start"
        page.wrapped(text, indent="    ", hanging="      ")
    cut: Any = follower["cut"]
    if cut and cut["end_after_restart"] != follower["truncate_to"]:
        text = f"truncation removes the batch at {cut['base_offset']}: after a restart the log ends at offset"
        text += f" {cut['end_after_restart']}"
        page.wrapped(text, indent="    ", hanging="      ")
    if follower["diverges_silently_at"] is not None:
        text = f"STILL DIVERGES from offset {follower['diverges_silently_at']}: no broker detects it"
        page.wrapped(text, indent="    ", hanging="      ", style="bold red")
    if follower["exits_without_unclean_election"]:
        text = "The broker process exits here if unclean leader election is disabled for the topic."
        page.wrapped(text, indent="    ", hanging="      ", style="yellow")


def _step(step: Row) -> str:
    request: Any = step["request"]
    response: Any = step["response"]
    cut = "" if step["truncate_to"] is None else f" → truncate to {step['truncate_to']}"
    if request is None:
        return f"no epoch to compare: uses its own high watermark{cut}"
    if request["api"] == "OffsetsForLeaderEpoch":
        epoch = "" if response["epoch"] is None else f"epoch {response['epoch']}, "
        return f"asks for the end of epoch {request['leader_epoch']} → {epoch}end {response['end_offset']}{cut}"
    if request["api"] == "ListOffsets":
        return (
            f"asks for the log → {response['log_start_offset']} to {response['log_end_offset']}{cut or ' → no change'}"
        )
    last = "" if request["last_fetched_epoch"] is None else f" last epoch {request['last_fetched_epoch']}"
    diverging = response["diverging_epoch"]
    if diverging is not None:
        reply = f"diverging epoch {diverging['epoch']}, end {diverging['end_offset']}"
    else:
        reply = "records" if response["error"] == "NONE" else str(response["error"])
    return f"fetch {request['fetch_offset']}{last} → {reply}{cut}"
