"""Real clusters whose preferred replicas get the lead back, once the plan of elect has moved directories aside."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.oracle.clusters import preferred
from tests.oracle.clusters.diverged import values
from tests.oracle.kafka import Cluster
from tests.oracle.scenes import FIXTURES, unpacked

pytestmark = pytest.mark.oracle

MOVED = ("head", "hole")
"""The topics whose directories the plan moves aside on broker 1."""


@pytest.mark.whole
@pytest.mark.parametrize("version", preferred.MODES)
def test_the_plan_keeps_what_the_preferred_replica_lacks(
    version: str, tmp_path: Path, start: Callable[..., Cluster]
) -> None:
    """Broker 1 leads in the end as without the plan; it has all that broker 2 had where it fetched anew."""
    kept, mode = unpacked(f"clusters/{version}/preferred", tmp_path / "kept"), preferred.MODES[version]
    settings = preferred.config(version, balances=True)
    cluster = start(version, 3, dir=tmp_path / "moved", mode=mode, broker_config=settings, begins_with=kept)
    for topic in MOVED:
        (cluster[1].log_dirs[0] / f"{topic}-0").rename(tmp_path / topic)
    try:
        played = preferred.play(cluster)
    finally:
        cluster.kill()
    without: preferred.Outcomes = json.loads((FIXTURES / "clusters" / version / "preferred.json").read_text("utf-8"))
    assert {topic: row["leaders"] for topic, row in played.items()} == {
        topic: row["leaders"] for topic, row in without.items()
    }
    for topic in MOVED:
        whole = values(kept / "broker-2" / "data1" / f"{topic}-0")
        assert [*played[topic]["logs"].values()] == [whole] * 3
