"""`kafka-storage format` of each release: what it was told is what inspect and cluster show."""

import json
from pathlib import Path

import pytest

from tests.cli.command import kcheck
from tests.oracle.ask import IS_WHOLE
from tests.oracle.starts.formatted import DIRECTORIES, WAYS, format_controller

pytestmark = pytest.mark.oracle

RELEASES = ("3.9.2", "4.0.2", "4.1.2", "4.2.1", "4.3.1") if IS_WHOLE else ("4.1.2",)
"""3.9.2 and 4.3.1 are recorded in fixtures/formatted."""


@pytest.mark.parametrize("version", RELEASES)
@pytest.mark.parametrize("way", WAYS if IS_WHOLE else ("initial-controllers",))
def test_what_a_formatted_directory_names(version: str, way: str, tmp_path: Path) -> None:
    log_dir = tmp_path / "data1"
    format_controller(version, log_dir, way, tmp_path / "server.properties")
    (own,) = json.loads(kcheck("inspect", log_dir, "--format", "json").out)["items"]
    if way == "no-initial-controllers":
        assert not (log_dir / "__cluster_metadata-0").exists()
        return
    quorum = json.loads(kcheck("cluster", log_dir, "--format", "json").out)["quorum"]
    expected = DIRECTORIES if way == "initial-controllers" else {1: own["directory_id"]}
    assert expected == {voter["voter_id"]: voter["directory_id"] for voter in quorum["voter_set"]}
