"""A log dir by two paths, as Kafka's own class and preflight judge it."""

import shutil
from pathlib import Path

import pytest

import kcheck
from tests.oracle.ask import IS_WHOLE, Ask
from tests.oracle.scenes import FIXTURES

pytestmark = pytest.mark.oracle

VERSIONS = ("4.3.1", *(("3.7.2", "3.9.2", "4.0.2") if IS_WHOLE else ()))
PATHS = ("{0}", "{0}/", "{0}/../data1", "{0}/./", "{1}")


@pytest.mark.parametrize("version", VERSIONS)
def test_metadata_log_dir_by_another_path(ask: Ask, tmp_path: Path, version: str) -> None:
    """The same text is one log dir; any other one finds the directory id of the first again."""
    folder = tmp_path / "node"
    shutil.copytree(FIXTURES / "brokers" / "4.3.1" / "snapshot" / "broker-1", folder)
    (folder / "link").symlink_to("data1")
    paths = [path.format(folder / "data1", folder / "link") for path in PATHS]
    answers = ask(version, "LogDirIds.java", [f"{folder}/data1 {path}" for path in paths])
    settings, found = folder / "server.properties", []
    for path in paths:
        text = f"process.roles=broker,controller\nnode.id=1\nlog.dirs={folder}/data1\nmetadata.log.dir={path}\n"
        settings.write_text(text)
        reasons = kcheck.preflight(str(settings), kafka=version).reasons
        found.append([row.why for row in reasons if (row.why or "").startswith("metadata.log.dir: ")])
    assert [answer == "ok" for answer in answers] == [why == [] for why in found]
    words = f" is the log dir of an earlier entry; Kafka {version} refuses that"
    assert [[], *([f"metadata.log.dir: {path}{words}"] for path in paths[1:])] == found
