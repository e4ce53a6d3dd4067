"""A cluster whose every name was chosen by an attacker, and what harms where a name goes raw.

The names stand in directories, metadata, settings, logs, groups, transactions, a store and a history.
"""

import csv
import io
import json
import re
import subprocess
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import duckdb
from prometheus_client.parser import text_string_to_metric_families

from kcheck.schemas.encode import encode, metadata_record, remote_log_record
from kcheck.schemas.schema import parse_table
from kcheck.schemas.transactions import TABLE
from tests.builders import batch_of, log_dir, partition_dir, partition_metadata, record, run, write
from tests.views.test_rebuilt_records import manifest
from tests.zookeeper_bytes import node, snapshot

RAW = "\x1b]0;own\x07\x1b[2J\u202e\u2066\x9b31m\u2028<pwn onpwn=1>'\"`pwned`$(pwned);pwned|pwned&&pwned \\{pwned}"
NAME = f"H\r\nPWN{RAW}[pwn](x)*_#-->]]>\n```sh\npwned\n```\nz"
"""A name of a directory: ends of lines, quotes, tags and fences of each language; all but a slash."""
LONG = f"{NAME}</script></style><pwn>/{'x' * 20_000}"
"""A name that is in no path: a host, a group, the value of a setting."""
TOPIC_ID = "MkU3OEVBNTcwNTJENDM2Qg"
_ENDPOINT = {"name": NAME, "host": LONG, "port": 9092, "securityProtocol": 0}
_FEATURE = {"minSupportedVersion": 1, "maxSupportedVersion": 30}
_FEATURES = [{"name": LONG, **_FEATURE}, {"name": "metadata.version", **_FEATURE}]
_ACL = {"id": TOPIC_ID, "resourceType": 2, "resourceName": LONG, "patternType": 3, "principal": LONG, "host": LONG,
        "operation": 3, "permissionType": 3}  # fmt: skip
_SEGMENT = {"topicIdPartition": {"name": NAME, "id": TOPIC_ID, "partition": 0}, "id": TOPIC_ID}
_STORED = {"remoteLogSegmentId": _SEGMENT, "startOffset": 0, "endOffset": 9, "brokerId": 1, "maxTimestampMs": 1,
           "eventTimestampMs": 1, "segmentLeaderEpochs": [{"leaderEpoch": 0, "offset": 0}],
           "segmentSizeInBytes": 100, "customMetadata": None, "remoteLogSegmentState": 1}  # fmt: skip
_LOST = f"N{TOPIC_ID[1:]}"
"""The id of a segment without metadata."""


def metadata() -> bytes:
    """Return the log of a controller: three brokers, one of them gone, and NAME with replicas on all of them."""
    partition = {"partitionId": 0, "topicId": TOPIC_ID, "replicas": [1, 2, 3], "isr": [3], "leader": 3,
                 "removingReplicas": [], "addingReplicas": [], "leaderEpoch": 5, "partitionEpoch": 7}  # fmt: skip
    broker = {"incarnationId": TOPIC_ID, "brokerEpoch": 7, "endPoints": [_ENDPOINT], "features": _FEATURES,
              "rack": LONG, "fenced": False}  # fmt: skip
    controller = {"controllerId": 100, "incarnationId": TOPIC_ID, "zkMigrationReady": False, "endPoints": [_ENDPOINT],
                  "features": _FEATURES}  # fmt: skip
    settings = [(2, NAME, LONG, LONG), (2, NAME, "remote.storage.enable", "true"), (4, "1", NAME, LONG)]
    records = [
        ("FeatureLevelRecord", {"name": "metadata.version", "featureLevel": 20}),
        ("FeatureLevelRecord", {"name": LONG, "featureLevel": 1}),
        ("RegisterControllerRecord", controller),
        *(("RegisterBrokerRecord", {"brokerId": number, **broker}) for number in (1, 2, 3)),
        ("TopicRecord", {"name": NAME, "topicId": TOPIC_ID}),
        ("PartitionRecord", partition),
        *(("ConfigRecord", dict(zip(("resourceType", "resourceName", "name", "value"), row, strict=True)))
          for row in settings),
        ("AccessControlEntryRecord", _ACL),
        ("ClientQuotaRecord", {"entity": [{"entityType": NAME, "entityName": LONG}], "key": NAME, "value": 1.0,
                               "remove": False}),
        ("FenceBrokerRecord", {"id": 3, "epoch": 7}),
    ]  # fmt: skip
    values = [metadata_record(name, 0, data) for name, data in records]
    return batch_of(0, *(record(at, value=value) for at, value in enumerate(values)), epoch=1).data


def _short(text: str) -> bytes:
    data = text.encode()
    return len(data).to_bytes(2, "big") + data


def _internal(folder: Path, key: bytes, value: bytes) -> None:
    """Write the partition of an internal topic with one record."""
    partition_dir(folder, [[batch_of(0, record(key=key, value=value))]])


def _transaction() -> tuple[bytes, bytes]:
    """Return the record of a transaction that is open on NAME."""
    schemas = parse_table(TABLE)
    value = encode(schemas["TransactionLogValue"], {
        "producerId": 7, "producerEpoch": 0, "transactionTimeoutMs": 1, "transactionStatus": 1,
        "transactionPartitions": [{"topic": NAME, "partitionIds": [0]}],
        "transactionLastUpdateTimestampMs": 1, "transactionStartTimestampMs": 1}, 1)  # fmt: skip
    return bytes(2) + _short(NAME), b"\0\1" + value


def _remote() -> bytes:
    """Return the record of a segment of NAME in a store."""
    return remote_log_record("RemoteLogSegmentMetadataRecord", _STORED)


def _manifest() -> bytes:
    """Return what the Aiven plugin says of a segment without metadata."""
    segment = {**_SEGMENT, "id": _LOST}
    return json.dumps(manifest({**_STORED, "remoteLogSegmentId": segment, "startOffset": 10, "endOffset": 19})).encode()


def _settings(**lines: str) -> bytes:
    """Return a file of properties with these values."""
    return "".join(f"{key.replace('_', '.')}={_unit(value)}\n" for key, value in lines.items()).encode()


def _unit(value: str) -> str:
    return "".join(c if c.isalnum() or c in "/.-,@:" else f"\\u{ord(c):04x}" for c in value)


def _broker(folder: Path, number: int, ends: list[tuple[int, int, int]]) -> None:
    """Write a log dir with NAME-0 of batches of (first, last, epoch), with damage, strays and internal topics."""
    data = log_dir(folder, broker_id=number, clean=False, recovery_point={f"{NAME}-0": 0, f"{NAME}-7": 5})
    batches = [batch for first, last, epoch in ends for batch in run(first, last, epoch=epoch)]
    partition_dir(data / f"{NAME}-0", [batches], epoch_entries=[(9, 0), (epoch := 0, 5)], tail=b"\0" * 30)
    write(data / f"{NAME}-0", {"partition.metadata": partition_metadata(TOPIC_ID), NAME: b"x"})
    for name in (f"{NAME}-1.{'a' * 32}-delete", f"{NAME}-2.{'b' * 32}-stray", f"{NAME}-3.{'c' * 32}-future"):
        partition_dir(data / name, [run(0, 9)], epoch_entries=[(epoch, 0)])
    write(data, {NAME: b"x", "cleaner-offset-checkpoint": f"0\n1\n{NAME}\n".encode()})
    _internal(data / "__consumer_offsets-0", b"\0\1" + _short(LONG) + _short(NAME) + bytes(4),
              b"\0\3" + (500).to_bytes(8, "big") + b"\xff" * 4 + _short(LONG[:900]) + bytes(8))  # fmt: skip
    _internal(data / "__transaction_state-0", *_transaction())
    _internal(data / "__remote_log_metadata-0", b"", _remote())


def hostile_cluster(root: Path) -> Path:
    """Write the cluster into a folder, and return the folder in it that has everything."""
    top = root / NAME
    fleet = root / "fleet" / NAME
    _broker(fleet / f"1{NAME}" / NAME, 1, [(0, 59, 0), (60, 99, 1)])
    _broker(fleet / f"2{NAME}" / NAME, 2, [(0, 59, 0), (60, 89, 2)])
    controller = log_dir(fleet / f"100{NAME}" / NAME, broker_id=100)
    log_dir(top / "formatted", broker_id=201)
    write(top / "formatted", {"bootstrap.checkpoint": _bootstrap()})
    write(top / "zookeeper" / "version-2", {"snapshot.1": _znodes()})
    write(controller / "__cluster_metadata-0", {f"{0:020d}.log": metadata()})
    voter = {"voterId": 100, "voterDirectoryId": TOPIC_ID, "endpoints": [{"name": NAME, "host": NAME, "port": 1}]}
    state = {"leaderId": 100, "leaderEpoch": 1, "votedId": -1, "currentVoters": [voter], "data_version": 0}
    write(controller / "__cluster_metadata-0", {"quorum-state": json.dumps(state).encode()})
    lines = {"node_id": "1", "process_roles": "broker", "log_dirs": str(fleet / f"1{NAME}" / NAME), "rack": LONG,
             "controller_quorum_voters": f"100@{NAME}:9093", "listeners": f"PLAINTEXT://{NAME}:9092"}  # fmt: skip
    write(top, {"server.properties": _settings(**lines), "server.log": _server_log(), "h.history": _history()})
    write(top, {"owners.json": json.dumps({"*": LONG}).encode()})
    write(root / "logs" / NAME / f"1{NAME}", {"server.log": _server_log()})
    stored = {f"{0:020d}-{TOPIC_ID[::-1]}.log": b"x", f"{10:020d}-{_LOST}.rsm-manifest": _manifest(), NAME: b"x"}
    write(top / "store" / f"{NAME}-0-{TOPIC_ID}", stored)
    return top


def _bootstrap() -> bytes:
    """Return the snapshot of a formatted disk."""
    return batch_of(0, record(value=metadata_record("FeatureLevelRecord", 0, {"name": LONG, "featureLevel": 1}))).data


def _znodes() -> bytes:
    """Return what ZooKeeper knows of the cluster."""
    broker = {"host": LONG, "port": 9092, "endpoints": [f"PLAINTEXT://{LONG}:9092"], "rack": LONG, "version": 5}
    nodes = {
        "/brokers": b"", "/brokers/ids": b"", "/brokers/ids/1": json.dumps(broker).encode(), "/brokers/topics": b"",
        f"/brokers/topics/{NAME}": json.dumps({"version": 1, "partitions": {"0": [1, 2, 3]}}).encode(),
        f"/brokers/topics/{NAME}/partitions": b"", f"/brokers/topics/{NAME}/partitions/0": b"",
        f"/brokers/topics/{NAME}/partitions/0/state":
            b'{"controller_epoch":1,"leader":3,"version":1,"leader_epoch":5,"isr":[3]}',
        "/config": b"", "/config/topics": b"",
        f"/config/topics/{NAME}": json.dumps({"version": 1, "config": {NAME: LONG}}).encode(),
        "/cluster": b"", "/cluster/id": json.dumps({"version": "1", "id": LONG}).encode(),
    }  # fmt: skip
    return snapshot([node(path, data) for path, data in nodes.items()])


def _server_log() -> bytes:
    one = NAME.replace("\n", " ").replace("\r", " ")
    lines = ("INFO Kafka version: 3.9.0 (org.apache.kafka.common.utils.AppInfoParser)",
             f"INFO Loading logs from log dirs ArrayBuffer({one}) (kafka.log.LogManager)",
             f"ERROR Error while loading log dir {one} (kafka.log.LogManager)",
             f"WARN [LogLoader partition={one}-0, dir={one}] Found a corrupted index file {one}",
             f"ERROR {one} of no wording (a.B)", f"ERROR {'x' * 50_000} (a.B)")  # fmt: skip
    return "".join(f"[2026-11-24 00:03:23,925] {line}\n" for line in lines).encode()


def _history() -> bytes:
    one = NAME.replace("\n", " ").replace("\r", " ")
    return f"# {one}\n# {one}\nbrokers A B\ntopic acks=1\nA leads epoch 1\nappend 3\nfetch B\n".encode()


class _Tags(HTMLParser):
    """Keeps what an attacker added to a page."""

    def __init__(self, content: str) -> None:
        super().__init__()
        self.wrong = list[str]()
        self.feed(content)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Look at a tag."""
        if tag == "pwn" or any(name == "onpwn" for name, _ in attrs):
            self.wrong.append(f"{tag} {attrs}"[:200])


def harm(path: str, content: str) -> Iterator[str]:
    """Yield what an output does wrong; its kind is the end of its path."""
    for line in content.replace("\r\n", "\n").split("\n"):
        if not line.isprintable():
            yield f"raw character in {line[:300]!r}"
        if line.startswith(("PWN", "pwned", "```sh\\")):
            yield f"the line begins inside of a name: {line[:300]!r}"
    ending = path.rpartition(".")[2]
    if ending in _HARM and content:
        yield from _HARM[ending](content)


def _json(content: str) -> Iterator[str]:
    try:
        json.loads(content)
    except ValueError as error:
        yield f"{error}: {content[:300]!r}"


def _ndjson(content: str) -> Iterator[str]:
    for line in content.splitlines():
        yield from _json(line)


def _csv(content: str) -> Iterator[str]:
    widths = {len(row) for row in csv.reader(io.StringIO(content))}
    if len(widths) > 1:
        yield f"rows of {widths} columns"


def _html(content: str) -> Iterator[str]:
    yield from _Tags(content).wrong


def _svg(content: str) -> Iterator[str]:
    if "pwn" in {node.tag.rpartition("}")[2] for node in ET.fromstring(content).iter()}:
        yield "a tag"


def _prometheus(content: str) -> Iterator[str]:
    families = list(text_string_to_metric_families(content))
    if not families:
        yield "no metric"


def _sql(content: str) -> Iterator[str]:
    duckdb.connect().execute(content)
    yield from ()


def _markdown(content: str) -> Iterator[str]:
    blocks = re.findall(r"^ *```\w*\n(.*?)^ *```$", content, re.MULTILINE | re.DOTALL)
    prose = re.sub(r"^ *```\w*\n.*?^ *```$|``? .*? ``?|`[^`\n]*`", "", content, flags=re.MULTILINE | re.DOTALL)
    if re.search(r"(?<!\\)<pwn", prose):
        yield "a tag in the prose"
    for block in blocks:
        yield from _shell(block)


_HEARD = 'command_not_found_handle() { printf "%s\\0" "$@" >&3; }\n'


def _shell(content: str) -> Iterator[str]:
    """Run a script where no command exists, and look at the words that each command would get."""
    done = subprocess.run(
        ["bash", "--norc", "-c", f"exec 3>&1\n{_HEARD}PATH=/nowhere\n{content}"], capture_output=True, check=False,
        stdin=subprocess.DEVNULL, env={"LC_ALL": "C.UTF-8"}, cwd="/",
    )  # fmt: skip
    words = done.stdout.decode("utf-8", "surrogateescape").split("\0")
    if "syntax error" in done.stderr.decode() or "unexpected EOF" in done.stderr.decode():
        yield f"no shell script: {done.stderr.decode()[:300]}"
    if any(word.startswith("pwned") for word in words):
        yield "it runs pwned"
    if any("PWN" in word and RAW not in word for word in words):
        yield f"a name falls apart: {[word[:200] for word in words if 'PWN' in word]}"


_HARM: dict[str, Any] = {
    "json": _json, "ndjson": _ndjson, "csv": _csv, "html": _html, "svg": _svg, "prom": _prometheus, "sql": _sql,
    "md": _markdown, "sh": _shell,
}  # fmt: skip
