"""Nodes of a cluster that lost its controllers, as values."""

from kcheck.core.cluster.copies import MetadataCopy, RaftEpoch
from kcheck.core.rescue.quorum_loss import QuorumLoss, RescueNode, quorum_loss
from kcheck.model.cluster import (
    BrokerRegistration,
    ClusterImage,
    MetadataProblem,
    PartitionRegistration,
    QuorumState,
    TopicImage,
    Voter,
)

VOTERS = frozenset({101, 102, 103})
SET = tuple(Voter(number, f"directory-of-{number:07}A", (f"CONTROLLER://c{number}:9093",)) for number in sorted(VOTERS))
SNAPSHOT = "00000000000000000030-0000000002.checkpoint"
_TORN_SNAPSHOT = (MetadataProblem(SNAPSHOT, "the snapshot is incomplete"),)
_PROBLEMS = {
    "records": (MetadataProblem("offset 7", "the record cannot be read"),), "snapshot": _TORN_SNAPSHOT,
    "base": _TORN_SNAPSHOT,
}  # fmt: skip
TORN = MetadataProblem("00000000000000000000.log", "no valid batch begins at offset 40")


def image(*topics: str, brokers: tuple[int, ...] = (1, 2), epoch: int = 0) -> ClusterImage:
    """Return metadata with topics of one partition whose id is their name."""
    partition = PartitionRegistration((1, 2), (1, 2), 1, epoch, epoch)
    by_name = {name: TopicImage(name, f"id-{name}", {0: partition}) for name in topics}
    return ClusterImage(
        by_name, {f"id-{name}": topic for name, topic in by_name.items()},
        brokers={number: BrokerRegistration(number, number, fenced=False) for number in brokers},
    )  # fmt: skip


def copy(
    number: int, end: int = 50, epoch: int = 3, *, dynamic: bool = False, leader: int | None = None,
    holds: ClusterImage | None = None, damage: str = "", transaction: bool = False, snapshot: int = 0,
) -> MetadataCopy:  # fmt: skip
    """Return a copy; `damage` is tail, middle, records, snapshot or base, `leader` that of its quorum-state."""
    return MetadataCopy(
        path=f"/{number}/__cluster_metadata-0", node_id=number, epoch=epoch, end=end, snapshot=snapshot, voters=VOTERS,
        image=holds or image("orders"), epochs=(RaftEpoch(1, 0), RaftEpoch(epoch, 20)), timestamp=1000,
        elected=None if leader is None else QuorumState(leader, epoch, -1, None),
        voter_set=SET if dynamic else (), in_transaction=transaction,
        cut=TORN if damage in ("tail", "middle") else None, is_cut_at_end=damage == "tail",
        problems=_PROBLEMS.get(damage, ()), corrupt_snapshots=(SNAPSHOT,) if damage in ("snapshot", "base") else (),
        lacks_base=damage == "base",
    )  # fmt: skip


def node(number: int, held: MetadataCopy | None = None, **fields: object) -> RescueNode:
    """Return a node of cluster C."""
    known: dict[str, object] = {
        "cluster_id": "C", "directory_id": f"directory-of-{number:07}A", "copy": held,
        "epoch": 0 if held is None else held.epoch, "snapshot_end": 0 if held is None else held.snapshot,
        "has_bootstrap": True,
    }  # fmt: skip
    return RescueNode(number, f"/{number}", **(known | fields))


def left(*nodes: RescueNode, dead: tuple[int, ...] = (102, 103)) -> QuorumLoss:
    """Return what is left of a quorum, of which there is a copy."""
    loss = quorum_loss(nodes, dead)
    assert loss is not None
    return loss


def brokers(*, dynamic: bool = False, end: int = 50) -> tuple[RescueNode, RescueNode]:
    """Return brokers 1 and 2 with copies up to an offset."""
    first, second = (node(number, copy(number, end, dynamic=dynamic)) for number in (1, 2))
    return first, second
