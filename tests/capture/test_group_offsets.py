"""--with-offsets: commands know the committed offsets of groups from a bundle, and nothing else of them is in it."""

import io
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kcheck
from kcheck.capture.group_offsets import masked_commits
from kcheck.capture.pseudonyms import Pseudonyms
from kcheck.core.replication.group_offsets import COMMIT_TYPES
from kcheck.disk.bundle import BundleTree
from kcheck.model.source import BytesSource
from kcheck.records.batch import CONTROL, checksum
from kcheck.records.record import Record, read_records
from kcheck.schemas.records import decoder
from kcheck.segments.batches import Walk
from tests.capture.answers import captured, fresh, run
from tests.capture.test_payload import BROKERS, HOSTS, contents, payloads
from tests.record_bytes import batch_of, record

LOGS = sorted(
    log
    for log in BROKERS.glob("*/*/broker-1/*/__consumer_offsets-*/*.log")
    if log.stat().st_size and not log.is_relative_to(BROKERS / "0.10.2.2")
)
KEEP = (str, str)
KEY = b"\0\1\0\1g\0\1t\0\0\0\3"
VALUE = b"\0\3" + (41).to_bytes(8, "big") + b"\0\0\0\5" + b"\0\4mine" + (7).to_bytes(8, "big")


def commits(data: bytes) -> list[tuple[int, Any, Any]]:
    """Return offset, key and value of each commit in a `.log`, with `x` for its metadata."""
    found: list[tuple[int, Any, Any]] = []
    for batch in Walk(BytesSource(data)):
        if batch.attributes & CONTROL:
            continue
        for item in read_records(data[batch.position : batch.position + batch.size]):
            if isinstance(item, Record) and item.key is not None and bytes(item.key).startswith(COMMIT_TYPES):
                value = None if item.value is None else bytes(item.value)
                messages = [message and message.data for message in decoder("offsets")(bytes(item.key), value)]
                fields: Any = messages[1]
                if fields is not None:
                    fields = {**fields, "metadata": "x" * len(fields["metadata"].encode())}
                found.append((item.offset, messages[0], fields))
    return found


@pytest.mark.sample(4)
@pytest.mark.parametrize("log", LOGS, ids=lambda log: "/".join(log.parts[-6:-3]))
def test_the_commits_of_a_broker_are_in_its_bundle(log: Path, tmp_path: Path) -> None:
    """Each with its offset, epoch and times; no member, host or metadata of a commit, and every CRC is right."""
    broker = log.parents[2]
    bundle = captured([broker], tmp_path, "--with-offsets")
    source = BundleTree(str(bundle)).source(f"{bundle}/{log.relative_to(broker)}")
    data, plain = source.pread(source.size, 0), log.read_bytes()
    assert len(commits(plain)) > 0
    assert commits(plain) == commits(data)
    batches = [*Walk(BytesSource(data))]
    assert all(checksum(data[batch.position + 21 : batch.position + batch.size], 2) == batch.crc for batch in batches)
    known = {text.encode() for _, key, _ in commits(plain) for text in (key["group"], key["topic"])} | {b"consumer"}
    hidden = {
        text for text in map(bytes, payloads(log)) if len(text) >= 6 and text.isascii() and text.decode().isprintable()
    }
    ids = {path.read_bytes().split()[-1] for path in broker.rglob("partition.metadata")}
    for name, content in contents(bundle):
        assert not [text for text in (*(hidden - known - ids), *HOSTS) if text in content], name
    fresh()


def test_a_bundle_with_pseudonyms_names_no_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The key file leads back to it, in an answer as that of dump."""
    broker, key_file = BROKERS / "4.3.1" / "coordinators" / "broker-1", tmp_path / "names.key"
    bundle = captured([broker], tmp_path, "--with-offsets", "--pseudonyms", str(key_file))
    log = "data2/__consumer_offsets-0/00000000000000000000.log"
    _, hidden, _ = run(["dump", f"{bundle}/{log}", "--decode", "offsets"])
    names = {(key["group"], key["topic"]) for _, key, _ in commits((broker / log).read_bytes())}
    assert not any(f'"{name}"' in hidden for pair in names for name in pair)
    monkeypatch.setattr(sys, "stdin", io.StringIO(hidden))
    _, translated, _ = run(["capture", "--translate", str(key_file)])
    assert all(f'"group":"{group}","topic":"{topic}"' in translated for group, topic in names)
    fresh()


@pytest.mark.parametrize(
    ("options", "beyond"), [(("--with-offsets",), [0, 1]), ((), [None, None])], ids=["with", "without"]
)
def test_elect_knows_the_groups_of_bundles(options: tuple[str, ...], beyond: list[int | None], tmp_path: Path) -> None:
    """Without their offsets nobody knows whether a group has read further than an empty log goes."""
    shutil.copytree(BROKERS / "4.3.1" / "killed", tmp_path, dirs_exist_ok=True)
    shutil.rmtree(tmp_path / "broker-2" / "data1" / "plain-0")
    bundles = [f"{number}={captured([tmp_path / f'broker-{number}'], tmp_path, *options)}" for number in (1, 2, 3)]
    fresh()
    said = kcheck.elect(*bundles, partitions=kcheck.PartitionFilter(topics=("plain",))).to_dict()["partitions"][0]
    assert beyond == [row["groups_beyond"] for row in sorted(said["candidates"], key=lambda row: row["broker_id"])]
    fresh()


def test_a_batch_keeps_its_size_and_its_other_records_their_type() -> None:
    """A tombstone stays one; metadata are x; of a group only the type of its record is left."""
    records = (
        record(0, KEY, VALUE) + record(1, KEY, None) + record(2, b"\0\2\0\1g", b"\0\3host") + record(3, b"\0\2", None)
    )
    batch = batch_of(records, 4)
    masked = masked_commits(batch, (lambda name: name.upper(), str))
    assert masked is not None
    assert len(batch) == len(masked)
    keys = [bytes(item.key or b"") for item in read_records(masked) if isinstance(item, Record)]
    values = [item.value and bytes(item.value) for item in read_records(masked) if isinstance(item, Record)]
    assert [KEY.replace(b"g", b"G"), KEY.replace(b"g", b"G"), b"\0\2\0\0\0", b"\0\2"] == keys
    assert [VALUE.replace(b"mine", b"xxxx"), None, bytes(6), None] == values


@pytest.mark.parametrize(
    "batch",
    [
        batch_of(record(0, KEY, VALUE), 1, codec=1),
        batch_of(record(0, KEY, VALUE, headers=[(b"h", b"secret")]), 1),
        batch_of(record(0, None, VALUE), 1),
        batch_of(record(0, KEY, VALUE)[:-9], 1),
        batch_of(record(0, KEY[:-1], VALUE), 1),
        batch_of(record(0, KEY + b"more", VALUE), 1),
        batch_of(record(0, KEY, VALUE + b"more"), 1),
        batch_of(record(0, KEY, VALUE[:4]), 1),
    ],
    ids=["compressed", "headers", "no-key", "torn", "short-key", "long-key", "long-value", "short-value"],
)
def test_what_no_coordinator_writes_stays_at_home(batch: bytes) -> None:
    """The bundle then has zeros in its place, as without --with-offsets."""
    assert masked_commits(batch, KEEP) is None


@pytest.mark.parametrize("rename", [lambda name: name + "x", lambda name: name[1:]], ids=["longer", "shorter"])
def test_a_name_of_another_size_is_not_taken(rename: Callable[[str], str]) -> None:
    """The batch would have another size."""
    assert masked_commits(batch_of(record(0, KEY, VALUE), 1), (rename, str)) is None


def test_any_group_has_a_pseudonym_of_its_size() -> None:
    """Its name may be no name of a topic; one that a topic can have is renamed as that topic."""
    pseudonyms = Pseudonyms(bytes(32))
    names = ["orders", "__own", "a group: größe", "é", ""]
    others = [pseudonyms.group(name) for name in names]
    assert [len(name.encode()) for name in names] == [len(other) for other in others]
    assert others[0] == pseudonyms.topic("orders")
    assert not {*names[:4]} & {*others}
    assert [*map(pseudonyms.translated, others[1:3])] == names[1:3]
