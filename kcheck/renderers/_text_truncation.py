"""The layout of `kcheck truncation`: a block per partition, with the requests of each follower."""

from typing import Any

from kcheck.model.report import Report, Row
from kcheck.renderers._page import Page, cell, lost_words, plural, size


def truncation(report: Report, page: Page) -> None:
    """Write the plan; without a chosen leader, one line per candidate."""
    page.line(f"truncation by Kafka {report.kafka} (profile {report.body['profile']})", "bold")
    partitions: Any = report.body["partitions"]
    if not partitions:
        page.line("no replicas in these paths")
    if report.body["leader"] is None:
        _candidates(partitions, page)
        return
    for partition in partitions:
        page.line()
        _partition(partition, page)


def _candidates(partitions: tuple[Row, ...], page: Page) -> None:
    header = ("partition", "leader", "log end", "truncate", "lost", "below hw", "refetch")
    page.table(header, [_candidate(partition) for partition in partitions])
    for name, partition in {partition_name(partition): partition for partition in partitions}.items():
        _starts(partition, page, f"{name}: ")
    for partition in partitions:
        followers: Any = partition["followers"]
        under = f"{partition_name(partition)} under leader {cell(partition['leader'])}"
        for follower in followers:
            if follower["problem"]:
                text = f"{under}: broker {cell(follower['broker_id'])} skipped: {follower['problem']}"
                page.wrapped(text, hanging="  ", style="yellow")


def _candidate(partition: Row) -> tuple[object, ...]:
    followers: Any = partition["followers"]
    cut = sum(follower["truncate_to"] is not None for follower in followers)
    left_out = any(follower["problem"] for follower in followers)
    return (
        partition_name(partition),
        partition["leader"],
        partition["leader_log_end_offset"],
        f"{cut} of {len(followers)}",
        None if left_out else _sum(followers, "lost", "records"),
        None if left_out else _sum(followers, "lost", "below_high_watermark"),
        None if left_out else _sum(followers, "refetch", "records"),
    )


def partition_name(row: Row) -> str:
    """Return the partition as TOPIC-N, or `bare files` if no topic is known."""
    return "bare files" if row["topic"] is None else f"{row['topic']}-{row['partition']}"


def _sum(followers: tuple[Row, ...], part: str, key: str) -> int | None:
    rows: list[Any] = [follower[part] for follower in followers]
    values = [row[key] for row in rows if row is not None]
    return sum(value for value in values if isinstance(value, int)) if None not in values else None


def _partition(partition: Row, page: Page) -> None:
    name = partition_name(partition)
    if partition["problem"]:
        page.wrapped(f"{name}   leader {cell(partition['leader'])} cannot lead: {partition['problem']}", hanging="  ")
        return
    state = f"log end {cell(partition['leader_log_end_offset'])}, epoch {cell(partition['leader_epoch'])}"
    page.line(f"{name}   leader {cell(partition['leader'])} ({state})", "bold")
    _starts(partition, page, "  ")
    followers: Any = partition["followers"]
    if not followers:
        page.line("  no other replica in these paths")
    for follower in followers:
        _follower(follower, page)


def _starts(partition: Row, page: Page, indent: str) -> None:
    """Write which records the brokers lose at their own starts, before any follower truncates."""
    lost: Any = partition["lost_at_start"]
    for loss in lost:
        text = f"startup of broker {cell(loss['broker_id'])}: LOST {lost_words(loss)}"
        page.wrapped(text, indent=indent, hanging="      ", style="bold red")


def _follower(follower: Row, page: Page) -> None:
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
    _outcome(follower, page)


def _amount(part: Row) -> str:
    count = _records(part)
    return count if part["bytes"] is None else f"{count} ({size(part['bytes'])})"


def _records(part: Row) -> str:
    records = part["records"]
    return plural(records, "record") if isinstance(records, int) else "unknown records"


def _outcome(follower: Row, page: Page) -> None:
    lost: Any = follower["lost"]
    broker = cell(follower["broker_id"])
    if lost:
        amount = _records(lost) + ("" if lost["bytes"] is None else f", {size(lost['bytes'])}")
        below = f"{cell(lost['below_high_watermark'])} below its high watermark {cell(follower['high_watermark'])}"
        at_most = "" if lost["certain"] else "at most "
        text = f"LOST on broker {broker}: {at_most}offsets {lost['from']}–{lost['to'] - 1}, {amount}; {below}"
        page.wrapped(text, indent="    ", hanging="      ", style="bold red")
    expired: Any = follower["expired"]
    if expired:
        text = f"dropped: offsets {expired['from']}–{expired['to'] - 1}, below the leader's log start"
        page.wrapped(text, indent="    ", hanging="      ")
    cut: Any = follower["cut"]
    if cut and cut["base_offset"] != follower["truncate_to"]:
        text = f"truncation removes the whole batch at {cut['base_offset']}: after a restart that is the log end offset"
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
