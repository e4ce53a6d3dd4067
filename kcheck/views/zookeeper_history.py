"""The changes of one partition, by the transactions in the files of a ZooKeeper server."""

from collections.abc import Mapping

from kcheck.core.cluster.history import PartitionChange, PartitionHistory, TopicPartitionState
from kcheck.model.cluster import FROM_SNAPSHOT, NO_LEADER, MetadataProblem, PartitionRegistration
from kcheck.model.java import LONG_MAX
from kcheck.model.znodes import Znode, ZookeeperTransaction
from kcheck.views.zookeeper_server import ZookeeperServer
from kcheck.zookeeper.kafka_znodes import partition_paths, read_partition


def zookeeper_history(
    path: str, data_log_dir: str | None, chroot: str, partition: tuple[str, int], until: int | None
) -> tuple[tuple[PartitionChange, ...], tuple[MetadataProblem, ...]]:
    """Return every change of a partition up to a transaction, and the unreadable changes.

    The paths are as in `read_zookeeper`, which also found `chroot`.
    """
    observer = _PartitionObserver(chroot, *partition)
    ZookeeperServer(path, data_log_dir, []).observe(observer.observe, LONG_MAX if until is None else until)
    return tuple(observer.history.changes), tuple(observer.problems)


class _PartitionObserver:
    """Sees the znodes after each transaction, and keeps the changes of one partition."""

    def __init__(self, chroot: str, topic: str, number: int) -> None:
        self._topic, self._number = topic, number
        self._paths = partition_paths(chroot, topic, number)
        self._begin()

    def _begin(self) -> None:
        self.history = PartitionHistory()
        self.problems: list[MetadataProblem] = []
        self._nodes: tuple[Znode | None, Znode | None] = (None, None)
        self._last: PartitionRegistration | None = None
        self._shown_to = 0

    def observe(self, znodes: Mapping[str, Znode], transaction: ZookeeperTransaction | None) -> None:
        """Note what the transaction changed; None begins a replay.

        A snapshot can show changes of transactions after it, which the replay then repeats.
        """
        if transaction is None:
            self._begin()
        former, (replicas, state) = self._nodes, (znodes.get(path) for path in self._paths)
        self._nodes = replicas, state
        if self._nodes == former:
            return
        if transaction is None:
            self._shown_to = max(znode.mzxid for znode in self._nodes if znode is not None)
            offset, timestamp = FROM_SNAPSHOT, -1
        elif transaction.zxid <= self._shown_to:
            return
        else:
            offset, timestamp = transaction.zxid, transaction.timestamp
        if state is None and former[1] is not None:
            replicas = None  # the deletion of a topic begins with the states
        try:
            partition = read_partition(self._topic, self._number, replicas, state)
        except ValueError as error:
            place = "the snapshot" if transaction is None else f"transaction {offset:#x}"
            self.problems.append(MetadataProblem(place, str(error)))
        else:
            self.history.observe(self._with_last_leader(partition), offset, timestamp)

    def _with_last_leader(self, partition: TopicPartitionState) -> TopicPartitionState:
        topic_id, registration = partition
        if registration is None:
            self._last = None
            return partition
        former, registration = self._last, registration.with_last_leader()
        if registration.leader == NO_LEADER and former is not None:
            registration = registration._replace(
                last_leader=former.last_leader, last_leader_epoch=former.last_leader_epoch
            )
        self._last = registration
        return topic_id, registration
