"""KC318: -stray directories of replicas that the cluster still assigns to the broker."""

import pytest

from kcheck.model.cluster import PartitionRegistration, ReplicaInCluster
from kcheck.model.finding import Finding
from kcheck.model.names import DirectoryState
from kcheck.model.views import PartitionView
from kcheck.rules.kc318_stray_replica_assigned import RULE as KC318
from tests.rules.build import found_by, log_dir, partition

NAME = "t-0.0123456789abcdef0123456789abcdef-stray"
ALONE = ReplicaInCluster("m", "T", PartitionRegistration((1,), (1,)), end=9, is_certain=True)


def stray(in_cluster: ReplicaInCluster | None = ALONE, **values: object) -> PartitionView:
    """Return a -stray directory of t-0 with data, on broker 1."""
    made = partition(name=NAME, state=DirectoryState.STRAY, log_end=30, topic_id="T")._replace(in_cluster=in_cluster)
    return made._replace(where=made.where._replace(broker_id=1), **values)


def found(view: PartitionView, *others: PartitionView) -> tuple[Finding, ...]:
    """Return what the rule finds with other directories in a second log dir."""
    return found_by(KC318, (log_dir(partitions=(view,)), log_dir(partitions=others, path="/data/d2")))


def test_no_other_broker_has_a_replica() -> None:
    """Its records are lost; with other replicas, or older metadata, that is not certain."""
    (finding,) = found(stray())
    assert (str(finding.severity), finding.where.dir) == ("error", NAME)
    assert "leads t-0 without any of these records, and no other broker has a replica." in finding.effect
    two = ALONE._replace(registration=PartitionRegistration((1, 2), (1, 2)))
    for in_cluster in (two, ALONE._replace(is_certain=False)):
        (unsure,) = found(stray(in_cluster))
        assert str(unsure.severity) == "warning"
    (unsure,) = found(stray(two))
    assert "begins with an empty t-0" in unsure.effect


def test_the_replica_was_made_again_empty() -> None:
    (finding,) = found(stray(), partition(segment_sizes=(0,)))
    assert "; t-0 is empty, and this directory holds 700 bytes" in finding.message


@pytest.mark.parametrize("view", [
    stray(None), stray(ALONE._replace(registration=None)), stray(topic_id=None), stray(size=0, segments=()),
    stray(ALONE._replace(registration=PartitionRegistration((2,), (2,)))), partition(),
])  # fmt: skip
def test_nothing_is_missing_on_this_broker(view: PartitionView) -> None:
    """No metadata, another topic or broker, or no records."""
    assert not found(view)


def test_the_current_directory_has_records() -> None:
    assert not found(stray(), partition())
