"""The transactions that are open at an offset of a log, against those of a broker whose log ends there.

`KCHECK_SWEEP` takes more releases.
"""

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from kcheck.model.entries import Offset
from kcheck.replicas.loss import batches_of
from kcheck.replicas.lost_transactions import open_transactions
from tests.oracle.ask import IS_WHOLE, SEED
from tests.oracle.histories import create
from tests.oracle.jars import run_java
from tests.oracle.kafka import Cluster
from tests.replicas.test_group_offsets import log_files

pytestmark = pytest.mark.oracle

JAVA = Path(__file__).parents[1] / "java"
VERSIONS = ("4.3.1", "3.9.2", "3.0.2") if IS_WHOLE else ("4.3.1",)


@pytest.mark.whole
@pytest.mark.parametrize("version", VERSIONS)
def test_a_log_that_ends_earlier_and_earlier(version: str, tmp_path: Path, start: Callable[..., Cluster]) -> None:
    """Transactions of four producers are interleaved; then the log is cut, so that those are open that had ended."""
    with start(version, 1, dir=tmp_path / "cluster") as cluster:
        create(cluster, "t", "1")
        run_java(version, JAVA / "Interleave.java", cluster.bootstrap, "t", SEED, "150")
        folder = cluster[1].log_dirs[0] / "t-0"
        counts = []
        for _ in range(3):
            cluster[1].kill()
            batches = [*batches_of(log_files(folder))]
            at = Random(SEED).choice(batches[len(batches) // 2 :])
            with (folder / f"{0:020}.log").open("r+b") as file:
                file.truncate(at.position)
            for snapshot in folder.glob("*.snapshot"):
                snapshot.unlink()
            still_open = open_transactions(log_files(folder), Offset(at.base_offset))
            cluster.start()
            told = run_java(version, JAVA / "OpenTransactions.java", cluster.bootstrap, "t").splitlines()
            assert still_open is not None
            assert sorted(told) == sorted(
                f"{row.first_offset} {row.producer_id} {row.producer_epoch}" for row in still_open
            )
            counts.append(len(told))
    assert sum(counts) > 2, counts
