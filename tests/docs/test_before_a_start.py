"""Units and manifests of docs/operations/before-a-start.md are complete, and their commands run on real log dirs."""

import configparser
import re
import shutil
import subprocess
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.command import kcheck
from tests.docs.examples import ROOT
from tests.docs.incidents import FIRST, cut_tail

PAGE = (ROOT / "docs" / "operations" / "before-a-start.md").read_text("utf-8")
STRAYED = ROOT / "fixtures" / "clusters" / "4.3.1" / "strayed"
KCHECK, PROPERTIES = "/opt/kcheck/bin/kcheck", "/etc/kafka/server.properties"
PATH = re.compile(r"/brokers/(\d)/kafka-log\1$")
FOUND = {"preflight": 1, "elect": 1, "predict": 1, "check": 1, "cluster": 0}
"""The exit code of each command where every replica has lost its tail; the metadata of the cluster are not damaged."""

REQUIRED: dict[str, set[str]] = {
    "pod": {"apiVersion", "kind", "metadata", "spec"},
    "spec": {"containers"},
    "container": {"name", "image"},
    "mount": {"name", "mountPath"},
    "volume": {"name", "persistentVolumeClaim"},
    "claim": {"claimName"},
}
"""What the API server asks for."""
OPTIONAL: dict[str, set[str]] = {
    "pod": set(), "spec": {"restartPolicy", "volumes"}, "container": {"command", "volumeMounts"},
    "mount": {"readOnly"}, "volume": set(), "claim": {"readOnly"},
}  # fmt: skip
"""What else the page uses; the API server refuses a name that it does not know."""


class Strict(yaml.SafeLoader):  # type: ignore[misc]
    """Refuses a key that is there twice, as the API server does."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        """Return the mapping."""
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        assert len(keys) == len(set(keys)), keys
        found: dict[Hashable, Any] = super().construct_mapping(node, deep=deep)
        return found


def blocks(kind: str) -> list[str]:
    """Return the fenced blocks of a kind."""
    return re.findall(rf"^```{kind}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


(UNIT,) = blocks("ini")
DOCUMENTS: list[dict[str, Any]] = [document for text in blocks("yaml") for document in yaml.load_all(text, Strict)]
INITS = [row for document in DOCUMENTS for row in document.get("initContainers", ())]
(POD,) = (document for document in DOCUMENTS if "kind" in document)
CONTAINERS = [*INITS, *POD["spec"]["containers"]]


def unit() -> configparser.SectionProxy:
    """Return the section of the drop-in."""
    parser = configparser.ConfigParser(interpolation=None, strict=True)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(UNIT)
    assert parser.sections() == ["Service"]
    return parser["Service"]


COMMANDS = [
    unit()["ExecStartPre"].split(), *(row["command"] for row in CONTAINERS),
    *(document["command"] for document in DOCUMENTS if "command" in document),
]  # fmt: skip


@pytest.fixture(scope="module")
def brokers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return three brokers that were killed: the last batch of a partition is incomplete everywhere."""
    folder = tmp_path_factory.mktemp("brokers")
    shutil.copytree(STRAYED, folder, dirs_exist_ok=True)
    for data in folder.glob("broker-*/data1"):
        cut_tail(data / "orders-0" / FIRST, 20)
        (data / ".kafka_cleanshutdown").unlink()
    return folder


def run(words: list[str], folder: Path, tmp_path: Path, *more: str) -> tuple[int, str]:
    """Run a command of the page on the brokers in a folder; return its exit code and what it says on stderr."""
    properties = tmp_path / "server.properties"
    log_dirs = ",".join(map(str, sorted((folder / "broker-1").iterdir())))
    properties.write_text(f"process.roles=broker\nnode.id=1\nlog.dirs={log_dirs}\n", "utf-8")
    assert words[0] in {"kcheck", KCHECK}
    placed = [PATH.sub(rf"{folder}/broker-\1", word) for word in words[1:]]
    done = kcheck(*(str(properties) if word == PROPERTIES else word for word in placed), *more)
    return done.code, done.err


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_command_finds_nothing(words: list[str], tmp_path: Path) -> None:
    """Brokers that stopped cleanly lose nothing."""
    stopped = ROOT / "fixtures" / "brokers" / "4.3.1" / "stopped"
    assert run(words, stopped, tmp_path) == (0, "")


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_command_finds_damage(words: list[str], brokers: Path, tmp_path: Path) -> None:
    """So systemd does not start the broker, and the init container fails."""
    assert run(words, brokers, tmp_path) == (FOUND[words[1]], "")


def test_a_loss_is_allowed(brokers: Path, tmp_path: Path) -> None:
    """The page says how to start all the same; the broker leaves the ELR too, because it was killed."""
    assert "such as `--allow loss`" in PAGE
    words = unit()["ExecStartPre"].split()
    assert run(words, brokers, tmp_path, "--allow", "loss", "--allow", "elr") == (0, "")


def test_every_kind_of_command_is_there() -> None:
    """Two that guard a start, and four that look."""
    assert ["preflight", "preflight", "elect", "predict", "cluster", "check"] == [words[1] for words in COMMANDS]


def test_the_drop_in(tmp_path: Path) -> None:
    """Its keys are those that systemd knows; systemd-analyze says so where it is installed."""
    assert [*unit()] == ["ExecStartPre", "TimeoutStartSec"]
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        return
    service = tmp_path / "kafka.service"
    service.write_text("[Service]\nExecStart=/bin/true\n")
    (tmp_path / "kafka.service.d").mkdir()
    (tmp_path / "kafka.service.d" / "preflight.conf").write_text(UNIT.replace(KCHECK, "/bin/true"))
    done = subprocess.run([analyze, "verify", "--man=no", service], capture_output=True, text=True, check=False)
    assert (done.returncode, [line for line in done.stderr.splitlines() if str(tmp_path) in line]) == (0, [])


def fits(kind: str, value: dict[str, Any]) -> None:
    """Assert that an object has the fields that the API server asks for, and no other but those in OPTIONAL."""
    assert REQUIRED[kind] <= value.keys() <= REQUIRED[kind] | OPTIONAL[kind], (kind, value)


def test_what_the_api_server_asks_for() -> None:
    """In the pod, its containers and its volumes, and in the init container."""
    fits("pod", POD)
    fits("spec", POD["spec"])
    assert (POD["apiVersion"], POD["kind"], POD["spec"]["restartPolicy"]) == ("v1", "Pod", "Never")
    assert re.fullmatch(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?", POD["metadata"]["name"])
    for volume in POD["spec"]["volumes"]:
        fits("volume", volume)
        fits("claim", volume["persistentVolumeClaim"])
    for container in CONTAINERS:
        fits("container", container)
        assert all(isinstance(word, str) for word in container["command"])
        for mount in container["volumeMounts"]:
            fits("mount", mount)
    assert [*DOCUMENTS[0]] == ["initContainers"]


def test_what_a_pod_reads_is_mounted_read_only() -> None:
    """Each path of a command is below a mount; each mount and each claim is read-only; each mount has its volume."""
    for container in CONTAINERS:
        assert {mount["readOnly"] for mount in container["volumeMounts"]} == {True}
    assert {volume["persistentVolumeClaim"]["readOnly"] for volume in POD["spec"]["volumes"]} == {True}
    (pod,) = POD["spec"]["containers"]
    assert [mount["name"] for mount in pod["volumeMounts"]] == [volume["name"] for volume in POD["spec"]["volumes"]]
    mounts = [mount["mountPath"] for container in CONTAINERS for mount in container["volumeMounts"]]
    for words in COMMANDS[1:]:
        paths = [word.partition("=")[2] or word for word in words if "/" in word]
        assert all(any(path.startswith(f"{mount}/") for mount in mounts) for path in paths)
        assert paths
