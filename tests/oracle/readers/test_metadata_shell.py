"""What kafka-metadata-shell shows of a log or a snapshot of cluster metadata, and `kcheck cluster` of the same file.

`KCHECK_SWEEP` takes more releases. The shell of 4.0 cannot list its own tree.
"""

import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from shutil import copy
from threading import Timer
from typing import Any

import pytest

import kcheck
from kcheck.core.releases.release_evidence import line_of_level
from tests.oracle import histories
from tests.oracle.ask import IS_WHOLE
from tests.oracle.conftest import no_kafka
from tests.oracle.jars import JVM, NoKafkaError, classpath
from tests.oracle.kafka import TIMEOUT, Cluster, wait_for
from tests.test_brokers import BROKERS

pytestmark = pytest.mark.oracle

METADATA = "__cluster_metadata-0"
FILES = {
    "4.3.1": ("coordinators/broker-1/data1/{}/00000000000000000000.log",
              "coordinators/broker-1/data1/{}/00000000000000000086-0000000001.checkpoint",
              *(("stopped/broker-3/data1/{}/00000000000000000000.log",) if IS_WHOLE else ())),
    "3.9.2": ("diverged/broker-2/data1/{}/00000000000000000000.log",) if IS_WHOLE else (),
}  # fmt: skip
WRITTEN = [(version, BROKERS / version / file.format(METADATA)) for version, files in FILES.items() for file in files]
FIELD = re.compile(r"(\w+)=(\[[^\]]*\]|[^,)]+)")
LISTENER = re.compile(r"Endpoint\(listenerName='(\w+)',.*?host='([^']+)', port=(\d+)\)")
OF_PARTITION = {
    "replicas": "replicas", "isr": "isr", "adding": "addingReplicas", "removing": "removingReplicas", "elr": "elr",
    "last_known_elr": "lastKnownElr", "directories": "directories", "leader": "leader", "leader_epoch": "leaderEpoch",
    "partition_epoch": "partitionEpoch",
}  # fmt: skip
OF_BROKER = {
    "broker_id": "id", "epoch": "epoch", "fenced": "fenced", "in_controlled_shutdown": "inControlledShutdown",
    "incarnation_id": "incarnationId", "log_dirs": "directories", "cordoned_log_dirs": "cordonedDirectories",
    "migrating": "isMigratingZkBroker",
}  # fmt: skip
"""The fields of a row, and the names of what the shell prints."""
OLD = "3.3.2"
"""Its shell has another tree."""
PROMPT = b">> "


@contextmanager
def _asking(version: str, file: Path) -> Iterator[Callable[[str], str]]:
    """Yield how to give the shell a command: with one of its command line it may answer before it has read the file."""
    try:
        jars = classpath(version, "kafka-shell")
    except NoKafkaError as error:
        no_kafka(f"Kafka {error}".partition("\n")[0])
    command = ["java", *JVM, "-cp", jars, "org.apache.kafka.shell.MetadataShell", "--snapshot", str(file)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as shell:
        stdin, stdout = shell.stdin, shell.stdout
        assert stdin is not None
        assert stdout is not None

        def answer() -> str:
            text = b""
            while not text.endswith(PROMPT):
                part = os.read(stdout.fileno(), 1 << 16)
                assert part, text
                text += part
            return text.removesuffix(PROMPT).decode().rstrip("\n")

        def ask(words: str) -> str:
            stdin.write(f"{words}\n".encode())
            stdin.flush()
            return answer()

        watch = Timer(TIMEOUT, shell.kill)
        watch.start()
        answer()
        yield ask
        watch.cancel()
        stdin.close()


def _shown(version: str, file: Path) -> dict[str, str]:
    """Return what the shell prints for each leaf of its tree, once it has read the file."""
    batches = kcheck.dump(file, as_kind="segment").to_dict()["files"][0]["batches"]
    last = max(batch["last_offset"] for batch in batches if not batch["control"])
    end, words = ("/metadataQuorum/offset", f"{last}") if version == OLD else ("/image/provenance", f"offset {last},")
    with _asking(version, file) as ask:
        wait_for("the end of the file", lambda: ask(f"cat {end}").startswith(words))
        paths = ask("find /" if version == OLD else "find /image").splitlines()
        leaves = [path for path in paths if not any(other.startswith(f"{path}/") for other in paths)]
        return {path: ask(f"cat {path}") for path in leaves if not path.startswith("/image/topics/byId/")}


def _below(shown: Mapping[str, str], folder: str) -> dict[str, str]:
    return {path.removeprefix(folder): line for path, line in shown.items() if path.startswith(folder)}


def _value(text: str | None) -> Any:
    """Return a value as JSON has it; None where the release does not print it."""
    if text is None:
        return None
    if text.startswith("["):
        return [_value(part) for part in text[1:-1].split(", ") if part]
    if text in ("true", "false"):
        return text == "true"
    return int(text) if re.fullmatch(r"-?\d+", text) else text


def _fields(line: str, names: Mapping[str, str], row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a row; what the release does not print is as in the row, if it is empty there."""
    printed = {name: _value(text) for name, text in FIELD.findall(line)}
    return {ours: printed.get(theirs, row[ours] or None) for ours, theirs in names.items()}


def _assert_agree(version: str, file: Path) -> None:
    said = kcheck.cluster(file).to_dict()
    assert said["metadata"]["complete"]
    shown = _shown(version, file)
    topics, brokers = (
        _below(shown, "/image/topics/byName/"),
        _below(shown, "/image/cluster/" if version == "3.6.2" else "/image/cluster/brokers/"),
    )
    rows = {f"{row['topic']}/{row['partition']}": row for row in said["partitions"]}
    assert rows
    assert rows.keys() == {path for path in topics if not path.endswith(("/id", "/name"))}
    for path, row in rows.items():
        theirs = _fields(topics[path], OF_PARTITION, row)
        assert {name: row[name] or None for name in OF_PARTITION} == {name: theirs[name] or None for name in theirs}
        assert row["recovering"] is ("leaderRecoveryState=RECOVERING" in topics[path])
        assert row["topic_id"] == topics[f"{row['topic']}/id"]
    assert {str(row["broker_id"]) for row in said["brokers"]} == brokers.keys()
    for row in said["brokers"]:
        line = brokers[str(row["broker_id"])]
        theirs = _fields(line, OF_BROKER, row)
        assert {name: row[name] or None for name in OF_BROKER} == {name: theirs[name] or None for name in theirs}
        assert row["endpoints"] == [f"{name}://{host}:{port}" for name, host, port in LISTENER.findall(line)]
    controllers = _below(shown, "/image/cluster/controllers/")
    assert {str(row["controller_id"]) for row in said["controllers"]} == controllers.keys() - {""}
    features = _below(shown, "/image/features/")
    level = said["features"]["metadata.version"]
    assert line_of_level(level) in features["metadataVersion"]
    others = {
        name: str(level)
        for name, level in said["features"].items()
        if name not in ("metadata.version", "kraft.version")
    }
    assert others == _below(features, "finalized_")
    next_id = shown.get("/image/producerIds/nextProducerId")
    assert next_id is None or int(next_id) == (said["next_producer_id"] or 0) or next_id == "-1"
    for config in said["configs"]:
        place = f"/image/configs/{config['kind'].upper()}" + (f":{config['name']}" if config["name"] else "")
        assert config["config"].items() <= _below(shown, f"{place}/").items()


@pytest.mark.sample(1)
@pytest.mark.parametrize(("version", "file"), WRITTEN)
def test_what_brokers_wrote(version: str, file: Path, tmp_path: Path) -> None:
    _assert_agree(version, Path(copy(file, tmp_path)))


def _assert_old_agree(file: Path) -> None:
    said, shown = kcheck.cluster(file).to_dict(), _shown(OLD, file)
    topics = _below(shown, "/topics/")
    rows = {f"{row['topic']}/{row['partition']}/data": row for row in said["partitions"]}
    assert rows
    assert rows.keys() == {path for path in topics if path.endswith("/data")}
    for path, row in rows.items():
        theirs = json.loads(topics[path])
        names = {ours: name for ours, name in OF_PARTITION.items() if name in theirs}
        assert {ours: row[ours] for ours in names} == {ours: theirs[name] for ours, name in names.items()}
        assert row["topic_id"] == topics[f"{row['topic']}/id"] == theirs["topicId"]
    brokers = {f"{row['broker_id']}/isFenced": json.dumps(row["fenced"]) for row in said["brokers"]}
    assert brokers.items() <= _below(shown, "/brokers/").items()
    assert brokers


@pytest.mark.whole
@pytest.mark.parametrize("version", [OLD, "3.6.2"])
def test_what_a_controller_writes(version: str, tmp_path: Path, start: Callable[..., Cluster]) -> None:
    with start(version, 2, dir=tmp_path / "c", broker_config=histories.config(version)) as cluster:
        histories.replicas(cluster, "create t 1:2,2:1 min.insync.replicas=2", "create gone 1", "delete gone")
        cluster[1].stop()
        cluster.stop()
        log = cluster.beside.log_dirs[0] / METADATA / "00000000000000000000.log"
        copied = Path(copy(log, tmp_path))
        if version == OLD:
            _assert_old_agree(copied)
        else:
            _assert_agree(version, copied)
