"""Log dirs that kafka-storage has formatted and no node has started (fixtures/formatted)."""

import json
from pathlib import Path
from typing import Any

import pytest

from kcheck.core.releases.release_evidence import line_of
from tests.cli.command import kcheck
from tests.oracle.starts.formatted import CLUSTER_ID, DIRECTORIES, WAYS

FORMATTED = Path(__file__).parents[2] / "fixtures" / "formatted"
RELEASES = sorted(path.name for path in FORMATTED.iterdir())
SNAPSHOT = f"__cluster_metadata-0/{0:020d}-{0:010d}.checkpoint"
LEVELS = {"3.9.2": 21, "4.3.1": 30}


def said(verb: str, path: Path) -> Any:
    return json.loads(kcheck(verb, path, "--format", "json").out)


def inspected(path: Path) -> Any:
    (item,) = said("inspect", path)["items"]
    return item


@pytest.mark.parametrize("version", RELEASES)
@pytest.mark.parametrize("way", WAYS)
def test_the_release_and_the_features(version: str, way: str) -> None:
    log_dir = FORMATTED / version / way / "data1"
    bootstrap = inspected(log_dir / "bootstrap.checkpoint")
    assert line_of(version) == said("inspect", log_dir)["kafka_evidence"]["lowest"]
    assert LEVELS[version] == bootstrap["features"]["metadata.version"]
    assert (1, None, [], {}) == tuple(
        bootstrap[name] for name in ("batches", "kraft_version", "voters", "broker_reads")
    )
    assert (log_dir / SNAPSHOT).exists() == (way != "no-initial-controllers")


@pytest.mark.parametrize("version", RELEASES)
@pytest.mark.parametrize("way", ["standalone", "initial-controllers"])
def test_the_first_voters(version: str, way: str) -> None:
    """With the log dirs and listeners that kafka-storage was given."""
    log_dir = FORMATTED / version / way / "data1"
    directories = DIRECTORIES if way == "initial-controllers" else {1: inspected(log_dir)["directory_id"]}
    voters = [
        {"voter_id": number, "directory_id": directory, "endpoints": [f"CONTROLLER://127.0.0.1:1909{number}"]}
        for number, directory in directories.items()
    ]
    snapshot, cluster = inspected(log_dir / SNAPSHOT), said("cluster", log_dir)
    assert (0, {}, 1, voters) == tuple(snapshot[name] for name in ("batches", "features", "kraft_version", "voters"))
    assert (CLUSTER_ID, [*directories], voters) == (
        cluster["cluster_id"], cluster["quorum"]["voters"], cluster["quorum"]["voter_set"],
    )  # fmt: skip
    shown = f"CONTROLLER://127.0.0.1:19091 · directory {directories[1]}"
    assert f"voter 1: {shown}" in kcheck("cluster", log_dir).out
    assert directories[1] in kcheck("inspect", log_dir / SNAPSHOT).out
