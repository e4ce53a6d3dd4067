"""The committed offsets in logs of `__consumer_offsets` against those that a coordinator answers after it loaded them.

`KCHECK_SWEEP` takes more releases.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from kcheck.replicas.group_offsets import committed_offsets
from tests.oracle.ask import SEED
from tests.oracle.histories import create
from tests.oracle.jars import run_java
from tests.oracle.kafka import Cluster
from tests.replicas.test_group_offsets import log_files

pytestmark = pytest.mark.oracle

GROUP_OFFSETS = Path(__file__).parents[1] / "java" / "GroupOffsets.java"
VERSIONS = ("4.3.1", "2.8.2", "0.10.2.2", "3.9.2", "1.1.1", "0.11.0.3")


@pytest.mark.whole
@pytest.mark.parametrize("version", VERSIONS)
def test_offsets_that_a_coordinator_loads(version: str, tmp_path: Path, start: Callable[..., Cluster]) -> None:
    """Commits, deletions and transactions, some of them open, in a random order."""
    # An open transaction must not end while the coordinator restarts.
    config = {"transaction.abort.timed.out.transaction.cleanup.interval.ms": 600_000}
    with start(version, 1, dir=tmp_path / "cluster", broker_config=config) as cluster:
        create(cluster, "t", "1,1,1")
        run_java(version, GROUP_OFFSETS, cluster.bootstrap, "write", SEED)
        cluster.stop()
        (folder,) = cluster[1].log_dirs[0].glob("__consumer_offsets-*")
        answer = committed_offsets([log_files(folder)])
        cluster.start()
        told = run_java(version, GROUP_OFFSETS, cluster.bootstrap, "ask").splitlines()
    assert answer.is_complete
    rows = [row for of_one in answer.by_partition.values() for row in of_one]
    assert sorted(told) == sorted(f"{row.group} {row.partition} {row.offset}" for row in rows)
    assert len(told) > 5
