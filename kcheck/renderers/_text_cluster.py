"""The layout of `kcheck cluster`: health first, then the partitions that need a look, brokers, controllers, topics."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from kcheck.model.cluster import NO_LEADER
from kcheck.model.report import Report, Row
from kcheck.screen.page import Page, cell, known, moment
from kcheck.words import counted, offset_range, partition_name, some_of

_SHOWN = 20
"""How many partitions that need a look are listed without `--all`."""
_WORDS = {
    "offline": "offline: no leader, and no replica that may be elected cleanly",
    "leaderless": "without leader until a replica in sync, or in the ELR, is back",
    "elr-only": "with an empty ISR: only an ELR member may lead",
    "under-min-isr": "under min.insync.replicas: acks=all fails",
    "recovering": "recovering from an unclean election",
    "log-dir-offline": "with a replica in a log dir that is offline",
    "under-replicated": "with a replica that is not in sync",
    "reassigning": "being reassigned",
}
_AFTER_A_STOP = ("elr-only", "under-replicated")
"""What is normal for a partition whose brokers were stopped one after the other."""
_BAD = ("offline", "elr-only", "under-min-isr", "log-dir-offline")


def cluster(report: Report, page: Page) -> None:
    """Write the state of the cluster, or the history of one partition, or the load of the fetcher threads."""
    body: Any = report.body
    _source(body, page)
    if "history" in body:
        _history(body["history"], page, of_zookeeper=body["metadata"]["kind"] == "zookeeper")
        return
    _health(body, page)
    if "fetchers" in body:
        _fetchers(body["fetchers"], body["num_replica_fetchers"], page)
        return
    _partitions(body, page)
    _brokers(body["brokers"], page)
    _controllers(body, page)
    _topics(body, page)
    _others(body, page)


def _source(body: Any, page: Page) -> None:
    metadata = body["metadata"]
    page.wrapped(f"cluster {known(body['cluster_id'])}, metadata of {metadata['path']}", hanging="    ", style="bold")
    if metadata["kind"] == "kraft":
        until = f"up to offset {metadata['end_offset'] - 1}" if metadata["end_offset"] else "without a record"
        time = "" if metadata["time"] is None else f", {moment(metadata['time'])}"
        page.wrapped(f"{until}{time}, {_committed(metadata)}", indent="  ", hanging="    ")
    elif metadata["kind"] == "zookeeper":
        time = "" if metadata["time"] is None else f", {moment(metadata['time'])}"
        text = (
            f"as a ZooKeeper server restores it from its files, up to transaction {body['zookeeper']['zxid']:#x}{time}"
        )
        page.wrapped(text, indent="  ", hanging="    ")
    for source in body["copies"] or (metadata,):
        for problem in source["problems"]:
            text = f"incomplete: {source['path']}, {problem['place']}: {problem['why']}"
            page.wrapped(text, indent="  ", hanging="    ", style="red")


def _committed(metadata: Any) -> str:
    end, committed = metadata["end_offset"], metadata["committed_to"]
    if committed is None:
        return "not known to be committed: that takes the logs of most controllers"
    if committed >= end:
        return "all of it committed"
    return f"committed up to offset {committed - 1} for certain: the rest may be taken back"


def _health(body: Any, page: Page) -> None:
    page.line()
    counts, total = body["health"], len(body["partitions"])
    stopped = body["stopped"] and counts["leaderless"]
    ill = {kind: count for kind, count in counts.items() if count and not (stopped and kind in _AFTER_A_STOP)}
    if stopped:
        page.wrapped("every broker is stopped: after that no partition has a leader, and the last one in sync is left")
    elif not ill:
        page.wrapped(f"healthy: {counted(total, 'partition')}, each with a leader and all replicas in sync")
    for kind, count in ill.items():
        style = "red" if kind in _BAD else None if stopped else "yellow"
        page.wrapped(
            f"{count} of {counted(total, 'partition')} {_WORDS[kind]}", indent="  ", hanging="    ", style=style
        )


def _partitions(body: Any, page: Page) -> None:
    ill = [row for row in body["partitions"] if row["health"] or page.every]
    if not ill:
        return
    ranks = {kind: rank for rank, kind in enumerate(_WORDS)}
    ill.sort(key=lambda row: (ranks[row["health"][0]] if row["health"] else len(ranks), row["topic"], row["partition"]))
    shown = ill if page.every else ill[:_SHOWN]
    page.line()
    page.table(
        ("partition", "leader", "epoch", "replicas", "isr", "elr", "health"),
        [
            (
                partition_name(row["topic"], row["partition"]), _leader(row), row["leader_epoch"],
                _ids(row["replicas"]), _ids(row["isr"]), _ids(row["elr"]), row["health"][0] if row["health"] else "ok",
            )
            for row in shown
        ],
    )  # fmt: skip
    if len(shown) < len(ill):
        page.wrapped(f"{counted(len(ill) - len(shown), 'other partition')}: --all shows them")


def _leader(row: Row) -> str:
    if row["leader"] != NO_LEADER:
        return cell(row["leader"])
    return "none" if row["last_leader"] is None else f"none, last {row['last_leader']}"


def _ids(ids: Sequence[int]) -> str:
    return ",".join(map(str, ids)) if ids else "-"


def _brokers(brokers: Sequence[Any], page: Page) -> None:
    if not brokers:
        return
    columns = [name for name, field in _BROKER_COLUMNS.items() if field is None or any(row[field] for row in brokers)]
    page.line()
    page.table(columns, [[cells[name] for name in columns] for cells in map(_broker_cells, brokers)])


_BROKER_COLUMNS = {
    "broker": None, "state": None, "epoch": "epoch", "Kafka": "software", "log dirs": "log_dirs", "leads": None,
    "led last": "led_last", "replicas": None, "rack": "rack",
}  # fmt: skip
"""The columns, and the field of which a broker must have something for a column to be shown."""


def _broker_cells(row: Any) -> dict[str, object]:
    return {
        "broker": row["broker_id"], "state": _state(row), "epoch": known(row["epoch"]), "Kafka": _software(row),
        "log dirs": len(row["log_dirs"]), "leads": row["leads"], "led last": row["led_last"],
        "replicas": row["replicas"], "rack": known(row["rack"]),
    }  # fmt: skip


def _state(row: Any) -> str:
    if row["fenced"]:
        state = "stopped" if row["in_controlled_shutdown"] else "fenced"
    else:
        state = "stopping" if row["in_controlled_shutdown"] else "active"
    more = [word for word, holds in (("cordoned", row["cordoned_log_dirs"]), ("migrating", row["migrating"])) if holds]
    return ", ".join([state, *more])


def _software(row: Any) -> str:
    software = row["software"]
    if software is None:
        return "-"
    lowest, highest = software["lowest"], software["highest"]
    return str(highest) if lowest == highest else f"{lowest} to {highest}"


def _controllers(body: Any, page: Page) -> None:
    quorum, copies = body["quorum"], body["copies"]
    page.line()
    if body["metadata"]["kind"] != "kraft":
        page.line(f"controller: {known(quorum['leader'])}, epoch {known(quorum['epoch'])}")
        _pending(body["zookeeper"], page)
        return
    leader = "no leader known" if quorum["leader"] in (None, -1) else f"leader {quorum['leader']}"
    page.wrapped(f"controllers: voters {_ids(quorum['voters'])}, {leader}, epoch {quorum['epoch']}", hanging="    ")
    for voter in quorum["voter_set"]:
        where = f"{', '.join(voter['endpoints'])} · directory {voter['directory_id']}"
        page.wrapped(f"voter {voter['voter_id']}: {where}", indent="  ", hanging="    ")
    if body["uncommitted"]:
        _uncommitted(body["uncommitted"], page)
    if len(copies) == 1 and not copies[0]["problems"]:
        return
    page.table(
        ("copy", "node", "epoch", "end", "snapshot", "next election"),
        [
            (
                row["path"],
                known(row["node_id"]),
                row["epoch"],
                row["end_offset"],
                known(row["snapshot"]),
                _election(row),
            )
            for row in copies
        ],
        indent="  ",
    )
    for row in copies:
        lost = row["end_offset"] - row["kept_to"]
        if lost:
            text = f"{row['path']}: under the newest copy, {counted(lost, 'record')} from offset {row['kept_to']} on go"
            page.wrapped(text, indent="  ", hanging="    ", style="yellow")


def _uncommitted(tail: Any, page: Page) -> None:
    """Write what is lost if a controller without the tail leads."""
    records = ", ".join(f"{count} {name.removesuffix('Record')}" for name, count in tail["records"].items())
    tail_offsets = offset_range(tail["from"], tail["to"])
    text = f"if a controller without {tail_offsets} wins the next election, they are gone"
    page.wrapped(f"{text}: {records or 'nothing of weight'}", indent="  ", hanging="    ")


_PENDING = {
    "isr_changes": "the controller has not seen the new ISR of",
    "reassigning": "to be reassigned:",
    "electing": "to elect the preferred leader of",
}


def _pending(zookeeper: Any, page: Page) -> None:
    for kind, words in _PENDING.items():
        names = [partition_name(row["topic"], row["partition"]) for row in zookeeper[kind]]
        if names:
            page.wrapped(f"{words} {some_of(names)}", hanging="    ")
    if zookeeper["log_dir_changes"]:
        page.wrapped(f"a log dir failed on broker {_ids(zookeeper['log_dir_changes'])}", hanging="    ")


def _election(row: Any) -> str:
    if not row["voter"]:
        return "-" if row["voter"] is None else "no voter"
    can_win = row["can_win"]
    return "depends on the others" if can_win is None else "can win" if can_win else "cannot win"


def _topics(body: Any, page: Page) -> None:
    rows = []
    for topic, partitions in groupby(body["partitions"], key=lambda row: row["topic"]):
        every = [*partitions]
        ill = sum(bool(row["health"]) for row in every)
        least, replicas = [row["min_isr"] for row in every], [len(row["replicas"]) for row in every]
        rows.append((topic, len(every), _range(replicas), _range(least), ill or "-"))
    if not rows:
        return
    page.line()
    shown = rows if page.every else rows[:_SHOWN]
    page.table(("topic", "partitions", "replicas", "min isr", "not healthy"), shown)
    if len(shown) < len(rows):
        page.wrapped(f"{counted(len(rows) - len(shown), 'other topic')}: --all shows them")


def _range(numbers: Sequence[int]) -> str:
    least, most = min(numbers), max(numbers)
    return str(least) if least == most else f"{least} to {most}"


def _others(body: Any, page: Page) -> None:
    page.line()
    features = ", ".join(f"{name} {level}" for name, level in body["features"].items())
    page.wrapped(f"features: {features or 'none'}", hanging="    ")
    owners: dict[str, list[str]] = {}
    for row in body["configs"]:
        for name, value in row["config"].items():
            owners.setdefault(f"{name}={value}", []).append(
                row["name"] if row["kind"] == "topic" else f"broker {row['name']}" if row["name"] else "all by default"
            )
    for setting, names in sorted(owners.items()):
        page.wrapped(f"{setting}: {', '.join(names) if page.every else some_of(names)}", hanging="    ")
    if body["deleting"]:
        page.wrapped(f"to be deleted: {some_of(body['deleting'])}", hanging="    ")
    if body["scram_users"]:
        page.wrapped(f"SCRAM users: {some_of(body['scram_users'])}", hanging="    ")
    if body["delegation_tokens"]:
        page.wrapped(f"delegation tokens: {some_of(body['delegation_tokens'])}", hanging="    ")
    if body["next_producer_id"] is not None:
        page.line(f"next producer id: {body['next_producer_id']}")
    if body["migration"] not in (None, "none"):
        page.wrapped(f"migration from ZooKeeper: {body['migration']}")


def _history(changes: Sequence[Any], page: Page, *, of_zookeeper: bool) -> None:
    page.line()
    page.wrapped(f"history of {partition_name(changes[0]['topic'], changes[0]['partition'])}", style="bold")
    page.table(
        ("zxid" if of_zookeeper else "offset", "time (UTC)", "event", "leader", "epoch", "isr", "elr", "replicas"),
        [
            (
                _zxid(row["offset"]) if of_zookeeper else known(row["offset"]), _time(row), row["event"],
                _leader_of_change(row), row["leader_epoch"], _ids(row["isr"]), _ids(row["elr"]),
                _ids(row["replicas"]) + (" recovering" if row["recovering"] else ""),
            )
            for row in changes
        ],
    )  # fmt: skip


def _zxid(zxid: int | None) -> str:
    return "-" if zxid is None else f"{zxid:#x}"


def _time(row: Row) -> str:
    return "-" if row["time"] is None else moment(row["time"]).removesuffix(" UTC")


def _leader_of_change(row: Row) -> str:
    return "none" if row["leader"] == NO_LEADER else cell(row["leader"])


def _fetchers(threads: Sequence[Any], count: int, page: Page) -> None:
    page.line()
    if not threads:
        page.wrapped("no broker fetches anything: no partition has another replica")
    for broker_id, of_broker in groupby(threads, key=lambda row: row["broker_id"]):
        rows = [*of_broker]
        fetched = [row["partitions"] for row in rows]
        started = count * len({row["leader"] for row in rows})
        times = max(fetched) * started / sum(fetched)
        text = f"broker {broker_id} fetches {counted(sum(fetched), 'partition')} with {counted(started, 'thread')}"
        text += f", {started - len(rows)} of them idle; the busiest has {max(fetched)}, {times:.1f} times the mean"
        page.wrapped(text, hanging="    ", style="bold")
        page.table(
            ("thread", "partitions", "which"),
            [
                (f"ReplicaFetcherThread-{row['fetcher']}-{row['leader']}", row["partitions"],
                 ", ".join(row["names"]) if page.every else some_of(row["names"]))
                for row in rows
            ],
            indent="  ",
        )  # fmt: skip
