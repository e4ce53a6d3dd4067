"""The newest keys of logs that real brokers wrote."""

from pathlib import Path

import pytest

from kcheck.disk.tree import tree_of
from kcheck.model.entries import Offset
from kcheck.records.batch import MAGIC_AT
from kcheck.segments import record_keys
from kcheck.segments.record_keys import last_live_keys, newest_keys
from tests.builders import batch_of, record
from tests.cli.command import kcheck as run
from tests.oracle.scenes import FIXTURES


def found(directory: Path) -> list[bytes]:
    """Return the keys of a partition directory."""
    bases = sorted(Offset(int(log.stem)) for log in directory.glob("*.log"))
    return [*newest_keys(tree_of(str(directory)).directory(str(directory)), bases)]


def test_keys_from_the_newest_segment_back(tmp_path: Path) -> None:
    """A compacted log of two segments; none behind a batch of a later magic, and none of a file that is too long."""
    directory = next((FIXTURES / "brokers/4.3.1/stopped/broker-1").glob("data*/compacted-0"))
    first, last = sorted(directory.glob("*.log"))
    keys = found(directory)
    assert keys[-2:] == [b"k3", b"k4"]
    (tmp_path / "t-0").mkdir()
    copy = tmp_path / "t-0" / first.name
    copy.write_bytes(first.read_bytes())
    newest = len(keys) - len(found(copy.parent))
    (tmp_path / "t-0" / last.name).write_bytes(last.read_bytes())
    assert found(copy.parent) == keys
    data = bytearray(first.read_bytes())
    data[MAGIC_AT] = 3
    copy.write_bytes(data)
    assert found(copy.parent) == keys[:newest]


def test_at_most_so_many_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rest of a long log is not read."""
    (directory,) = (FIXTURES / "brokers/4.3.1/stopped/broker-1").glob("data*/segments-0")
    monkeypatch.setattr(record_keys, "_READ_SIZE_MAX", 1500)
    assert 0 < len(found(directory)) < 129


def test_records_without_key_and_markers() -> None:
    """Keys of control batches are none, and a compressed batch that cannot be read has none."""
    (directory,) = (FIXTURES / "brokers/4.3.1/stopped/broker-1").glob("data*/transactions-0")
    assert all(key.startswith(b"k") for key in found(directory))


def test_a_bundle_has_no_records(tmp_path: Path) -> None:
    """Its batches are known, their records are not."""
    place = FIXTURES / "brokers/4.3.1/stopped/broker-1/data1"
    bundle = tmp_path / "b.kcheck"
    assert 0 == run("capture", place, "-o", bundle).code
    directory = tree_of(str(bundle)).directory(f"{bundle}/segments-0")
    bases = [Offset(int(name[:20])) for name in directory.entries().sizes if name.endswith(".log")]
    assert len(bases) == 7
    assert [] == [*newest_keys(directory, bases)]


def test_live_keys_at_the_end(tmp_path: Path) -> None:
    """A tombstone ends its key; the newest segment with keys counts, a long one from its last index entry on."""
    (tmp_path / "t-0").mkdir()
    values = ((b"a", b"1"), (b"b", b"1"), (b"a", None))
    made = batch_of(0, *(record(number, key=key, value=value) for number, (key, value) in enumerate(values)))
    (tmp_path / "t-0" / f"{0:020}.log").write_bytes(made.data)
    (tmp_path / "t-0" / f"{3:020}.log").write_bytes(b"")
    files = tree_of(str(tmp_path)).directory(f"{tmp_path}/t-0")
    assert last_live_keys(files, [Offset(0), Offset(3)]) == (b"b",)
    assert last_live_keys(files, [Offset(3)]) == ()


def test_live_keys_of_brokers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A long segment is read from its last index entry on; a bundle has none."""
    place = FIXTURES / "brokers/4.3.1/stopped/broker-1/data1"
    files = tree_of(str(place)).directory(f"{place}/transactions-0")
    bases = [Offset(int(name[:20])) for name in files.entries().sizes if name.endswith(".log")]
    whole = last_live_keys(files, sorted(bases))
    assert whole
    assert all(key.startswith(b"k") for key in whole)
    monkeypatch.setattr(record_keys, "_LAST_SIZE_MAX", 0)
    assert {*last_live_keys(files, sorted(bases))} <= {*whole}
    bundle = tmp_path / "b.kcheck"
    assert 0 == run("capture", place, "-o", bundle).code
    assert last_live_keys(tree_of(str(bundle)).directory(f"{bundle}/transactions-0"), bases) == ()
