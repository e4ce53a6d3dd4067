"""Where the logs of real brokers differ inside compressed wrappers: kcheck says it as the decompressed records do."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from kcheck.core.releases.releases import release
from kcheck.model.report import PartitionFilter
from kcheck.replicas.leader_plans import Election
from kcheck.replicas.truncation import truncation
from tests.oracle.clusters.wrappers import COUNT, TOPICS, diverge_in_wrappers, first_difference
from tests.oracle.histories import CONFIG
from tests.oracle.kafka import Cluster

pytestmark = [pytest.mark.oracle, pytest.mark.whole]


@pytest.mark.parametrize(("version", "kafka"), [("0.10.2.2", "0.10.2"), ("1.1.1", "1.1")])
def test_silent_divergence_in_wrappers(version: str, kafka: str, tmp_path: Path, start: Callable[..., Cluster]) -> None:
    """24 pairs of logs a release, of gzip, snappy and lz4 in magic 0 and 1."""
    cluster = start(version, 2, dir=tmp_path / "cluster", mode="zk", broker_config=CONFIG)
    with cluster:
        diverge_in_wrappers(cluster)
    for number, broker in cluster.brokers.items():
        shutil.copytree(broker.log_dirs[0], tmp_path / str(number))
    answer = truncation(
        [f"{number}={tmp_path}/{number}" for number in cluster.brokers], Election(leader="2"),
        wanted=PartitionFilter(), release=release(kafka),
    )  # fmt: skip
    told, expected = {}, {}
    for plan in answer.plans:
        if plan.topic in TOPICS:
            name = f"{plan.topic}-{plan.partition}"
            (follower,) = plan.followers
            differs = first_difference(tmp_path / "1" / name, tmp_path / "2" / name)
            after = follower.log_end_offset_after
            told[name] = follower.diverges_silently_at
            expected[name] = differs if differs is not None and after is not None and differs < after else None
    assert expected == told
    assert COUNT * len(TOPICS) == len(told)
    assert sum(offset is not None for offset in told.values()) >= COUNT * len(TOPICS) // 2
