"""Unclean elections in the transactions that a starting ZooKeeper server applies after its newest snapshot."""

from collections.abc import Mapping

from kcheck.model.cluster import NO_LEADER, ClusterImage, PartitionRegistration, UncleanElection, unclean_election
from kcheck.model.znodes import CreateNode, DeleteNode, SetNode, Znode, ZookeeperTransaction
from kcheck.zookeeper.kafka_znodes import partition_paths, read_state

_STATE = "/state"


class UncleanElections:
    """Sees the states of partitions. A leader outside of the former ISR that did not lead last is unclean.

    PartitionStateMachine 0.10.2 to 3.9.
    """

    def __init__(self) -> None:
        """Know nothing yet."""
        self._states: dict[str, PartitionRegistration] = {}
        self._unclean: dict[str, UncleanElection] = {}

    def observe(self, znodes: Mapping[str, Znode], transaction: ZookeeperTransaction | None) -> None:
        """Note what the transaction changed; None begins a replay."""
        if transaction is None:
            self._states, self._unclean = {}, {}
            for path, znode in znodes.items():
                if path.endswith(_STATE):
                    self._note(path, znode.data, None)
            return
        for change in transaction.changes:
            if isinstance(change, DeleteNode):
                self._states.pop(change.path, None)
                self._unclean.pop(change.path, None)
            elif isinstance(change, CreateNode | SetNode) and change.path.endswith(_STATE):
                self._note(change.path, change.data, transaction.zxid)

    def _note(self, path: str, data: bytes | None, zxid: int | None) -> None:
        try:
            state = read_state(data).with_last_leader()
        except ValueError:
            return  # No partition, or damaged: kcheck reports it with the metadata.
        former = self._states.get(path)
        if former is not None and state.leader == NO_LEADER:
            state = state._replace(last_leader=former.last_leader)
        self._states[path] = state
        if path in self._unclean:
            self._unclean[path] = self._unclean[path].followed_by(state.isr)
        if former is None or zxid is None or state.leader in (NO_LEADER, former.last_leader, *former.isr):
            return
        self._unclean[path] = unclean_election(self._unclean.get(path), former, state.leader, zxid)

    def of(self, image: ClusterImage, chroot: str) -> dict[tuple[str, int], UncleanElection]:
        """Return the last unclean elections of the partitions of a cluster."""
        known = (
            (topic, number, self._unclean.get(partition_paths(chroot, topic.name, number)[1]))
            for topic, number, _ in (image.partitions() if self._unclean else ())
        )
        return {(topic.topic_id or topic.name, number): row for topic, number, row in known if row is not None}
