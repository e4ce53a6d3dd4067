"""Time indexes of a real broker that end in zeros or out of order: retention takes their segments for old."""

import struct
from pathlib import Path

import pytest

import kcheck
from kcheck.disk.local import LOCAL
from kcheck.model.cluster import ClusterImage
from kcheck.model.views import CheckpointOffsets
from kcheck.verbs.log_facts import log_facts

ZEROS, LATE, NEGATIVE = bytes(12), struct.pack(">qi", 5, 19), struct.pack(">qi", -5, 19)


def told(path: Path) -> list[str]:
    """Return what the sentences of P802 say of offsets and time."""
    rows = [row for row in kcheck.predict(path).to_dict()["premises"] if row["id"] == "P802"]
    assert all(row["status"] == "refuted" and row["partition"] == "segments-0" for row in rows)
    return [row["sentence"].removeprefix("segments-0: the time index dates ").partition(";")[0] for row in rows]


def append(disk: Path, base: int, data: bytes) -> None:
    """Put bytes behind the entries of a time index."""
    index = disk / "segments-0" / f"{base:020}.timeindex"
    index.write_bytes(index.read_bytes() + data)


SAID = "offsets {} by timestamp {}, but the records are newer. Retention deletes them {}"
AT_ONCE, LATER = "at its first check", "once the segments before them have expired"


def test_whole_indexes(disk: Path) -> None:
    """Nor is a negative timestamp one, a torn slot, or an index that the start makes."""
    assert told(disk) == []
    append(disk, 0, NEGATIVE)
    append(disk, 20, bytes(11))
    (disk / "segments-0" / f"{40:020}.timeindex").unlink()
    (disk / "segments-0" / f"{60:020}.timeindex").write_bytes(b"")
    assert told(disk) == []


def test_the_first_segments(disk: Path) -> None:
    """A run of segments is one sentence, with the latest of their last entries."""
    append(disk, 0, bytes(4068))
    append(disk, 20, LATE)
    assert told(disk) == [SAID.format("0-39", 5, AT_ONCE)]


def test_the_others(disk: Path) -> None:
    """The active segment too: after a clean stop its index is as it was left."""
    append(disk, 40, ZEROS)
    append(disk, 120, ZEROS)
    assert told(disk) == [SAID.format("40-59", 0, LATER), SAID.format("120-128", 0, LATER)]


def test_an_index_of_zeros(disk: Path) -> None:
    """The batches show that the records are newer."""
    (disk / "segments-0" / f"{0:020}.timeindex").write_bytes(ZEROS)
    assert told(disk) == [SAID.format("0-19", 0, AT_ONCE)]


def test_what_a_start_rebuilds(disk: Path) -> None:
    """After a kill it recovers the segments from the recovery point on."""
    append(disk, 0, ZEROS)
    append(disk, 120, ZEROS)
    (disk / ".kafka_cleanshutdown").unlink()
    point = disk / "recovery-point-offset-checkpoint"
    point.write_text(point.read_text().replace("segments 0 129", "segments 0 120"))
    assert told(disk) == [SAID.format("0-19", 0, AT_ONCE)]


@pytest.mark.parametrize("data", [bytes(4068), LATE])
def test_repair_mends_it(disk: Path, data: bytes) -> None:
    """The start does not: the plan rebuilds the index, and nothing is left of the premise."""
    append(disk, 0, data)
    plan, other = (kcheck.repair(disk, keep=keep).to_dict() for keep in (None, lambda rule, _: rule == "KC315"))
    assert [Path(edit["path"]).name for edit in plan["operations"]] == ["00000000000000000000.timeindex"]
    assert ([], True) == (plan["refused"], "by timestamp" in str(other["refused"]))


@pytest.mark.parametrize(
    ("own", "all_brokers", "seen"),
    [
        ({"retention.ms": "-1"}, {}, (False, True)),
        ({}, {"log.retention.ms": "-1"}, (False, True)),
        ({}, {"log.cleanup.policy": "compact"}, (False, False)),
        ({"retention.ms": "5"}, {"log.retention.ms": "-1"}, (True, True)),
    ],
)
def test_the_dates_that_retention_needs(
    disk: Path, own: dict[str, str], all_brokers: dict[str, str], seen: tuple[bool, bool]
) -> None:
    """Without a limit by time a segment has no false date, but retention by size still deletes some."""
    append(disk, 0, ZEROS)
    (start,) = kcheck.predict(disk).log_dirs
    row = next(row for row in start.partitions if row.dir == "segments-0")
    image = ClusterImage({}, configs={("topic", "segments"): own, ("broker", ""): all_brokers})
    files = LOCAL.directory(str(disk / row.dir))
    facts = log_facts(files, str(disk), row, CheckpointOffsets(), image, clean=True, looks=True, broker_id=1)
    assert facts is not None
    assert (bool(facts.misdated), bool(facts.sizes)) == seen
