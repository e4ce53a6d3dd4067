"""No member of a bundle holds a byte string of a record, a host, or a secret, in any form it is read in."""

import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from kcheck.model.source import BytesSource
from kcheck.records.record import Record, read_records
from kcheck.schemas.records import decoder
from kcheck.segments.batches import Walk
from tests.capture.answers import captured, fresh

BROKERS = Path(__file__).parents[2] / "fixtures" / "brokers"
SCENES = sorted(path for path in BROKERS.glob("*/*") if path.is_dir())
SIZE_MIN = 6
"""A shorter text may be anywhere by chance."""
DISTINCT_MIN = 4
"""A part of fewer different bytes, such as zeros, may be too."""
HOSTS = (b"127.0.0.1", b"localhost", b"PLAINTEXT")
NAMES = frozenset({b"compacted", b"consumer", b"transactions", b"metadata.version", b"kraft.version"})
"""Payloads of the fixtures that are also names of topics, features or settings."""


def texts(value: object) -> Iterator[str]:
    """Yield every text in a document."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)


def payloads(log: Path) -> Iterator[bytes]:
    """Yield keys, values and headers of the records in a `.log`, and the texts in those of an internal topic."""
    data = log.read_bytes()
    kinds = {"__consumer_offsets": "offsets", "__transaction_state": "transactions"}
    decode = next((decoder(kind) for topic, kind in kinds.items() if log.parent.name.startswith(topic)), None)
    for batch in Walk(BytesSource(data)):
        if batch.attributes & 0x20 or not 0 <= batch.magic <= 2:
            continue
        for record in read_records(data[batch.position : batch.position + batch.size]):
            if isinstance(record, Record):
                parts = [record.key, record.value, *(part for header in record.headers for part in header)]
                yield from (bytes(part) for part in parts if part is not None)
                if decode is not None:
                    key, value = (None if part is None else bytes(part) for part in parts[:2])
                    for message in decode(key, value):
                        for text in texts({} if message is None else message.data):
                            yield text.encode()


def contents(bundle: Path) -> Iterator[tuple[str, bytes]]:
    """Yield each member, and each file of the bundle as a command reads it."""
    from kcheck.disk.bundle import BundleTree

    raw = bundle.read_bytes()
    yield "the bundle", raw
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        for name in archive.namelist():
            yield name, archive.read(name)
        manifest = json.loads(archive.read("manifest.json"))
    opened = BundleTree(str(bundle))
    for entry in manifest["entries"]:
        if entry.get("member"):
            source = opened.source(f"{bundle}/{entry['path']}")
            yield entry["path"], source.pread(source.size, 0)


@pytest.mark.sample(6)
@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: "/".join(scene.parts[-2:]))
def test_no_payload_of_a_broker_is_in_its_bundle(scene: Path, tmp_path: Path) -> None:
    """Of topics of the user, of groups and of transactions."""
    for broker in sorted(scene.glob("broker-*")):
        logs = [log for log in broker.rglob("*.log") if not log.parent.name.startswith("__cluster_metadata")]
        topics = {log.parent.name.rpartition("-")[0].encode() for log in logs}
        ids = {path.read_bytes().split()[-1] for path in broker.rglob("partition.metadata")}
        parts = {part for log in logs for part in payloads(log)} - topics - ids - NAMES
        secret = {part for part in parts if len(part) >= SIZE_MIN and len({*part}) >= DISTINCT_MIN}
        found = {
            (name, part)
            for name, content in contents(captured([broker], tmp_path))
            for part in (*secret, *HOSTS)
            if part in content
        }
        assert not found
        fresh()
