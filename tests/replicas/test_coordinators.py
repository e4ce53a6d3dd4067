"""What the coordinators of a broker know is compared with its logs, from bytes that brokers wrote."""

import shutil
import struct
from pathlib import Path

import pytest

import kcheck
from kcheck.disk.local import LOCAL
from kcheck.documents.inspection import InspectedLogDir, InspectedPartition
from kcheck.model.coordinators import TransactionState
from kcheck.model.entries import Offset
from kcheck.model.finding import Finding
from kcheck.replicas import coordinators, transaction_states
from kcheck.replicas.replica import LogFile
from tests.builders import flipped
from tests.cases.build import CASES, shared_copy
from tests.record_bytes import batch_of, old_message, record
from tests.replicas.test_group_offsets import log_files

QUIET = CASES / "kc252-timestamp-in-future" / "microseconds"
REAL = Path("fixtures/brokers/4.3.1/coordinators/broker-1/data2/__transaction_state-0")


def found(path: Path, *rules: str, **how: object) -> list[Finding]:
    """Return what a check finds by these rules."""
    return [finding for finding in kcheck.check(path, **how).collected if finding.id in rules]


@pytest.fixture
def quiet(tmp_path: Path) -> Path:
    """Return a log dir with an open transaction, and two groups whose offsets no log has."""
    return Path(shutil.copytree(shared_copy(QUIET), tmp_path / "d"))


def key(name: str) -> bytes:
    """Return the key of a transactional id."""
    return struct.pack(f">hh{len(name)}s", 0, len(name), name.encode())


def value(status: int, *partitions: int) -> bytes:
    """Return the value of a transaction of producer 7 in partitions of topic t."""
    topics = struct.pack(f">ih1si{len(partitions)}i", 1, 1, b"t", len(partitions), *partitions)
    return struct.pack(">hqhib", 0, 7, 3, 60_000, status) + topics + struct.pack(">qq", 5, 4)


def written(folder: Path, *batches: bytes) -> tuple[LogFile, ...]:
    """Return a log of these batches."""
    (folder / f"{0:020}.log").write_bytes(b"".join(batches))
    return log_files(folder)


def test_what_a_broker_wrote() -> None:
    """The last record of each transactional id counts."""
    states, is_whole = transaction_states.transaction_states(log_files(REAL))
    assert is_whole
    assert {(state.transactional_id, state.is_pending) for state in states.values()} == {
        ("abort", False), ("commit", False), ("open", True)
    }  # fmt: skip


def test_records_of_transactions(tmp_path: Path) -> None:
    """A tombstone removes an id."""
    states = [record(0, key("a"), value(1, 0, 5)), record(1, key("b"), value(4)), record(2, key("b"), None)]
    log = written(tmp_path, batch_of(b"".join(states), 3, codec=1))
    expected = TransactionState("a", 7, 3, is_pending=True, partitions=frozenset({("t", 0), ("t", 5)}), started=4)
    assert transaction_states.transaction_states(log) == ({"a": expected}, True)


@pytest.mark.parametrize(
    "batch",
    [
        batch_of(record(0, b"?", b""), 1),
        batch_of(record(0, None, b""), 1),
        batch_of(record(0, key("a"), b"?"), 1),
        batch_of(b"?", 1),
        old_message(0, key("a"), b""),
        flipped(batch_of(record(0, key("a"), value(1, 0)), 1), 80),
    ],
    ids=["key", "no key", "value", "record", "format", "crc"],
)
def test_what_cannot_be_read(batch: bytes, tmp_path: Path) -> None:
    """Then kcheck does not know all transactions."""
    assert transaction_states.transaction_states(written(tmp_path, batch)) == ({}, False)


def test_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of too many ids, or of a batch that is too large, the rest is not known."""
    log = written(tmp_path, batch_of(record(0, key("a"), value(1)) + record(1, key("b"), value(1)), 2))
    monkeypatch.setattr(transaction_states, "_COUNT_MAX", 1)
    assert transaction_states.transaction_states(log)[1] is False
    monkeypatch.setattr(transaction_states, "_BATCH_SIZE_MAX", 10)
    assert transaction_states.transaction_states(log) == ({}, False)
    gone = log[0]._replace(disk=LOCAL.directory(str(tmp_path / "gone")))
    assert transaction_states.transaction_states((gone,)) == ({}, False)


def test_logs_of_several_brokers(quiet: Path) -> None:
    """A transaction is open in the log that reaches furthest, and known by the newest log of the coordinator."""
    (known,) = found(quiet, "KC602")
    assert known.data["transactional_id"] == "tx-1"
    other = Path(shutil.copytree(quiet, quiet.parent / "other"))
    meta, log = other / "meta.properties", other / "__transaction_state-0" / f"{0:020}.log"
    meta.write_text(meta.read_text().replace("node.id=1", "node.id=2").replace("directory.id=d", "directory.id=e"))
    log.write_bytes(log.read_bytes()[:120])
    rows = [row for row in kcheck.check(quiet, other).collected if row.id == "KC602"]
    assert [(row.data["hangs"], row.data["transactional_id"]) for row in rows] == [(False, "tx-1")]


def test_a_coordinator_that_is_not_whole(quiet: Path) -> None:
    """What a log that cannot be read says of a transaction is not known, so none hangs."""
    log = quiet / "__transaction_state-0" / f"{0:020}.log"
    log.write_bytes(flipped(log.read_bytes(), 100))
    (row,) = found(quiet, "KC602")
    assert (row.data["hangs"], row.data["transactional_id"]) == (False, None)


def test_large_logs_of_coordinators_are_read_for_records_alone(quiet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At other depths nothing is said of groups, and no transaction hangs."""
    monkeypatch.setattr(coordinators, "READ_SIZE_MAX", 10)
    assert [row.data["transactional_id"] for row in found(quiet, "KC601", "KC602")] == [None]
    assert len(found(quiet, "KC601", "KC602", depth="records")) == 3
    assert not found(quiet, "KC601", "KC602", depth="checkpoints")


def test_a_partition_directory_alone(quiet: Path) -> None:
    """There is no coordinator to ask: inspect shows what is open."""
    assert not found(quiet / "txt-0", "KC602")


def test_the_time_of_a_batch(tmp_path: Path) -> None:
    """It is not known if no batch begins there, or if its file cannot be read."""
    log = written(tmp_path, batch_of(record(0), 1), batch_of(record(0), 1, base_offset=5))
    times = coordinators._timestamps(log, [Offset(0), Offset(3), Offset(9)])
    assert [*times] == [0]
    gone = log[0]._replace(disk=LOCAL.directory(str(tmp_path / "gone")))
    assert coordinators._timestamps((gone,), [Offset(0)]) == {}


def test_inspect_shows_the_last_stable_offset(quiet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is the high watermark, or where the first open transaction begins."""
    parts = [
        part for item in kcheck.inspect(quiet).items if isinstance(item, InspectedLogDir) for part in item.partitions
    ]
    items = {part.view.topic: (part.last_stable_offset, len(part.open or ())) for part in parts}
    assert (items["txt"], items["fut"], items["__cluster_metadata"]) == ((0, 1), (203, 0), (None, 0))
    monkeypatch.setattr(coordinators, "_LOOK_SIZE_MAX", 10)
    (item,) = kcheck.inspect(quiet / "txt-0").items
    assert isinstance(item, InspectedPartition)
    assert (item.open, item.last_stable_offset) == (None, None)
