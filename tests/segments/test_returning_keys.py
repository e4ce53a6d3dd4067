"""Keys that one replica has and another one has deleted; the brokers' own are in `fixtures/cases`."""

from pathlib import Path

import pytest

from kcheck.disk.tree import tree_of
from kcheck.model.entries import Offset
from kcheck.model.finding import Location
from kcheck.model.names import DirectoryState
from kcheck.model.views import PartitionView, SegmentSummary
from kcheck.segments import returning_keys as module
from kcheck.segments.returning_keys import returning_keys
from tests.builders import Made, batch_of, log, record


def replica(folder: Path, *made: Made, start: int = 0, name: int = 0) -> PartitionView:
    """Return a replica with one segment of these batches."""
    folder.mkdir(exist_ok=True)
    (folder / f"{0:020}.log").write_bytes(log(made))
    end = max((one.last_offset + 1 for one in made), default=0)
    return PartitionView(
        Location(dir=folder.name), "t", 0, DirectoryState.CURRENT, log_start_offset=Offset(start),
        log_end_offset=Offset(end), size=1, segments=(SegmentSummary(Offset(name), 1),),
        disk=tree_of(str(folder.parent)).directory(str(folder)),
    )  # fmt: skip


def values(base: int, *keys: str, value: bytes | None = b"v", attributes: int = 0) -> Made:
    """Return a batch with a value of each key."""
    records = (record(number, key=key.encode(), value=value) for number, key in enumerate(keys))
    return batch_of(base, *records, attributes=attributes)


def test_deleted_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only values count, within the other log, and outside of transactions; any record of a key is one."""
    cleaned = replica(tmp_path / "b", values(2, "c"), values(9, "z"))
    one = replica(tmp_path / "a", values(0, "a", "b", "c"), values(3, "c"))
    found = returning_keys(one, cleaned)
    assert found is not None
    assert (found.key_count, found.first, found.where, found.other) == (2, 0, one.where, cleaned.where)
    for made in (
        (values(0, "a"), values(1, "a", value=None)), (values(10, "a"),), (values(0, "a", attributes=0x10),),
        (values(0, "z", "c"),), (values(0, "a", attributes=0x30),),
    ):  # fmt: skip
        assert returning_keys(replica(tmp_path / "a", *made), cleaned) is None
    assert returning_keys(one, cleaned._replace(log_start_offset=Offset(2))) is None
    assert returning_keys(one, cleaned._replace(log_end_offset=None)) is None
    assert returning_keys(one, replica(tmp_path / "b", values(9, "z"), name=5)) is None
    monkeypatch.setattr(module, "READ_SIZE_MAX", 0)
    assert returning_keys(one, cleaned) is None
