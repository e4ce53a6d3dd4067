"""Which copy of a cluster's metadata decides about strays, and when its answer is uncertain."""

import pytest

from kcheck.core.cluster.copies import MetadataCopy
from kcheck.core.start.strays import StrayDetector, stray_detector
from kcheck.model.cluster import (
    BrokerRegistration,
    ClusterImage,
    MetadataProblem,
    PartitionRegistration,
    Stray,
    StrayCause,
    StrayDoubt,
    TopicImage,
)

HERE, THERE = "directory-here", "directory-there"


def image(*, since: int = 20) -> ClusterImage:
    """Return metadata with one topic T: partition 0 on brokers 1 and 2, partition 1 on broker 2 since an offset."""
    partitions = {
        0: PartitionRegistration((1, 2), (1, 2), directories=(HERE, THERE)),
        1: PartitionRegistration((2,), (2,), replicas_since=since),
    }
    topics = {"T": TopicImage("t", "T", partitions)}
    return ClusterImage(topics, topics, brokers={1: BrokerRegistration(1, 5, fenced=False)})


def copy(node_id: int = 1, *, end: int = 50, epoch: int = 3, voters: tuple[int, ...] = (7, 8, 9)) -> MetadataCopy:
    """Return a copy of the metadata log whose newest snapshot ends at 10."""
    return MetadataCopy(
        path=f"log-{node_id}", node_id=node_id, epoch=epoch, end=end, snapshot=10, voters=frozenset(voters),
        image=image(),
    )  # fmt: skip


def test_a_log_that_is_cut_is_a_defect_beside_what_cannot_be_read() -> None:
    unread, cut = MetadataProblem("s", "unreadable"), MetadataProblem("l", "corrupt")
    assert () == copy().defects
    assert (unread, cut) == copy()._replace(problems=(unread,), cut=cut).defects


def detector(metadata: MetadataCopy, *, own: bool = True) -> StrayDetector:
    """Return the detector of a log dir of broker 1."""
    return StrayDetector(copy=metadata, broker_id=1, own=own, directory_id=HERE)


def test_the_newest_copy_decides() -> None:
    """A later epoch of the controllers counts before a longer log."""
    older, newer = copy(1, epoch=3, end=90), copy(2, epoch=4, end=50)
    assert StrayDetector(newer, 1, own=True, directory_id=HERE, committed_to=10) == stray_detector(
        (older, newer), 1, HERE
    )
    assert StrayDetector(newer, 5, own=False, directory_id=None, committed_to=10) == stray_detector(
        (older, newer), 5, None
    )
    assert stray_detector((), 1, HERE) is None


@pytest.mark.parametrize(
    ("metadata", "own", "doubt"),
    [
        (copy(), True, StrayDoubt.UNCOMMITTED),
        (copy()._replace(snapshot=21), True, None),
        (copy(voters=(7,)), True, None),
        (copy(), False, StrayDoubt.OLDER),
        (copy(voters=(1,)), False, None),
    ],
)
def test_a_stray_is_certain_if_its_record_is_committed(
    metadata: MetadataCopy, own: bool, doubt: StrayDoubt | None
) -> None:
    """Records below a snapshot are committed, and so are all records of a single controller."""
    assert Stray(StrayCause.REPLICA, 1, 20, doubt) == detector(metadata, own=own).stray("T", 1)
    assert detector(metadata, own=own).stray("T", 0) is None


def test_a_topic_that_no_record_removed_may_be_younger_than_the_copy() -> None:
    assert Stray(StrayCause.TOPIC, "U", None, StrayDoubt.OLDER) == detector(copy()).stray("U", 0)


def test_a_future_log_is_promoted_if_the_metadata_assign_it_here() -> None:
    """LogManager.recoverAbandonedFutureLogs."""
    assert detector(copy()).promotes("T", 0)
    assert not detector(copy()).promotes("T", 1)
    assert not detector(copy(), own=False).promotes("T", 0)
    assert detector(copy(voters=(1,)), own=False).promotes("T", 0)
    assert not detector(copy())._replace(directory_id=THERE).promotes("T", 0)
    assert not detector(copy())._replace(broker_id=3).promotes("T", 0)


def test_the_latest_registration_says_whether_a_broker_runs_with_kraft() -> None:
    """RegisterBrokerRecord."""
    assert detector(copy()).of_kraft
    assert not detector(copy())._replace(broker_id=2).of_kraft


def test_a_copy_decides_if_its_node_will_have_it_like_this() -> None:
    """Of a corrupt log, other controllers send the rest again; the only one goes on without it."""
    problem = MetadataProblem("file", "why")
    assert copy().decides
    assert not copy()._replace(problems=(problem,)).decides
    assert not copy()._replace(cut=problem).decides
    assert copy(voters=(1,))._replace(cut=problem).decides
    assert copy()._replace(cut=problem, is_cut_at_end=True).decides
