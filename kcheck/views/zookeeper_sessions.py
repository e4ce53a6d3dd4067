"""The times of the brokers' sessions, and of topics, in the transactions that a starting ZooKeeper server applies."""

import re
from collections.abc import Iterable, Iterator, Mapping

from kcheck.model.znodes import CloseSession, CreateNode, SetNode, Znode, ZookeeperTransaction
from kcheck.zookeeper.kafka_znodes import registered_endpoints

_IDS = "/brokers/ids/"
_TOPIC = re.compile(r"(.*)/brokers/topics/([^/]+)")


class BrokerSessions:
    """Sees when brokers registered and last changed something, and which closed their last session.

    A clean stop ends with that. The request of a client has a number. The server closes an expired
    session by a request without one (ZooKeeperServer.close 3.4 to 3.9; KafkaServer.shutdown 0.8.2 to 3.9).
    """

    def __init__(self) -> None:
        """Know nothing yet."""
        self._registered: dict[str, int] = {}
        self._closed: set[str] = set()
        self._times: dict[str, int] = {}
        self._data: dict[str, bytes | None] = {}
        self._asked: dict[int, int] = {}
        self._topics: dict[tuple[str, str], int] = {}

    def observe(self, znodes: Mapping[str, Znode], transaction: ZookeeperTransaction | None) -> None:
        """Note what the transaction changed; None begins a replay."""
        if transaction is None:
            own = {path: znode.ephemeral_owner for path, znode in znodes.items() if _IDS in path}
            self._registered, self._closed, self._times, self._asked = own, set(), {}, dict.fromkeys(own.values(), 0)
            self._data = {path: znodes[path].data for path in own}
            self._topics = {}
            return
        for change in transaction.changes:
            if isinstance(change, CreateNode) and _IDS in change.path:
                self._registered[change.path] = change.ephemeral_owner
                self._closed.discard(change.path)
                self._times[change.path] = transaction.timestamp
                self._data[change.path] = change.data
                self._asked[change.ephemeral_owner] = transaction.timestamp
            elif isinstance(change, CreateNode) and (topic := _TOPIC.fullmatch(change.path)):
                self._topics[topic[1], topic[2]] = transaction.timestamp
            elif isinstance(change, SetNode) and change.path in self._data:
                self._data[change.path] = change.data
            elif isinstance(change, CloseSession) and change.asked:
                self._closed |= {path for path, owner in self._registered.items() if owner == change.session}
                return
        if transaction.session in self._asked:
            self._asked[transaction.session] = transaction.timestamp

    def closed(self, chroot: str) -> frozenset[int]:
        """Return the brokers of a cluster that closed their last session themselves."""
        return frozenset(number for _, number in _of_cluster(chroot, self._closed))

    def registered_at(self, chroot: str) -> dict[int, int]:
        """Return the last registrations of a cluster's brokers, in ms since 1970, as far as the logs have them."""
        return {number: self._times[path] for path, number in _of_cluster(chroot, self._times)}

    def endpoints(self, chroot: str) -> dict[int, tuple[str, ...]]:
        """Return the listeners in the last registrations of a cluster's brokers, as far as the files have them."""
        return {number: registered_endpoints(self._data[path]) for path, number in _of_cluster(chroot, self._data)}

    def created_at(self, chroot: str) -> dict[str, int]:
        """Return the creations of a cluster's topics, in ms since 1970, as far as the logs have them."""
        return {name: at for (of, name), at in self._topics.items() if of == chroot}

    def asked_at(self, chroot: str) -> dict[int, int]:
        """Return the last changes by brokers of a cluster, in ms since 1970, as far as the logs have them."""
        times = (
            (number, self._asked[self._registered[path]]) for path, number in _of_cluster(chroot, self._registered)
        )
        return {number: at for number, at in times if at}


def _of_cluster(chroot: str, paths: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Yield the paths of a cluster's brokers, with their ids."""
    prefix = f"{chroot}{_IDS}"
    for path in paths:
        if path.startswith(prefix) and path.removeprefix(prefix).isdecimal():
            yield path, int(path.removeprefix(prefix))
