"""The layout of `kcheck cluster`: health first, then the partitions that need a look, brokers, controllers, topics."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from kcheck.core.cluster.health import Health, health, min_isr
from kcheck.core.cluster.history import ChangeKind, PartitionChange
from kcheck.core.cluster.quorum import CopyStanding, Quorum
from kcheck.documents.cluster import (
    BrokerState,
    broker_states,
    fetcher_threads,
    leader_of,
    software_line,
)
from kcheck.model.cluster import (
    NO_LEADER,
    BrokerRegistration,
    ClusterImage,
    MetadataOrigin,
    MetadataProblem,
    MetadataTail,
    PartitionRegistration,
)
from kcheck.model.report import PartitionFilter, Report
from kcheck.model.zookeeper_metadata import ZookeeperMetadata
from kcheck.screen.page import Page, cell, known
from kcheck.verbs.cluster import ClusterReport
from kcheck.words import agree, counted, moment, offset_range, partition_name, some_names, some_of

_SHOWN = 20
"""Number of partitions in need of a look that are listed without `--all`."""
_WORDS = {
    Health.OFFLINE: "offline: no leader, and no replica that may be elected cleanly",
    Health.LEADERLESS: "without leader until a replica in sync, or in the ELR, is back",
    Health.ELR_ONLY: "with an empty ISR: only an ELR member may lead",
    Health.UNDER_MIN_ISR: "under min.insync.replicas: acks=all fails",
    Health.RECOVERING: "recovering from an unclean election",
    Health.LOG_DIR_OFFLINE: "with a replica in a log dir that is offline",
    Health.UNDER_REPLICATED: "with a replica that is not in sync",
    Health.REASSIGNING: "being reassigned",
}
_AFTER_A_STOP = (Health.ELR_ONLY, Health.UNDER_REPLICATED)
"""The usual state of a partition whose brokers were stopped one after the other."""
_BAD = (Health.OFFLINE, Health.ELR_ONLY, Health.UNDER_MIN_ISR, Health.LOG_DIR_OFFLINE)


class _PartitionHealth(NamedTuple):
    """A shown partition, with its problems."""

    topic: str
    number: int
    state: PartitionRegistration
    ills: tuple[Health, ...]
    """Its problems, the worst first."""
    min_isr: int

    @property
    def name(self) -> str:
        """Return `orders-0`."""
        return partition_name(self.topic, self.number)


def cluster(report: Report, page: Page) -> None:
    """Write the state of the cluster, or the history of one partition, or the load of the fetcher threads."""
    answer = report.answer
    assert isinstance(answer, ClusterReport)
    image, source = answer.image, answer.known.source
    if source.kind == "none":
        page.wrapped(f"cluster {known(answer.known.cluster_id)}, without a copy of its metadata", style="bold")
        _rescue(answer, page)
        return
    _source(answer, page)
    if answer.question.history is not None:
        _history(answer, answer.question.history, page)
        return
    partitions = [
        _PartitionHealth(topic.name, number, state, health(image, topic, state), min_isr(image, topic, state))
        for topic, number, state in answer.partitions()
    ]
    if partitions or answer.wanted == PartitionFilter():
        _rescue(answer, page)
        can_elect = answer.rescue is None and (answer.quorum is None or answer.quorum.can_elect is not False)
        _health(partitions, page, is_stopped=answer.is_stopped, can_elect=can_elect)
    else:
        page.line()
        page.line("no such partition")
    for topic, offset in answer.deleted() if answer.wanted.topics else ():
        again = ", and created again" if topic in image.topics else ""
        words = f"topic {topic} was deleted at offset {offset}{again}"
        page.wrapped(words, indent="  ", hanging="    ", style="yellow")
    if answer.question.fetchers is not None:
        _fetchers(answer, answer.question.fetchers, page)
        return
    _partitions(partitions, page)
    _brokers(broker_states(image), page)
    page.line()
    if answer.quorum is not None:
        if answer.quorum.can_elect is False and answer.rescue is None:
            _minority(answer.quorum, page)
        if answer.if_lost is not None:
            page.wrapped(answer.if_lost.sentence)
        _controllers(answer.quorum, answer.known.uncommitted, page)
    else:
        assert answer.known.zookeeper is not None
        _zookeeper(answer.known.zookeeper, page)
    _topics(partitions, page)
    _others(image, page)


def _rescue(answer: ClusterReport, page: Page) -> None:
    if answer.rescue is not None:
        page.line()
        page.wrapped(answer.rescue.sentence, style="bold red")


def _source(answer: ClusterReport, page: Page) -> None:
    source = answer.known.source
    page.wrapped(f"cluster {known(answer.known.cluster_id)}, metadata of {source.path}", hanging="    ", style="bold")
    time = "" if source.timestamp is None else f", {moment(source.timestamp)}"
    if source.kind == "kraft":
        until = f"up to offset {source.end_offset - 1}" if source.end_offset else "without a record"
        page.wrapped(f"{until}{time}, {_committed(source)}", indent="  ", hanging="    ")
    elif answer.known.zookeeper is not None and source.kind == "zookeeper":
        text = f"as a ZooKeeper server restores it from its files, up to transaction {answer.known.zookeeper.zxid:#x}"
        page.wrapped(f"{text}{time}", indent="  ", hanging="    ")
    problems: Sequence[tuple[str, MetadataProblem]] = [(source.path, problem) for problem in source.problems]
    if answer.quorum is not None:
        copies = [standing.copy for standing in answer.quorum.copies]
        problems = [(copy.path, problem) for copy in copies for problem in copy.defects]
    for path, problem in problems:
        text = f"incomplete: {path}, {problem.place}: {problem.why}"
        page.wrapped(text, indent="  ", hanging="    ", style="red")


def _committed(source: MetadataOrigin) -> str:
    if source.committed_to is None:
        return "not proven committed: add the log dirs of a majority of the controllers"
    if source.committed_to >= (source.end_offset or 0):
        return "all of it committed"
    return f"committed up to offset {source.committed_to - 1} for certain; the rest may be taken back"


def _health(partitions: Sequence[_PartitionHealth], page: Page, *, is_stopped: bool, can_elect: bool) -> None:
    page.line()
    total = counted(len(partitions), "partition")
    counts = {kind: sum(kind in partition.ills for partition in partitions) for kind in Health}
    stopped = is_stopped and counts[Health.LEADERLESS] > 0
    ills = {kind: count for kind, count in counts.items() if count and not (stopped and kind in _AFTER_A_STOP)}
    if stopped:
        page.wrapped("every broker is stopped, and serves no partition. The table has the last leaders and ISRs")
    elif not ills:
        words = "healthy when" if can_elect else "not known to be healthy. When"
        page.wrapped(f"{words} this metadata was written: {total}, each with a leader and all replicas in sync")
        page.wrapped("The metadata does not show the logs. kcheck recover compares the disks of all brokers.")
    for kind, count in ills.items():
        style = "red" if kind in _BAD else None if stopped else "yellow"
        page.wrapped(f"{count} of {total} {_WORDS[kind]}", indent="  ", hanging="    ", style=style)


def _partitions(partitions: Sequence[_PartitionHealth], page: Page) -> None:
    ill = [partition for partition in partitions if partition.ills or page.every]
    if not ill:
        return
    ranks = {kind: rank for rank, kind in enumerate(Health)}
    ill.sort(key=lambda part: (ranks[part.ills[0]] if part.ills else len(ranks), part.topic, part.number))
    shown = ill if page.every else ill[:_SHOWN]
    page.line()
    page.table(
        ("partition", "leader", "epoch", "replicas", "ISR", "ELR", "health"),
        [
            (
                part.name, _leader(part.state), part.state.leader_epoch, _ids(part.state.replicas),
                _ids(part.state.isr), _ids(part.state.elr), part.ills[0] if part.ills else "ok",
            )
            for part in shown
        ],
    )  # fmt: skip
    if len(shown) < len(ill):
        page.wrapped(f"{counted(len(ill) - len(shown), 'other partition')}: --all shows them")


def _leader(state: PartitionRegistration) -> str:
    if state.leader != NO_LEADER:
        return cell(state.leader)
    return "none" if state.last_leader is None else f"none, last {state.last_leader}"


def _ids(ids: Sequence[int]) -> str:
    return ",".join(map(str, ids)) if ids else "-"


def _brokers(states: Sequence[BrokerState], page: Page) -> None:
    if not states:
        return
    lines = [software_line(state.broker.features) for state in states]
    of_column: Mapping[str, Sequence[object]] = {
        "broker": [state.broker.broker_id for state in states],
        "state": [_state(state.broker) for state in states],
        "epoch": [state.broker.epoch for state in states],
        "Kafka": lines,
        "log dirs": [len(state.broker.log_dirs) for state in states],
        "leads": [state.leads for state in states],
        "led last": [state.led_last for state in states],
        "replicas": [state.replicas for state in states],
        "rack": [state.broker.rack for state in states],
    }
    columns = [name for name, values in of_column.items() if name not in _NOT_ALWAYS or any(values)]
    page.line()
    page.table(columns, [tuple(map(known, row)) for row in zip(*(of_column[name] for name in columns), strict=True)])


_NOT_ALWAYS = ("epoch", "Kafka", "log dirs", "led last", "rack")
"""The columns that are shown only if a broker has something for them."""


def _state(broker: BrokerRegistration) -> str:
    if broker.fenced:
        state = "stopped" if broker.in_controlled_shutdown else "fenced"
    else:
        state = "stopping" if broker.in_controlled_shutdown else "active"
    more = ["cordoned"] * bool(broker.cordoned_log_dirs) + ["migrating"] * broker.migrating
    return ", ".join([state, *more])


def _minority(quorum: Quorum, page: Page) -> None:
    """Write that there are copies of too few controllers to tell whether a leader can be elected."""
    here = quorum.voters_here
    text = f"not known: whether a leader can be elected. {len(here)} of {len(quorum.voters)} controllers"
    which = f" ({_ids(here)})" if here else ""
    page.wrapped(f"{text} {agree(len(here), 'is', 'are')} here{which}.", style="yellow", hanging="  ")


def _controllers(quorum: Quorum, tail: MetadataTail | None, page: Page) -> None:
    leader, epoch = leader_of(quorum)
    who = "no leader known" if leader in (None, -1) else f"leader {leader}"
    page.wrapped(f"controllers: voters {_ids(sorted(quorum.voters))}, {who}, epoch {epoch}", hanging="    ")
    for voter in sorted(quorum.newest.voter_set):
        where = f"{', '.join(voter.endpoints)} · directory {voter.directory_id}"
        page.wrapped(f"voter {voter.voter_id}: {where}", indent="  ", hanging="    ")
    if tail is not None:
        _uncommitted(tail, page)
    copies = quorum.copies
    if len(copies) == 1 and not copies[0].copy.defects:
        return
    page.table(
        ("copy", "node", "epoch", "end", "snapshot", "next election"),
        [
            (
                standing.copy.path,
                known(standing.copy.node_id),
                standing.copy.epoch,
                standing.copy.end,
                standing.copy.snapshot or "-",
                _election(standing),
            )
            for standing in copies
        ],
        indent="  ",
    )
    for standing in copies:
        lost = standing.copy.end - standing.kept_to
        if lost:
            records = f"{counted(lost, 'record')} from offset {standing.kept_to} on go"
            text = f"{standing.copy.path}: under the newest copy, {records}"
            page.wrapped(text, indent="  ", hanging="    ", style="yellow")


def _uncommitted(tail: MetadataTail, page: Page) -> None:
    """Write what is lost if a controller without the tail leads."""
    records = ", ".join(f"{count} {name.removesuffix('Record')}" for name, count in sorted(tail.records.items()))
    text = f"{offset_range(tail.start, tail.end)} may be lost with the next election of a controller"
    page.wrapped(f"{text}: {records or 'no leader or ISR depends on them'}", indent="  ", hanging="    ")


def _zookeeper(metadata: ZookeeperMetadata, page: Page) -> None:
    """Write who the controller is, and what it has not done or seen yet."""
    page.line(f"controller: {known(metadata.image.controller)}, epoch {known(metadata.controller_epoch)}")
    for words, partitions in (
        ("the controller has not seen the new ISR of", metadata.isr_changes),
        ("to be reassigned:", metadata.reassigning),
        ("to elect the preferred leader of", metadata.electing),
    ):
        if partitions:
            page.wrapped(f"{words} {some_names(partitions)}", hanging="    ")
    if metadata.log_dir_changes:
        page.wrapped(f"a log dir failed on broker {_ids(metadata.log_dir_changes)}", hanging="    ")


def _election(standing: CopyStanding) -> str:
    if not standing.is_voter:
        return "-" if standing.is_voter is None else "no voter"
    can_win = standing.can_win
    return "depends on the others" if can_win is None else "can win" if can_win else "cannot win"


def _topics(partitions: Sequence[_PartitionHealth], page: Page) -> None:
    rows: list[tuple[object, ...]] = []
    for topic, of_topic in groupby(partitions, key=lambda partition: partition.topic):
        every = [*of_topic]
        ill = sum(bool(part.ills) for part in every)
        replicas = [len(part.state.replicas) for part in every]
        rows.append((topic, len(every), _range(replicas), _range([part.min_isr for part in every]), ill or "-"))
    if not rows:
        return
    page.line()
    shown = rows if page.every else rows[:_SHOWN]
    page.table(("topic", "partitions", "replicas", "min ISR", "not healthy"), shown)
    if len(shown) < len(rows):
        page.wrapped(f"{counted(len(rows) - len(shown), 'other topic')}: --all shows them")


def _range(numbers: Sequence[int]) -> str:
    least, most = min(numbers), max(numbers)
    return str(least) if least == most else f"{least} to {most}"


def _others(image: ClusterImage, page: Page) -> None:
    page.line()
    features = ", ".join(f"{name} {level}" for name, level in sorted(image.features.items()))
    page.wrapped(f"features: {features or 'none'}", hanging="    ")
    owners: dict[str, list[str]] = {}
    for (kind, name), config in sorted(image.configs.items()):
        owner = name if kind == "topic" else f"broker {name}" if name else "all by default"
        for setting, value in sorted(config.items()):
            owners.setdefault(f"{setting}={value}", []).append(owner)
    for setting, names in sorted(owners.items()):
        page.wrapped(f"{setting}: {', '.join(names) if page.every else some_of(names)}", hanging="    ")
    deleting = [topic.name for topic in image.topics.values() if topic.deleting]
    for words, things in (
        ("to be deleted", deleting),
        ("deleted", [f"{topic} at offset {offset}" for topic, offset in sorted(image.deleted.items())]),
        ("SCRAM users", image.scram_users),
        ("delegation tokens", image.delegation_tokens),
    ):
        if things:
            page.wrapped(f"{words}: {some_of(things)}", hanging="    ")
    if image.next_producer_id is not None:
        page.line(f"next producer id: {image.next_producer_id}")
    if image.migration not in (None, "none"):
        page.wrapped(f"migration from ZooKeeper: {image.migration}")


def _history(answer: ClusterReport, partition: tuple[str, int], page: Page) -> None:
    of_zookeeper = answer.known.source.kind == "zookeeper"
    page.line()
    page.wrapped(f"history of {partition_name(*partition)}", style="bold")
    page.table(
        ("zxid" if of_zookeeper else "offset", "time", "event", "leader", "epoch", "ISR", "ELR", "replicas"),
        [_change(change, of_zookeeper=of_zookeeper) for change in answer.changes],
    )


def _change(change: PartitionChange, *, of_zookeeper: bool) -> tuple[object, ...]:
    state, offset = change.after, None if change.kind is ChangeKind.SNAPSHOT else change.offset
    return (
        known(offset) if not of_zookeeper or offset is None else f"{offset:#x}",
        "-" if change.timestamp is None else moment(change.timestamp),
        change.kind,
        "none" if state.leader == NO_LEADER else cell(state.leader),
        state.leader_epoch,
        _ids(state.isr),
        _ids(state.elr),
        _ids(state.replicas) + (" recovering" if state.recovering else ""),
    )


def _fetchers(answer: ClusterReport, count: int, page: Page) -> None:
    page.line()
    threads = fetcher_threads(answer.fetches)
    if not threads:
        page.wrapped("no broker fetches anything, because no partition has another replica")
    for broker_id, of_broker in groupby(threads, key=lambda thread: thread.broker_id):
        rows = [*of_broker]
        fetched = [len(thread.names) for thread in rows]
        started = count * len({thread.leader for thread in rows})
        times = max(fetched) * started / sum(fetched)
        text = f"broker {broker_id} fetches {counted(sum(fetched), 'partition')} with {counted(started, 'thread')}"
        text += f", {started - len(rows)} of them idle; the busiest has {max(fetched)}, {times:.1f} times the mean"
        page.wrapped(text, hanging="    ", style="bold")
        page.table(
            ("thread", "partitions", "which"),
            [
                (f"ReplicaFetcherThread-{thread.fetcher}-{thread.leader}", len(thread.names),
                 ", ".join(thread.names) if page.every else some_of(thread.names))
                for thread in rows
            ],
            indent="  ",
        )  # fmt: skip
