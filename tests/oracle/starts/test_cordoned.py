"""A broker of 4.3 with a cordoned log dir: what it registered is what inspect shows."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.command import kcheck
from tests.oracle import histories
from tests.oracle.kafka import Cluster

pytestmark = pytest.mark.oracle


@pytest.mark.whole
def test_a_cordoned_log_dir(tmp_path: Path, start: Callable[..., Cluster]) -> None:
    """By the registration in the metadata, and by server.properties before the broker has started with it."""
    with start("4.3.1", dir=tmp_path / "cluster", log_dirs=2, broker_config=histories.config("4.3.1")) as cluster:
        broker = cluster[1]
        broker.stop()
        config = broker.dir / "server.properties"
        config.write_text(f"{config.read_text()}\ncordoned.log.dirs={broker.log_dirs[1]}\n")
        assert [False, False] == _cordoned(*broker.log_dirs)
        assert [False, True] == _cordoned(config)
        broker.start()
        broker.stop()
        assert [False, True] == _cordoned(*broker.log_dirs)
        log = broker.log_dirs[0] / "__cluster_metadata-0" / f"{0:020d}.log"
        dumped = json.loads(kcheck("dump", log, "--decode", "metadata", "--format", "json").out)
    registered = [row["cordonedLogDirs"] for row in _messages(dumped) if row.get("cordonedLogDirs")]
    (item,) = json.loads(kcheck("inspect", broker.log_dirs[1], "--format", "json").out)["items"]
    assert registered
    assert all(ids == [item["directory_id"]] for ids in registered)


def _cordoned(*paths: Path) -> list[bool | None]:
    items = json.loads(kcheck("inspect", *paths, "--format", "json").out)["items"]
    return [item["cordoned"] for item in items]


def _messages(value: object) -> list[dict[str, list[str]]]:
    """Return every object in a document that could be a registration."""
    if isinstance(value, dict):
        inner = [message for part in value.values() for message in _messages(part)]
        return [*inner, value] if "cordonedLogDirs" in value else inner
    return [message for part in value for message in _messages(part)] if isinstance(value, list) else []
