"""Compares the logs of a check with the coordinators (committed offsets of groups, and open transactions)."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, TypeAlias

from kcheck.core.replication.lost_transactions import OpenTransaction
from kcheck.core.start.unserved import ImageOf
from kcheck.model.cluster import ClusterImage
from kcheck.model.coordinators import Coordinated, CoordinatedLog, OpenInLog, TransactionState
from kcheck.model.depth import Depth
from kcheck.model.entries import Offset
from kcheck.model.finding import Finding
from kcheck.model.names import CONSUMER_OFFSETS, TRANSACTION_STATE
from kcheck.model.release import Release
from kcheck.model.unreadable import UnreadableError
from kcheck.model.views import PartitionView
from kcheck.segments.batches import Walk
from kcheck.segments.producer_snapshots import snapshot_offsets
from kcheck.survey.rule_runner import check_coordinators

if TYPE_CHECKING:
    from kcheck.replicas.replica import LogFile

READ_SIZE_MAX = 256 << 20
"""Unless records are to be read, kcheck reads at most this much of each of the two topics."""
_LOOK_SIZE_MAX = 64 << 20
"""kcheck looks for open transactions if no more than this follows the newest producer snapshot."""
_OPEN_COUNT_MAX = 100
"""The time of at most this many transactions of a log is looked up."""


_Logs: TypeAlias = "tuple[LogFile, ...]"
_InternalLog: TypeAlias = "tuple[int, int | None, _Logs]"
"""The partition number, the log end offset and the segments of a replica of an internal topic."""


class CoordinatorCheck:
    """Collects the logs of a check, and compares them with the state of the coordinators."""

    def __init__(self, depth: Depth) -> None:
        """Take the depth of the check. Without reading segments nothing is compared."""
        self._depth = depth
        self._logs: dict[str | None, list[CoordinatedLog]] = defaultdict(list)
        self._internal: dict[tuple[str | None, str], list[_InternalLog]] = defaultdict(list)

    def take(self, cluster_id: str | None, view: PartitionView) -> None:
        """Keep what the comparison needs of a partition directory."""
        if view.read is None or not view.is_replica or view.disk is None:
            return
        if view.topic in (CONSUMER_OFFSETS, TRANSACTION_STATE):
            from kcheck.replicas.replica import logs_of

            kept = view.partition, view.log_end_offset, logs_of(view)
            self._internal[cluster_id, view.topic].append(kept)
        registration = None if view.in_cluster is None else view.in_cluster.registration
        self._logs[cluster_id].append(
            CoordinatedLog(
                where=view.where, topic=view.topic, partition=view.partition, start=view.log_start_offset,
                end=view.log_end_offset, replicas=None if registration is None else registration.replicas,
                open=() if cluster_id is None else tuple(_open(view)),
            )
        )  # fmt: skip

    def findings(self, images: ImageOf, release: Release) -> Iterator[Finding]:
        """Yield what the rules about coordinators find."""
        for cluster_id, logs in self._logs.items():
            by_partition: dict[tuple[str, int], list[CoordinatedLog]] = defaultdict(list)
            for log in logs:
                by_partition[log.topic, log.partition].append(log)
            brokers = frozenset(log.where.broker_id for log in logs if log.where.broker_id is not None)
            transactions, knows_all = dict[int, TransactionState](), False
            if any(log.open for log in logs):
                image = images(cluster_id)
                transactions, knows_all = self._transactions(cluster_id, image, brokers)
            view = Coordinated(
                logs={key: tuple(replicas) for key, replicas in by_partition.items()},
                brokers=brokers,
                commits=self._commits(cluster_id),
                transactions=transactions,
                knows_all=knows_all,
            )
            yield from check_coordinators(view, release)

    def _read(self, cluster_id: str | None, topic: str) -> list[_InternalLog]:
        """Return the replicas of an internal topic; nothing if they are too large to read at this depth."""
        replicas = self._internal.get((cluster_id, topic), [])
        size = sum(file.size for _, _, log in replicas for file in log)
        return replicas if size <= READ_SIZE_MAX or self._depth is Depth.RECORDS else []

    def _commits(self, cluster_id: str | None) -> dict[tuple[str, int], tuple[tuple[str, Offset], ...]]:
        replicas = self._read(cluster_id, CONSUMER_OFFSETS)
        if not replicas:
            return {}
        from kcheck.replicas.group_offsets import committed_offsets  # imports numpy: only to read commits

        committed = committed_offsets(log for _, _, log in replicas)
        return {
            key: tuple((commit.group, commit.offset) for commit in commits)
            for key, commits in committed.by_partition.items()
        }

    def _transactions(
        self, cluster_id: str | None, image: ClusterImage | None, brokers: frozenset[int]
    ) -> tuple[dict[int, TransactionState], bool]:
        """Return the transactions by producer id, and whether no coordinator can have another one."""
        replicas = self._read(cluster_id, TRANSACTION_STATE)
        latest: dict[int, tuple[int, _Logs]] = {}
        for number, end, log in replicas:
            if number not in latest or (end or 0) > latest[number][0]:
                latest[number] = end or 0, log
        by_producer: dict[int, TransactionState] = {}
        every_read = len(replicas) == len(self._internal.get((cluster_id, TRANSACTION_STATE), []))
        from kcheck.replicas.transaction_states import transaction_states  # imports the decoders

        for _, log in latest.values():
            states, is_whole = transaction_states(log)
            every_read &= is_whole
            by_producer.update({state.producer_id: state for state in states.values()})
        topic = None if image is None else image.topics.get(TRANSACTION_STATE)
        partitions = {} if topic is None else topic.partitions
        there = all(
            number in latest or brokers.issuperset(registration.replicas) for number, registration in partitions.items()
        )
        return by_producer, image is not None and every_read and there


def transactions_of(view: PartitionView) -> tuple[OpenTransaction, ...] | None:
    """Return the open transactions at the end of a replica, by offset; None if there is too much to read."""
    end = view.log_end_offset
    if end is None or view.disk is None or not view.is_replica:
        return None
    from kcheck.replicas.lost_transactions import open_transactions  # imports numpy: only where batches may tell more
    from kcheck.replicas.replica import logs_from, logs_of

    logs = logs_of(view)
    begin = max((offset for offset in snapshot_offsets(view.files) if offset <= end), default=Offset(0))
    small = sum(log.size for log in logs_from(logs, begin)) <= _LOOK_SIZE_MAX
    return open_transactions(logs, end) if small else None


def _open(view: PartitionView) -> Iterator[OpenInLog]:
    """Yield the transactions that are open at the end of a log, by offset."""
    end = view.log_end_offset
    if view.producers is None or view.producers.open == 0 or end is None:
        return
    from kcheck.replicas.lost_transactions import open_transactions  # imports numpy: only if a transaction is open
    from kcheck.replicas.replica import logs_of

    logs = logs_of(view)
    still_open = open_transactions(logs, end) or ()
    times = _timestamps(logs, [transaction.first_offset for transaction in still_open[:_OPEN_COUNT_MAX]])
    for transaction in still_open:
        yield OpenInLog(*transaction, times.get(transaction.first_offset))


def _timestamps(logs: _Logs, offsets: Iterable[Offset]) -> dict[Offset, int]:
    """Return the largest timestamp of the batch at each of these offsets, ascending."""
    from kcheck.replicas.replica import logs_from

    times: dict[Offset, int] = {}
    for offset in offsets:
        try:
            with logs_from(logs, offset)[0].open() as source:
                batch = next((batch for batch in Walk(source) if batch.base_offset >= offset), None)
        except UnreadableError:
            break
        if batch is not None and batch.base_offset == offset and batch.max_timestamp is not None:
            times[offset] = batch.max_timestamp
    return times
