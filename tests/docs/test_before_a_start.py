"""The commands in the units and manifests of docs/operations/before-a-start.md run, on the log dirs of real brokers."""

import json
import re
from pathlib import Path

import pytest

from tests.cli.command import kcheck
from tests.docs.examples import ROOT

PAGE = (ROOT / "docs" / "operations" / "before-a-start.md").read_text("utf-8")
BROKERS = ROOT / "fixtures" / "brokers" / "4.3.1" / "stopped"
UNITS = [line.split() for line in re.findall(r"^ExecStartPre=/opt/kcheck/bin/(.+)$", PAGE, re.MULTILINE)]
MANIFESTS = [json.loads(words) for words in re.findall(r"command: (\[.+\])$", PAGE, re.MULTILINE)]
PATH = re.compile(r"/brokers/(\d)/kafka-log\1$")


@pytest.mark.parametrize("words", [*UNITS, *MANIFESTS], ids=" ".join)
def test_a_command_runs(words: list[str], tmp_path: Path) -> None:
    """With the paths of fixtures: brokers that stopped cleanly lose nothing."""
    properties = tmp_path / "server.properties"
    properties.write_text(f"process.roles=broker\nnode.id=2\nlog.dirs={BROKERS}/broker-2/data1\n", "utf-8")
    placed = [PATH.sub(rf"{BROKERS}/broker-\1", word) for word in words]
    done = kcheck(*(str(properties) if word == "/etc/kafka/server.properties" else word for word in placed[1:]))
    assert (placed[0], done.code, done.err) == ("kcheck", 0, "")


def test_every_kind_of_command_is_there() -> None:
    assert ["preflight"] == [words[1] for words in UNITS]
    assert ["preflight", "elect", "predict", "cluster", "check"] == [words[1] for words in MANIFESTS]


def test_what_a_pod_reads_is_mounted_read_only() -> None:
    """Each path of its command is below a mount, and each mount is read-only."""
    mounts = re.findall(r"mountPath: (\S+?), readOnly: true\}", PAGE)
    assert len(mounts) == PAGE.count("mountPath")
    for words in MANIFESTS:
        paths = [word.partition("=")[2] or word for word in words if "/" in word]
        assert all(any(path.startswith(f"{mount}/") for mount in mounts) for path in paths)
        assert paths
    volumes = re.findall(r"\{name: (\S+), persistentVolumeClaim: \{claimName: \S+, readOnly: true\}\}", PAGE)
    assert volumes == re.findall(r"\{name: (broker-\d), mountPath", PAGE)
