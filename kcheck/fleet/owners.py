"""The owners of topics in a run."""

from collections.abc import Mapping
from typing import Any

from kcheck.fleet.run import FleetRun

TopicOwners = Mapping[tuple[str | None, str | None], str]
"""The owner by cluster and topic."""


def owners_of(run: FleetRun) -> TopicOwners:
    """Return the owners of the topics of a run; none if the scan had no file of owners."""
    rows = run.values("owners", ("cluster", "topic", "owner"))
    return {(cluster, topic): owner for cluster, topic, owner in rows}


def with_owner(row: Mapping[str, Any], owners: TopicOwners) -> dict[str, Any]:
    """Return a row about a topic with its owner, None without one."""
    return {**row, "owner": owners.get((row["cluster"], row["topic"]))}
