"""What a real broker with remote storage does where leader-epoch-checkpoint lacks the epochs of remote segments."""

import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from kcheck.model.names import LEADER_EPOCHS, LOG_START
from tests.cli.command import kcheck
from tests.oracle import histories
from tests.oracle.ask import IS_WHOLE
from tests.oracle.kafka import Cluster, wait_for

pytestmark = pytest.mark.oracle

TOPICS = {"emptied": "0\n0\n", "cut": "0\n1\n2 30\n", "whole": None}
"""The damaged file of each topic."""


@pytest.mark.whole
@pytest.mark.parametrize("version", ("4.3.1", "3.9.2") if IS_WHOLE else ("4.3.1",))
def test_kafka_deletes_the_remote_segments_that_kc240_names(
    version: str, tmp_path: Path, start: Callable[..., Cluster]
) -> None:
    """Six segments of ten records, in two epochs. A name in the index cache that no broker wrote ends the start."""
    config = histories.config(version) | histories.tiered_storage(version, tmp_path / "remote")
    remote = {"remote_storage_enable": "true", "local_retention_bytes": 1, "segment_ms": 300, "retention_ms": -1}
    with start(version, 1, dir=tmp_path / "cluster", broker_config=config) as cluster:
        broker = cluster[1]
        (log_dir,) = broker.log_dirs
        for topic in TOPICS:
            histories.create(cluster, topic, "1", **remote)
        for first in range(0, 60, 10):
            if first == 30:
                broker.stop()
                broker.start()
            histories.load(cluster, *(f"send {topic} 0 {first} 10 none" for topic in TOPICS))
            time.sleep(0.6)
        wait_for("removal", lambda: all(len(list((log_dir / f"{topic}-0").glob("*.log"))) == 1 for topic in TOPICS))
        broker.stop()
        for topic, data in TOPICS.items():
            if data is not None:
                (log_dir / f"{topic}-0" / LEADER_EPOCHS).write_text(data)
        found = json.loads(kcheck("check", log_dir, "--kafka", version, "--format", "json").out)["findings"]
        lost = {row["topic"]: row["data"]["lost_to"] for row in found if row["id"] == "KC240"}
        broker.start()
        wait_for("deletion", lambda: broker.log_since_start().count("due to leader-epoch-cache truncation") == 8)
        broker.stop()
        starts = {
            words[0]: int(words[2]) for words in map(str.split, (log_dir / LOG_START).read_text().splitlines()[2:])
        }
        assert {"emptied": 50, "cut": 30} == lost
        assert {"whole": 0, **lost} == {topic: starts[topic] for topic in TOPICS}
        cache = log_dir / "remote-log-index-cache"
        (cache / ".nfs01").touch()
        with pytest.raises(RuntimeError, match="died"):
            broker.start()
        assert "expected 16 bytes of a base64-encoded UUID" in broker.log_since_start()
        shutil.rmtree(cache)
        broker.start()
