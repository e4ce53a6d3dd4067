"""No secret of a cluster reaches an answer: SCRAM credentials and tokens are named, configurations are not."""

import json
from base64 import b64encode
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.builders import log_dir, meta_properties, partition_dir, run, write
from tests.cli.command import kcheck
from tests.record_bytes import batch_of, record
from tests.zookeeper_bytes import create, log, set_data
from tests.zookeeper_bytes import record as transaction

SECRET = b"hunter2-hunter2!"
ENCODED = b64encode(SECRET).decode()
SPELLINGS = (SECRET.decode(), ENCODED.rstrip("="), SECRET.hex())
CLUSTER_ID = "c"
TOPIC_ID = bytes(15) + b"\7"
FORMATS = ("text", "json", "ndjson", "csv", "parquet")
COMMANDS = (
    ("cluster", "PATH", "--all"), ("cluster", "PATH", "--table", "brokers"),
    ("cluster", "PATH", "--changes", "t-0", "--all"),
    ("check", "LOG_DIR", "--metadata", "PATH"), ("predict", "LOG_DIR", "--metadata", "PATH"),
)  # fmt: skip


def compact(data: bytes) -> bytes:
    """Return bytes or a string as the flexible versions of Kafka's messages have them."""
    return bytes([len(data) + 1]) + data


def of_kraft(folder: Path) -> Path:
    """Write a log with a user, a token and a password, and a topic."""
    keys = compact(SECRET) * 3
    messages = (
        b"\1\2\0" + compact(b"t") + TOPIC_ID + b"\0",
        b"\1\3\0"
        + bytes(4)
        + TOPIC_ID
        + (b"\2" + bytes([0, 0, 0, 1])) * 2
        + b"\1\1"
        + bytes([0, 0, 0, 1])
        + bytes(8)
        + b"\0",
        b"\1\x0b\0" + compact(b"alice") + b"\1" + keys + bytes([0, 0, 16, 0]) + b"\0",
        b"\1\x0a\0" + compact(b"User:o") * 2 + b"\1" + bytes(24) + compact(b"token-id") + b"\0",
        b"\1\4\0\4" + compact(b"1") + compact(b"ssl.key.password") + compact(SECRET) + b"\0",
    )
    body = b"".join(record(number, None, message) for number, message in enumerate(messages))
    write(folder / "__cluster_metadata-0", {f"{0:020d}.log": batch_of(body, len(messages))})
    write(folder, {"meta.properties": meta_properties(1, cluster_id=CLUSTER_ID)})
    return folder


def of_zookeeper(folder: Path) -> Path:
    """Write a log with the same, as text, and data that is no JSON: also where the history comes by."""
    state = "/brokers/topics/t/partitions/0/state"
    values = {
        "/brokers/topics/t": {"version": 1, "partitions": {"0": [1]}},
        state: {"controller_epoch": 1, "leader": 1, "leader_epoch": 0, "isr": [1]},
        "/cluster/id": {"version": "1", "id": CLUSTER_ID},
        "/config/users/alice": {"config": {"SCRAM-SHA-256": f"salt={ENCODED},stored_key={ENCODED}"}},
        "/config/brokers/1": {"config": {"ssl.key.password": SECRET.decode()}},
        "/delegation_token/tokens/token-id": {"hmac": ENCODED, "owner": "User:o"},
    }  # fmt: skip
    names = {path.rpartition("/")[0] for path in values} | set(values)
    parents = {"/".join(name.split("/")[:end]) for name in names for end in range(2, len(name.split("/")) + 1)}
    bodies = [
        (1, create(path, json.dumps(values[path]).encode() if path in values else b"")) for path in sorted(parents)
    ]
    bodies += [(5, set_data(state, SECRET, 1)), (5, set_data(state, json.dumps(values[state]).encode(), 2))]
    transactions = [transaction(kind, body, zxid=zxid) for zxid, (kind, body) in enumerate(bodies, 1)]
    write(folder / "version-2", {"log.1": log(*transactions)})
    return folder


@pytest.mark.parametrize("source", [of_kraft, of_zookeeper])
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_no_answer_has_a_secret(source: object, command: tuple[str, ...], tmp_path: Path) -> None:
    assert callable(source)
    path = source(tmp_path / "m")
    broker = log_dir(tmp_path / "d", cluster_id=CLUSTER_ID, clean=True)
    write(broker, {"meta.properties": meta_properties(1, cluster_id=CLUSTER_ID)})
    partition_dir(broker / "t-0", [run(0, 9)], epoch_entries=[(0, 0)])
    arguments = [{"PATH": str(path), "LOG_DIR": str(broker)}.get(word, word) for word in command]
    shown = []
    for name in FORMATS:
        done = kcheck(*arguments, "--format", name, *(("-o", tmp_path / "out.parquet") if name == "parquet" else ()))
        assert done.code in (0, 1), done.err
        shown += [done.out, done.err]
    shown.append(repr(pq.read_table(tmp_path / "out.parquet").to_pylist()))
    assert not [text for text in shown for spelling in SPELLINGS if spelling in text]
    if command[-1] == "--all" and "--changes" not in command:
        assert all("alice (SCRAM-SHA-256)" in text and "token-id" in text for text in (shown[0], shown[2]))
