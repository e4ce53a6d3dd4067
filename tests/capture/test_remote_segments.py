"""`__remote_log_metadata` in a bundle: what decides goes in, and answers are those of the directories."""

import struct
from pathlib import Path

import pytest

from kcheck.capture.remote_segments import masked_segments
from kcheck.core.releases.releases import release
from kcheck.model.depth import Depth
from kcheck.model.report import PartitionFilter
from kcheck.records.batch import checksum
from kcheck.verbs.check import check
from tests.cli.command import kcheck
from tests.record_bytes import batch_of, record
from tests.tiered_states import GAP, KILLED, LOST, state


def found(path: Path) -> list[tuple[str, str, str]]:
    """Return the findings about remote storage, without paths."""
    report = check([str(path)], depth=Depth.HEADERS, as_kind=None, wanted=PartitionFilter(), release=release("4.3"))
    return sorted((row.id, row.message, row.effect) for row in report.collected if row.id.startswith("KC24"))


@pytest.mark.parametrize(
    ("incident", "name", "broker"), [(KILLED, "4-joined", 2), (GAP, "5-stopped", 1), (LOST, "1b-dirs-removed", 1)]
)
def test_the_answers_of_the_directory(tmp_path: Path, incident: str, name: str, broker: int) -> None:
    path, bundle = state(incident, name, tmp_path) / f"broker-{broker}", tmp_path / "bundle.kcheck"
    assert kcheck("capture", str(path), "--output", str(bundle)).code == 0
    assert found(bundle) == found(path) != []


def first_batch(tmp_path: Path) -> bytes:
    """Return the first batch of a metadata partition that a real broker wrote."""
    (log,) = (state(LOST, "1-before", tmp_path) / "broker-1").glob("__remote_log_metadata-2/*.log")
    data = log.read_bytes()
    return data[: 12 + int.from_bytes(data[8:12], "big")]


def test_a_topic_gets_another_name(tmp_path: Path) -> None:
    """Of the same size; the CRC is right again."""
    batch = first_batch(tmp_path)
    masked = masked_segments(batch, lambda name: "z" * len(name))
    assert masked is not None
    assert len(masked) == len(batch)
    assert (b"\x02m" in batch, b"\x02z" in masked) == (True, True)
    assert int.from_bytes(masked[17:21], "big") == checksum(memoryview(masked)[21:], 2)
    assert masked_segments(batch, str) == batch


def update(custom: bytes) -> bytes:
    """Return a batch with a record of type 1 that carries metadata of the plugin."""
    ids = bytes(range(100, 116))
    where = b"\x02t" + ids + bytes(4) + b"\0"
    rest = struct.pack(">iq", 1, 9) + bytes([len(custom) + 1]) + custom + b"\x01\0"
    return batch_of(record(0, None, b"\x01\x01\0" + where + ids + b"\0" + rest), 1)


def test_metadata_of_the_plugin_becomes_zeros() -> None:
    """Unless its bytes can be something else too."""
    masked = masked_segments(update(b"bucket/key"), str)
    assert masked is not None
    assert (b"bucket" in masked, bytes(10) in masked) == (False, True)
    assert masked_segments(update(b"\0"), str) is None


@pytest.mark.parametrize(("position", "byte"), [(22, 1), (-1, 2), (70, 9)])
def test_what_brokers_do_not_write_stays_out(tmp_path: Path, position: int, byte: int) -> None:
    """A compressed batch, a record with headers, a value of another frame."""
    batch = bytearray(first_batch(tmp_path))
    batch[position] = byte
    assert masked_segments(bytes(batch), str) is None
