"""The commands of Kafka's tools, as the release and the cluster take them."""

import pytest

from kcheck.core.releases.releases import release
from kcheck.handouts import tool_commands
from kcheck.model.cluster import ClusterImage
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
