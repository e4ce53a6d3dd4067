"""What is wrong with a partition by the metadata."""

from typing import Any

import pytest

from kcheck.core.cluster.health import health, is_stopped, min_isr, offline_replicas
from kcheck.model.cluster import (
    MIGRATING_DIRECTORY,
    UNASSIGNED_DIRECTORY,
    BrokerRegistration,
    ClusterImage,
    PartitionRegistration,
    TopicImage,
)

HEALTHY = PartitionRegistration(replicas=(1, 2), isr=(1, 2), leader=1, directories=("A", "B"))
BROKERS = {
    number: BrokerRegistration(number, 1, fenced=False, log_dirs=dirs) for number, dirs in ((1, ("A",)), (2, ()))
}
TOPIC = TopicImage("t", None, {})


def image(least: str | None = None, **brokers: Any) -> ClusterImage:
    """Return a cluster with two brokers and a setting for min.insync.replicas."""
    configs = {} if least is None else {("topic", "t"): {"min.insync.replicas": least}}
    return ClusterImage({}, brokers=BROKERS, configs=configs, **brokers)


@pytest.mark.parametrize(
    ("changed", "least", "expected"),
    [
        ({}, None, ()),
        ({}, "2", ()),
        ({"isr": (1,)}, None, ("under-replicated",)),
        ({"isr": (1,)}, "2", ("under-min-isr", "under-replicated")),
        ({"leader": -1, "isr": (1,)}, "2", ("leaderless", "under-replicated")),
        ({"leader": -1, "isr": (), "elr": (2,)}, None, ("leaderless", "elr-only", "under-replicated")),
        ({"leader": -1, "isr": (), "last_known_elr": (2,)}, None, ("offline", "under-replicated")),
        ({"recovering": True}, None, ("recovering",)),
        ({"adding": (2,)}, None, ("reassigning",)),
        ({"removing": (2,)}, None, ("reassigning",)),
        ({"directories": ("X", "Y")}, None, ("log-dir-offline",)),
    ],
)
def test_what_is_wrong(changed: dict[str, Any], least: str | None, expected: tuple[str, ...]) -> None:
    assert expected == health(image(least), TOPIC, HEALTHY._replace(**changed))


@pytest.mark.parametrize(("stated", "least"), [(None, 1), ("1", 1), ("5", 2), ("x", 1)])
def test_no_more_replicas_are_needed_than_there_are(stated: str | None, least: int) -> None:
    assert least == min_isr(image(stated), TOPIC, HEALTHY)


def test_a_log_dir_is_offline_if_its_broker_did_not_register_it() -> None:
    """A broker that registers none, and replicas whose directory is not tracked yet, count as online."""
    assert [*offline_replicas(image(), HEALTHY)] == []
    assert [*offline_replicas(image(), HEALTHY._replace(directories=("C", "C")))] == [1]
    for reserved in (MIGRATING_DIRECTORY, UNASSIGNED_DIRECTORY):
        assert [*offline_replicas(image(), HEALTHY._replace(directories=(reserved, "C")))] == []
    assert [*offline_replicas(image(), PartitionRegistration((9,), (9,), directories=("C",)))] == []


def test_a_cluster_is_stopped_if_no_broker_is_active() -> None:
    assert not is_stopped(image())
    fenced, leaving = BROKERS[1]._replace(fenced=True), BROKERS[2]._replace(in_controlled_shutdown=True)
    assert is_stopped(ClusterImage({}, brokers={1: fenced, 2: leaving}))
