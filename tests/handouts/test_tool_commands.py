"""The commands of Kafka's tools, as the release and the cluster take them."""

import pytest

from kcheck.core.releases.releases import release
from kcheck.handouts import tool_commands
from kcheck.model.cluster import BrokerRegistration, ClusterImage
from tests.core.election.test_recovery_plan import recovery
from tests.core.premises.test_premises import image


@pytest.mark.parametrize(
    ("kafka", "metadata", "option", "ends"),
    [
        ("4.3", None, "--execute", "--execute"),
        ("4.3", image(1, 2), "--execute", "--execute"),
        ("4.3", image(1, 2, adding=(2,)), "--execute", "--execute --additional"),
        ("4.3", image(1, 2, removing=(2,)), "--verify", "--verify"),
        ("2.5", image(1, 2, removing=(2,)), "--execute", "--execute"),
    ],
)
def test_a_reassignment_beside_others(kafka: str, metadata: ClusterImage | None, option: str, ends: str) -> None:
    """The tool executes nothing while others are under way, unless it is told to."""
    plan = recovery(release=release(kafka), image=metadata)
    command = tool_commands.reassign(plan, "reassignment.json", option)
    assert command.partition("reassignment-json-file ")[2] == f"out/reassignment.json {ends}"


@pytest.mark.parametrize(
    ("listener", "typed"),
    [
        ("PLAINTEXT://xxxxxxxxx:38273", "HOST:38273"),
        ("PLAINTEXT://kafka-xx:9092", "kafka-xx:9092"),
        ("PLAINTEXT://xx.example:9092", "xx.example:9092"),
    ],
)
def test_a_host_that_a_bundle_masks_is_a_placeholder(listener: str, typed: str) -> None:
    """The port is known."""
    brokers = {1: BrokerRegistration(1, 7, fenced=False, endpoints=(listener,))}
    assert tool_commands.address(recovery(image=image(1, 2)._replace(brokers=brokers)), (1,), {}) == typed


def test_an_address_in_settings_is_better_than_none() -> None:
    """ZooKeeper forgets the listeners of brokers that stopped. The address of another broker leads elsewhere."""
    stopped = recovery(image=None)
    own = {1: "xxxx:9093", 2: "kafka-2:9092"}
    assert [tool_commands.address(stopped, (number,), own) for number in (1, 2, 3)] == [
        "HOST:9093", "kafka-2:9092", "localhost:9092",
    ]  # fmt: skip
