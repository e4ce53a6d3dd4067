"""Records of a broker that was killed, exported, and produced again on another one: what consumers read is the same."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import KCHECK, ROOT
from tests.oracle.ask import IS_WHOLE
from tests.oracle.conftest import no_kafka
from tests.oracle.jars import java_command, run_java
from tests.oracle.kafka import Cluster

pytestmark = pytest.mark.oracle

VERSION = "4.3.1"
SCRIPT = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "export.md").read_text("utf-8"), re.DOTALL)[0]
GROUP = "g'1"
Record = tuple[Any, ...]
"""Timestamp, key, value, headers."""


def client() -> Any:
    """Return the client of the docs' ten lines; without it as without Kafka."""
    try:
        import confluent_kafka  # without it the other tests run
        import confluent_kafka.admin
    except ImportError:
        no_kafka("needs confluent-kafka")
    return confluent_kafka


def create(cluster: Cluster, *topics: str) -> None:
    """Create topics of one partition."""
    kafka = client()
    admin = kafka.admin.AdminClient({"bootstrap.servers": cluster.bootstrap})
    for done in admin.create_topics([kafka.admin.NewTopic(topic, 1, 1) for topic in topics]).values():
        done.result(60)


def consumed(cluster: Cluster, topic: str, group: str = "reader") -> list[Record]:
    """Return what a consumer with read_committed reads."""
    kafka = client()
    settings = {
        "bootstrap.servers": cluster.bootstrap, "group.id": group, "isolation.level": "read_committed",
        "enable.partition.eof": True, "enable.auto.commit": False,
    }  # fmt: skip
    consumer = kafka.Consumer(settings)
    records: list[Record] = []
    consumer.assign([kafka.TopicPartition(topic, 0, 0)])
    while True:
        message = consumer.poll(60)
        assert message is not None
        if message.error():
            assert message.error().code() == kafka.KafkaError._PARTITION_EOF, message.error()
            consumer.close()
            return records
        headers = tuple(message.headers() or ())
        records.append((message.timestamp()[1], message.key(), message.value(), headers))


def values() -> Iterator[dict[str, Any]]:
    """Yield records with everything that a format may not hold."""
    yield {"key": b"k", "value": b"plain"}
    yield {"key": None, "value": b"no key"}
    yield {"key": b"tombstone", "value": None}
    yield {"key": None, "value": None}
    yield {"key": b"empty", "value": b""}
    yield {"key": b"", "value": b"empty key"}
    yield {"key": "Schlüssel 🗝".encode(), "value": "Wert\u2028\x85 \ufeff".encode()}
    yield {"key": b"\xff\x00", "value": bytes(range(256))}
    yield {"key": b"lines", "value": b"one\ntwo\r\nthree\r"}
    yield {"key": b"marks", "value": b"\x1f\x1e\x1d\x1c\x1a"}
    yield {"key": b"\x1f", "value": b"\x1a"}
    yield {"key": b"kcat", "value": b"a\x1f\x1c\x1d\x1eb"}
    yield {"key": b"\x1f\x1c\x1d", "value": b"\x1e\x1f\x1c\x1d"}
    yield {"key": b"\x1f\x1c\x1d\x1e", "value": b"its end is in the key"}
    yield {"key": b"ends", "value": b"\x1e\x1d\x1c\x1f, here: \x1e\x1d\x1c"}
    yield {
        "key": b"h",
        "value": b"headers",
        "headers": [("one", b"1"), ("none", None), ("one", b""), ("bytes", b"\xfe")],
    }
    yield {"key": b"h", "value": b"texts", "headers": [("a", b"1,2:3"), ("", b"x"), ("b", None)]}
    yield {"key": b"large", "value": b"x" * 950_000}
    yield {"key": b"json", "value": b'{"a": "\\u0000\x7f\x1b[31m"}'}


def write_source(cluster: Cluster) -> int:
    """Write a log with transactions of every end; return the committed offset of a group in its middle."""
    kafka = client()
    settings = {"bootstrap.servers": cluster.bootstrap, "message.max.bytes": 2_000_000}
    stamp = 1_600_000_000_000
    plain = kafka.Producer({**settings, "compression.type": "zstd"})

    def send(producer: Any, number: int, **record: Any) -> None:
        producer.produce("source", partition=0, timestamp=stamp + 1000 * number, **record)

    for number, record in enumerate(values()):
        send(plain, number, **record)
    assert plain.flush(60) == 0
    interleave(settings, send)
    ends = [("commit", "commit_transaction"), ("abort", "abort_transaction"), ("again", "commit_transaction")]
    for name, end in (*ends, ("open", None)):
        producer = kafka.Producer({**settings, "transactional.id": name})
        producer.init_transactions(60)
        producer.begin_transaction()
        for number in range(3):
            send(producer, 100 + number, key=name.encode(), value=b"%d" % number)
        producer.flush(60)
        if end is not None:
            getattr(producer, end)(60)
            send(plain, 200, key=b"between", value=name.encode())
            plain.flush(60)
        else:
            producer.purge()
    committed = len(list(values())) + 18 + 3 + 1 + 1 + 3 + 1 + 1  # two transactions with markers, a record after each
    consumer = kafka.Consumer({"bootstrap.servers": cluster.bootstrap, "group.id": GROUP})
    consumer.commit(offsets=[kafka.TopicPartition("source", 0, committed)], asynchronous=False)
    consumer.close()
    return committed


def interleave(settings: dict[str, Any], send: Callable[..., None]) -> None:
    """Write four transactions of two producers side by side, with markers among them: 18 offsets."""
    one, other = (client().Producer({**settings, "transactional.id": name}) for name in ("one", "other"))
    for producer in (one, other):
        producer.init_transactions(60)
        producer.begin_transaction()
    turns = ((one, 1), (other, 2), (one, 3), (other, 4))
    for producer, number in turns:
        for _ in range(2):
            send(producer, number, key=b"side by side", value=b"%d" % number)
        producer.flush(60)
    one.abort_transaction(60)
    one.begin_transaction()
    for producer, number in turns:
        send(producer, 10 + number, key=b"side by side", value=b"%d" % (10 + number))
        producer.flush(60)
    other.commit_transaction(60)
    other.begin_transaction()
    send(other, 20, key=b"side by side", value=b"20")
    other.flush(60)
    one.commit_transaction(60)
    send(other, 21, key=b"side by side", value=b"21")
    other.flush(60)
    other.abort_transaction(60)


def export(*words: str, folder: Path) -> tuple[str, dict[str, Any]]:
    """Run an export; return what it says on stderr, and its summary."""
    summary = folder / "summary.json"
    summary.unlink(missing_ok=True)
    done = subprocess.run(
        [*KCHECK, "export", *words, "--summary", str(summary)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stderr
    return done.stderr, json.loads(summary.read_text())


CONSOLES = {
    VERSION: ("org.apache.kafka.tools.ConsoleProducer", "--command-property"),
    "3.9.2": ("kafka.tools.ConsoleProducer", "--producer-property"),
    "3.3.2": ("kafka.tools.ConsoleProducer", "--producer-property"),
}
"""The class behind kafka-console-producer.sh, and its option for settings of the producer."""


def run_said(said: str, cluster: Cluster, topic: str, version: str = VERSION) -> None:
    """Run the command that an export names, with the address of a broker, into a topic."""
    (command,) = re.findall(r"^  (k\S+ .*)$", said, re.MULTILINE)
    command = command.replace("HOST:9092", cluster.bootstrap).replace(" source ", f" {topic} ")
    console, option = CONSOLES[version]
    java = shlex.join(java_command(version, console))
    tool = f'tool() {{ {java} "$@"; }}\n'
    script = tool + command.replace("kafka-console-producer.sh", f"tool {option} max.request.size=2000000")
    done = subprocess.run(["bash", "-ec", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def lost(summary: dict[str, Any], why: str) -> int:
    """Return how many records were left out for a reason."""
    return sum(row["records"] for row in summary["partitions"][0]["left_out"] if row["why"] == why)


def test_the_round_trip(tmp_path: Path, start: Callable[..., Cluster]) -> None:
    """Whatever a consumer read before the broker died, it reads again, or it was counted as left out."""
    limits = {"broker_config": {"message.max.bytes": 2_000_000}}
    consoles = CONSOLES if IS_WHOLE else (VERSION,)
    with start(VERSION, dir=tmp_path / "before", **limits) as cluster:
        create(cluster, "source")
        committed = write_source(cluster)
        written = consumed(cluster, "source")
    (log_dir,) = cluster.brokers[1].log_dirs
    source = str(log_dir / "source-0")
    assert [record[1:3] for record in written[-4:]] == [(b"again", b"%d" % at) for at in range(3)] + [
        (b"between", b"again")
    ]
    out = tmp_path / "out"
    options = ("--committed", "--reset-file", GROUP, "-o", f"{out}/")
    _, summary = export(str(log_dir), *options, folder=tmp_path)
    assert (lost(summary, "aborted"), lost(summary, "open"), lost(summary, "control")) == (9, 3, 7)
    with start(VERSION, dir=tmp_path / "after", **limits) as cluster:
        create(cluster, "source", "kcat", *(f"console-{version}" for version in consoles))
        (tmp_path / "produce.py").write_text(SCRIPT.replace('"enable', '"message.max.bytes": 2_000_000, "enable'))
        with (out / "source-0.ndjson").open() as lines:
            command = [sys.executable, tmp_path / "produce.py", cluster.bootstrap]
            assert subprocess.run(command, stdin=lines, check=False).returncode == 0
        assert consumed(cluster, "source") == written
        reset = (
            "--bootstrap-server", cluster.bootstrap, "--group", GROUP, "--reset-offsets", "--execute", "--from-file",
            str(out / "reset-offsets.csv"),
        )  # fmt: skip
        run_java(VERSION, "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand", *reset)
        assert translated(cluster) == committed - 9 - 6  # aborted records and markers
        console, summary = export(source, "--committed", "--format", "console", "-o", f"{out}/c", folder=tmp_path)
        fit = [record[1:] for record in written if is_text(record)]
        for version in consoles:
            run_said(console, cluster, f"console-{version}", version)
            assert [record[1:] for record in consumed(cluster, f"console-{version}")] == fit
        assert lost(summary, "not-in-format") == len(written) - len(fit) == 6
        if shutil.which("kcat") is None:
            no_kafka("needs kcat")
        kcat, summary = export(source, "--committed", "--format", "kcat", "-o", f"{out}/k", folder=tmp_path)
        run_said(kcat, cluster, "kcat")
        fit = [record[1:] for record in written if is_for_kcat(record)]
        assert [record[1:] for record in consumed(cluster, "kcat")] == fit
        assert lost(summary, "not-in-format") == len(written) - len(fit) == 6


def translated(cluster: Cluster) -> int:
    """Return the committed offset of the group."""
    kafka = client()
    consumer = kafka.Consumer({"bootstrap.servers": cluster.bootstrap, "group.id": GROUP})
    (place,) = consumer.committed([kafka.TopicPartition("source", 0)], 60)
    consumer.close()
    return int(place.offset)


def is_text(record: Record) -> bool:
    """Whether the console producer can send one of the records above: each part is text and in one line."""
    _, key, value, headers = record
    data = [part for part in (key, value, *(content for _, content in headers)) if part is not None]
    try:
        text = b"".join(data).decode()
    except UnicodeDecodeError:
        return False
    return not re.search("[\n\r]", text) and b"\x1f" not in (key or b"") and b"\x1a" not in data


def is_for_kcat(record: Record) -> bool:
    """Whether kcat can send one of the records above: it has no headers, no delimiter and no empty part."""
    _, key, value, headers = record
    if headers or b"" in (key, value):
        return False
    data = [part for part in (key, value) if part is not None]
    return (
        not any(end in part for end in (b"\x1f\x1c\x1d\x1e", b"\x1e\x1d\x1c\x1f") for part in data)
        or value == b"a\x1f\x1c\x1d\x1eb"
    )
