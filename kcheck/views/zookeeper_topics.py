"""The ids that topics had, by the transactions in the files of a ZooKeeper server."""

from collections.abc import Iterable, Mapping

from kcheck.core.cluster.topic_ids import TopicIdHistory
from kcheck.model.java import LONG_MAX
from kcheck.model.znodes import Znode, ZookeeperTransaction
from kcheck.views.zookeeper_server import ZookeeperServer
from kcheck.zookeeper.kafka_znodes import partition_paths, read_partition


def topic_id_histories(path: str, chroot: str, topics: Iterable[str]) -> dict[str, TopicIdHistory]:
    """Return the ids that these topics had, as far back as the files of the server go without a gap."""
    observer = _TopicObserver(chroot, topics)
    ZookeeperServer(path, None, []).observe(observer.observe, LONG_MAX)
    return observer.histories


class _TopicObserver:
    """Sees the znodes after each transaction, and keeps the ids of some topics."""

    def __init__(self, chroot: str, topics: Iterable[str]) -> None:
        self._brokers = f"{chroot}/brokers"
        self._paths = {
            topic: (partition_paths(chroot, topic, 0)[0], f"{chroot}/admin/delete_topics/{topic}") for topic in topics
        }
        self._last: dict[str, Znode | None] = {}
        self.histories: dict[str, TopicIdHistory] = {}

    def observe(self, znodes: Mapping[str, Znode], transaction: ZookeeperTransaction | None) -> None:
        """Note what the transaction changed; None begins a replay."""
        if transaction is None:
            self._last = {}
            self.histories = dict.fromkeys(self._paths, TopicIdHistory(self._brokers not in znodes))
        for topic, (path, deletion) in self._paths.items():
            former, znode = self._last.get(topic), znodes.get(path)
            history = self.histories[topic]
            is_deleted = (znode is None and former is not None) or deletion in znodes
            if is_deleted and transaction is not None and history.deleted_at is None:
                self.histories[topic] = history._replace(deleted_at=transaction.zxid)
            if znode is not None and znode is not former:
                self._last[topic] = znode
                self._named(topic, znode)
            elif znode is None:
                self._last[topic] = None

    def _named(self, topic: str, znode: Znode) -> None:
        try:
            topic_id = read_partition(topic, 0, znode, None)[0]
        except ValueError:
            return  # A znode that no release can read: kcheck reports it with the metadata.
        history = self.histories[topic]
        if topic_id is not None and topic_id not in history.ids:
            self.histories[topic] = history._replace(ids=(*history.ids, topic_id))
