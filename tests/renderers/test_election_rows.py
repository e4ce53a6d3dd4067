"""What comes before the verdict of `kcheck elect`."""

from dataclasses import replace

import pytest

from kcheck.core.election.start_order import StartOrder
from kcheck.core.releases.releases import release
from kcheck.model.cluster import UNCLEAN, BrokerRegistration, ClusterImage
from kcheck.renderers._election_rows import warnings
from kcheck.replicas.elect import ClusterElection, ElectionQuestion

IMAGE = ClusterImage(
    topics={},
    brokers={number: BrokerRegistration(number, None, fenced=False) for number in (1, 2, 3)},
    configs={("broker", str(number)): {UNCLEAN: "true"} for number in (2, 3)},
)
"""The metadata of a cluster with ZooKeeper: two brokers elect otherwise than the first."""
ELECTION = ClusterElection(
    release=release("3.4"),
    kraft=False,
    image=IMAGE,
    brokers=(1, 2, 3),
    question=ElectionQuestion(),
    starts={},
    fenced=(),
    verdict="",
    gaps=(),
    order=StartOrder((), is_proven=True),
    scenarios=(),
    partitions=(),
    copies=lambda *_: (),
    collected=[],
    checked=(),
    arguments=(),
)


@pytest.mark.parametrize(("assumed", "whose"), [(1, "node 1"), (None, "the cluster's default")])
def test_controllers_that_are_configured_otherwise_are_named(assumed: int | None, whose: str) -> None:
    """An operator then looks which one is active."""
    election = replace(ELECTION, image=IMAGE._replace(controller=assumed))
    text = f"nodes 2,3 are configured otherwise than {whose}, which kcheck assumes."
    assert [*warnings(election)] == [f"Whether unclean elections are on depends on the active controller: {text}"]
    assert [*warnings(replace(election, image=IMAGE._replace(configs={})))] == []
    assert [*warnings(replace(election, image=None))] == []
