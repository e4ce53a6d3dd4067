"""The layout of `kcheck tiered`: a row for each replica, then the store."""

from kcheck.core.tiered.regular_deletion import RegularDeletion, deletion_words
from kcheck.documents.remote_log import local_start_of
from kcheck.model.cluster import NO_LEADER
from kcheck.model.remote_log import REMOTE_LOG_METADATA, Spans
from kcheck.model.report import Report
from kcheck.model.views import PartitionView
from kcheck.screen.page import Page, cell, known, size
from kcheck.verbs.tiered import Tiered, TieredReplica, TopicStorage
from kcheck.words import agree, bare_range, counted, moment, partition_name, some_of

_HEADER = ("partition", "broker", "log start", "local", "log end", "remote", "size", "if it leads", "not readable")
_TOPICS = ("topic", "segments", "remote", "in the store", "USD a month", "to copy", "in both places")
_RETENTION = ("partition", "broker", "retention.bytes", "retention.ms from", "all by", "local start at most")
_MOST = 3


def tiered(report: Report, page: Page) -> None:
    """Write the table of the replicas, and what the store has."""
    answer = report.answer
    assert isinstance(answer, Tiered)
    if answer.replicas:
        page.table(_HEADER, [_cells(replica) for replica in answer.replicas])
        absent = sum(row.view.log_start_offset is None for row in answer.replicas)
        if absent:
            words = f"{counted(absent, 'replica')} without a directory"
            page.wrapped(f"{words}: an empty log that leads deletes every remote segment.", hanging="  ")
        if answer.topics:
            page.line()
            page.table(_TOPICS, [_topic_cells(row, answer) for row in answer.topics])
        _retention(answer, page)
        _without_leader(answer, page)
        for conflict in answer.conflicts:
            command = f"kcheck elect --topic {REMOTE_LOG_METADATA}"
            page.wrapped(
                f"Not known: {conflict}. The next leader decides which one counts: {command}", style="bold red"
            )
    elif not answer.unknown:
        page.line("No partition is in remote storage.")
    for count, why in (
        (
            answer.unknown,
            "no metadata of their topics, or no log, can be read. Name a controller's log dir by --metadata",
        ),
        (answer.hidden, "name the log dirs of all brokers with __remote_log_metadata"),
    ):
        if count:
            page.wrapped(f"not known for {counted(count, 'replica')}: {why}", style="bold red")
    if answer.store is None:
        page.line("The store was not looked at: --store PLACE compares its objects.")
        return
    segments = counted(len(answer.store.objects), "remote segment")
    cost = "" if answer.cost is None else f", {answer.cost:.2f} USD a month"
    page.wrapped(f"store {answer.store.place}: {segments}, {size(answer.stored or 0)}{cost}")
    if answer.store.has_tables:
        page.wrapped("Segments are in Iceberg tables. kcheck compares their manifests, and no data file.", style="bold")


def _retention(answer: Tiered, page: Page) -> None:
    """Write what the first pass of retention deletes if a replica leads. That is no accident."""
    rows = [(row, row.regular) for row in answer.replicas if row.regular is not None and not row.regular.takes_nothing]
    if rows:
        page.line()
        page.line("Retention deletes regularly as soon as the replica leads (without new records):")
        page.table(_RETENTION, [_retention_cells(replica.view, regular) for replica, regular in rows])


def _retention_cells(view: PartitionView, regular: RegularDeletion) -> tuple[object, ...]:
    from_ms, by_ms = ("-" if at is None else moment(at) for at in (regular.first_ms, regular.last_ms))
    return (
        partition_name(view.topic, view.partition), known(view.where.broker_id), deletion_words(regular),
        *((from_ms, by_ms) if regular.is_dated else ("?", "?")), cell(regular.local_most),
    )  # fmt: skip


def _without_leader(answer: Tiered, page: Page) -> None:
    """Write the partitions of __remote_log_metadata without a leader, where Kafka copies, deletes and reads nothing."""
    logs = [row.view.remote for row in answer.replicas if row.view.remote is not None]
    open_logs = (log.metadata_partition for log in logs if log.leader == NO_LEADER)
    numbers = sorted({number for number in open_logs if number is not None})
    if numbers:
        names = some_of([partition_name(REMOTE_LOG_METADATA, number) for number in numbers])
        verb = agree(len(numbers), "has", "have")
        page.wrapped(f"Until {names} {verb} a leader, Kafka copies, deletes and reads nothing in remote storage there.")


def _cells(replica: TieredReplica) -> tuple[object, ...]:
    view, report, *_ = replica
    remote = view.remote
    assert remote is not None
    runs = remote.runs
    spans = _spans(tuple((run.start_offset, run.end_offset) for run in runs)) if remote.is_known else str(remote.state)
    leads = f"deletes {_spans(report.deleted_offsets)}" if report.deleted else "-"
    hidden = (*report.gaps, *report.unreadable, *report.without_metadata)
    own = (view.log_start_offset, local_start_of(view), view.log_end_offset)
    return (
        partition_name(view.topic, view.partition), known(view.where.broker_id),
        *("-" if offset is None else offset for offset in own), spans, size(sum(run.size for run in runs)),
        leads, _spans(hidden),
    )  # fmt: skip


def _topic_cells(row: TopicStorage, answer: Tiered) -> tuple[object, ...]:
    cost = answer.cost_of(row.stored)
    return (
        row.topic, cell(row.segments), size(row.size), "-" if row.stored is None else size(row.stored),
        "-" if cost is None else f"{cost:.2f}", size(row.to_copy), size(row.duplicated),
    )  # fmt: skip


def _spans(spans: Spans) -> str:
    return some_of([bare_range(*span) for span in spans], _MOST) or "-"
