"""Where a log starts by the configuration of its topic, though its files say something else."""

from collections.abc import Callable
from pathlib import Path

import pytest

import kcheck
from tests.builders import offsets
from tests.oracle import histories
from tests.oracle.kafka import Cluster

pytestmark = pytest.mark.oracle

FROM_SEGMENT, FROM_RECORDS = "0\n1\n0 30\n", "0\n1\n0 0\n"


@pytest.mark.whole
@pytest.mark.parametrize("version", ["3.9.2", "4.3.1"])
def test_log_starts(version: str, tmp_path: Path, start: Callable[..., Cluster]) -> None:
    """The epochs of `tiered` begin at its first segment, those of `plain` below it: only the metadata tell."""
    config = histories.config(version) | histories.tiered_storage(version, tmp_path / "remote")
    with start(version, 1, dir=tmp_path / "c", broker_config=config) as cluster:
        broker = cluster[1]
        histories.tiered(cluster)
        broker.stop()
        (log_dir,) = broker.log_dirs
        for topic, epochs in (("tiered", FROM_SEGMENT), ("whole", FROM_SEGMENT), ("plain", FROM_RECORDS)):
            (log_dir / f"{topic}-0" / "leader-epoch-checkpoint").write_text(epochs)
        starts = {"tiered-0": 15, "whole-0": 0, "plain-0": 5}
        (log_dir / "log-start-offset-checkpoint").write_bytes(offsets(starts))
        (row,) = kcheck.predict(log_dir, kafka=version.rpartition(".")[0]).to_dict()["log_dirs"]
        expected = {each["dir"]: each["log_start_offset"] for each in row["partitions"] if each["dir"] in starts}
        assert expected == {"tiered-0": 15, "whole-0": 0, "plain-0": 30}
        broker.start()
        loaded = histories.log_starts(broker)
        assert {name: loaded[name][0] for name in starts} == expected
