"""A copy of the metadata log of real nodes, whole, in parts and damaged."""

import shutil
from pathlib import Path

import pytest

from kcheck.core.cluster.copies import MetadataCopy, RaftEpoch
from kcheck.core.cluster.metadata_replay import Fields, MetadataReplay
from kcheck.disk.local import LOCAL
from kcheck.model.cluster import ClusterImage, PartitionRegistration, QuorumState
from kcheck.model.names import log_name
from kcheck.model.unreadable import UnreadableError
from kcheck.segments.batches import Walk
from kcheck.views.metadata_copy import Extent, complete_copy, read_copy
from tests.builders import flip_byte, write
from tests.record_bytes import batch_of, record
from tests.test_brokers import BROKERS

NAME = "__cluster_metadata-0"
LOGS = sorted(BROKERS.glob(f"*/*/broker-*/data*/{NAME}"))
SNAPSHOTS = BROKERS / "4.3.1" / "coordinators" / "broker-1" / "data1" / NAME
TIERED = BROKERS / "4.3.1" / "tiered" / "broker-1" / "data1" / NAME
LOG = log_name(0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Copy a log with two snapshots, at 43 and 86."""
    return shutil.copytree(SNAPSHOTS, tmp_path / NAME)


def copy_of(path: Path, *, until: int | None = None, whole: bool = False) -> MetadataCopy:
    """Return the copy of node 1."""
    return read_copy(LOCAL, str(path), 1, Extent(until, whole))


def state(image: ClusterImage) -> dict[tuple[str, int], PartitionRegistration]:
    """Return the partitions without what a snapshot does not tell."""
    return {
        (topic.name, number): partition._replace(replicas_since=0, changed=0, last_leader=0, last_leader_epoch=0)
        for topic, number, partition in image.partitions()
    }


@pytest.mark.parametrize("log", LOGS, ids=lambda path: str(path.relative_to(BROKERS)))
def test_a_log_of_a_real_node_is_read_whole(log: Path) -> None:
    """With the newest snapshot, and from as early as the files allow: both say the same."""
    whole, late = copy_of(log, whole=True), copy_of(log)
    assert (whole.problems, late.problems, whole.cut, late.cut) == ((), (), None, None)
    assert state(whole.image) == state(late.image) != {}
    assert (whole.image.brokers, whole.image.features) == (late.image.brokers, late.image.features)
    assert (whole.end, whole.epoch, whole.voters) == (late.end, late.epoch, late.voters)


@pytest.mark.parametrize("end", [43, 86])
def test_a_snapshot_is_what_the_log_says_up_to_there(end: int, path: Path) -> None:
    (name,) = (file.name for file in path.glob(f"{end:020d}-*.checkpoint"))
    snapshot = read_copy(LOCAL, str(path), 1, only=name)
    for file in path.glob("*.checkpoint"):
        file.unlink()
    log = copy_of(path, until=end - 1)
    assert state(snapshot.image) == state(log.image) != {}
    assert (snapshot.image.brokers, snapshot.image.features, snapshot.image.configs) == (
        log.image.brokers, log.image.features, log.image.configs,
    )  # fmt: skip
    assert (snapshot.end, snapshot.snapshot, log.end, log.snapshot) == (end, end, end, 0)


def test_the_epochs_below_a_snapshot_count(path: Path) -> None:
    """A copy of another node may end there; also in a segment that ends before the snapshot."""
    data, starts = bytearray((path / LOG).read_bytes()), {}
    position = 0
    while (base := int.from_bytes(data[position : position + 8])) < 43:
        starts[base] = position
        data[position + 12 : position + 16] = bytes([0, 0, 0, base >= 24])
        position += 12 + int.from_bytes(data[position + 8 : position + 12])
    for base, start in starts.items():
        write(path, {LOG: bytes(data[:start]), log_name(base): bytes(data[start:])})
        copy = copy_of(path)
        crcs = [int.from_bytes(data[at + 17 : at + 21]) for at in (starts[0], starts[24])]
        begun = (RaftEpoch(0, 0, crcs[0]), RaftEpoch(1, 24, crcs[1]), RaftEpoch(2, 100, copy.epochs[-1].crc))
        assert (copy.snapshot, copy.epochs) == (86, begun)
        (path / log_name(base)).unlink()


def test_who_leads_and_who_elects(path: Path) -> None:
    """The voters come from the log, or from version 0 of quorum-state; version 1 comes with KRaft's version."""
    copy = copy_of(path)
    assert (copy.voters, copy.leader, copy.epochs[-1].epoch) == (frozenset({1}), 1, 2)
    assert copy.elected == QuorumState(1, 2, -1, (1,))
    (path / "quorum-state").unlink()
    assert (copy_of(path).elected, copy_of(path).voters) == (None, frozenset({1}))
    (path / "quorum-state").write_bytes(b"{")
    assert copy_of(path).elected is None
    dynamic = copy_of(BROKERS / "4.3.1" / "snapshot" / "broker-1" / "data1" / NAME)
    assert (dynamic.voters, dynamic.image.features["kraft.version"]) == (frozenset({1}), 1)
    assert dynamic.elected is not None
    assert (dynamic.elected.voters, dynamic.elected.voted_directory_id) == (None, "A" * 22)


def test_a_quorum_state_that_cannot_be_read_is_none(path: Path) -> None:
    (path / "quorum-state").unlink()
    (path / "quorum-state").mkdir()
    assert copy_of(path).elected is None
    (path / "quorum-state").rmdir()
    (path / "quorum-state").symlink_to("quorum-state")
    assert copy_of(path).elected is None


@pytest.mark.parametrize("until", [0, 1, 20, 42, 43, 85, 90, 132])
def test_the_metadata_as_of_an_offset(until: int, path: Path) -> None:
    """By the newest snapshot that is not later; the record at the offset counts."""
    for snapshots in (True, False):
        copy = copy_of(path, until=until)
        assert (copy.end, copy.problems) == (until + 1, ())
        assert copy.snapshot == (max(end for end in (0, 43, 86) if end <= until + 1) if snapshots else 0)
        for file in path.glob("*.checkpoint"):
            file.unlink()


def test_a_log_that_is_cut_anywhere(tmp_path: Path) -> None:
    """It ends at its last whole batch, and the rest is told."""
    whole = (TIERED / LOG).read_bytes()
    write(tmp_path / NAME, {LOG: whole})
    ends = set()
    for size in range(0, len(whole), 97):
        write(tmp_path / NAME, {LOG: whole[:size]})
        copy = copy_of(tmp_path / NAME)
        ends.add(copy.end)
        assert copy.problems == ()
        assert copy.cut is None or copy.cut.why == f"no valid batch begins at offset {copy.end}"
        assert copy.is_cut_at_end == (copy.cut is not None)
        assert copy.decides
    assert len(ends) > 20


def test_damage_before_the_newest_snapshot_ends_the_log_there(path: Path) -> None:
    """What a start would truncate: the copy goes no further than the snapshot."""
    second = path / log_name(100)
    second.write_bytes(b"")
    log = path / LOG
    flip_byte(log, 200)
    copy = copy_of(path)
    assert copy.cut is not None
    assert (copy.end, copy.cut.place, copy.is_cut_at_end) == (86, LOG, False)


def test_damage_with_batches_behind_it_is_not_at_the_end(tmp_path: Path) -> None:
    whole = (TIERED / LOG).read_bytes()
    write(tmp_path / NAME, {LOG: whole})
    flip_byte(tmp_path / NAME / LOG, 200)
    assert not copy_of(tmp_path / NAME).is_cut_at_end


def test_a_damaged_snapshot_is_told_and_the_one_before_serves(path: Path) -> None:
    """Without its footer, or with a byte changed."""
    newest = max(path.glob("*.checkpoint"))
    flip_byte(newest, 100)
    copy = copy_of(path)
    assert (copy.snapshot, copy.end) == (43, 133)
    assert [(problem.place, problem.why) for problem in copy.problems] == [(newest.name, "the snapshot is incomplete")]
    assert complete_copy(LOCAL, str(path), 1) is None
    assert (copy.corrupt_snapshots, copy.lacks_base, copy.is_complete) == ((newest.name,), False, True)
    assert state(copy.image) == state(copy_of(SNAPSHOTS).image)
    newest.unlink()
    newest.symlink_to("nowhere")
    assert [problem.place for problem in copy_of(path).problems] in ([], [newest.name])


def test_a_torn_snapshot_that_nothing_replaces_counts_up_to_its_last_batch(path: Path) -> None:
    """Only where it is asked for. With a log that ends before it, an older one is complete, but lacks records."""
    newest, older = max(path.glob("*.checkpoint")), min(path.glob("*.checkpoint"))
    with LOCAL.open(str(newest)) as source:
        *_, footer = Walk(source)
    newest.write_bytes(newest.read_bytes()[: footer.position + 9])
    (path / LOG).unlink()
    copy = copy_of(path)
    assert (copy.snapshot, copy.end, copy.lacks_base, copy.is_complete) == (43, 43, True, False)
    older.unlink()
    for log in (None, log_name(86)):
        if log is not None:
            (path / log).write_bytes(b"")
        copy = copy_of(path)
        assert (copy.end, copy.lacks_base, copy.is_complete, copy.image.topics) == (0, True, False, {})
        torn = read_copy(LOCAL, str(path), 1, Extent(torn=True))
        assert (torn.end, torn.lacks_base, torn.is_complete) == (86, True, False)
        assert torn.image.topics.keys() == copy_of(SNAPSHOTS).image.topics.keys()
    newest.unlink()
    assert copy_of(path).lacks_base


def test_offsets_that_are_missing(path: Path) -> None:
    """Between two segments, at the start, and inside a segment."""
    log = (path / LOG).read_bytes()
    (path / LOG).unlink()
    later = log_name(200)
    write(path, {later: log})
    copy = copy_of(path)
    assert ("offsets are missing before 200" in copy.problems[0].why, copy.end) == (False, 0)
    assert copy.problems[0].why == "no snapshot covers the offsets before 200"
    write(path, {LOG: batch_of(record(0, None, b"\1\x14\0\0"), 1) + batch_of(record(0), 1, base_offset=7)})
    for file in path.glob("*.checkpoint"):
        file.unlink()
    assert [problem.why for problem in copy_of(path).problems] == ["offsets are missing before 7"]
    write(path, {LOG: batch_of(record(0, None, b"\1\x14\0\0"), 1)})
    assert [(problem.place, problem.why) for problem in copy_of(path).problems] == [
        (later, "offsets are missing before 200")
    ]


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (None, "the record cannot be read: "),
        (b"", "the record cannot be read: "),
        (b"\0\2\0", "the record cannot be read: "),
        (b"\1\x63\0\0", "the record cannot be read: "),
        (bytes.fromhex("0102000274") + bytes(16) + b"\0\0", "1 bytes follow the message"),
        (bytes.fromhex("0109001c4f0e5a9b2d4c3e8f7061b2c3d4e5f600"), "is removed, and does not exist"),
        (bytes.fromhex("0102000274"), "the record cannot be read: "),
    ],
)
def test_a_record_that_cannot_be_read_is_told(value: bytes | None, why: str, tmp_path: Path) -> None:
    """The next ones are still replayed."""
    topic = bytes.fromhex("010200076f72646572731c4f0e5a9b2d4c3e8f7061b2c3d4e5f600")
    data = batch_of(record(0, None, value) + record(1, None, topic), 2)
    write(tmp_path / NAME, {LOG: data})
    copy = copy_of(tmp_path / NAME)
    (problem,) = copy.problems
    assert problem.place == "offset 0"
    assert why in problem.why
    assert [topic.topic_id for topic in copy.image.topics.values()] == ["HE8OWpstTD6PcGGyw9Tl9g"]
    assert complete_copy(LOCAL, str(tmp_path / NAME), 1) is None


def test_the_worked_example_of_the_layouts(tmp_path: Path) -> None:
    """A topic, a partition and a change: epochs rise, the directories stay."""
    topic = "010200076f72646572731c4f0e5a9b2d4c3e8f7061b2c3d4e5f600"
    partition = (
        "010301000000031c4f0e5a9b2d4c3e8f7061b2c3d4e5f6040000000100000002000000030400000001000000020000000301010000"
        "00010000000400000009047a1b2c3d4e5f40619283a4b5c6d7e8f900000000000000000000000000000001"
        "0000000000000000000000000000000000"
    )
    change = "010502000000031c4f0e5a9b2d4c3e8f7061b2c3d4e5f603000903000000020000000301040000000206050200000001"
    values = (topic, partition, change)
    body = b"".join(record(number, None, bytes.fromhex(value)) for number, value in enumerate(values))
    write(tmp_path / NAME, {LOG: batch_of(body, 3)})
    ((image, number, registered),) = copy_of(tmp_path / NAME).image.partitions()
    assert (image.name, number) == ("orders", 3)
    assert registered == PartitionRegistration(
        (1, 2, 3), (2, 3), 2, 5, 10, elr=(1,), last_leader=2, last_leader_epoch=5, replicas_since=1, changed=2,
        directories=("ehssPU5fQGGSg6S1xtfo-Q", "AAAAAAAAAAAAAAAAAAAAAQ", "AAAAAAAAAAAAAAAAAAAAAA"),
    )  # fmt: skip


def test_batches_that_hold_no_records(tmp_path: Path) -> None:
    """Records that end too early are told; what stands before counts."""
    write(tmp_path / NAME, {LOG: batch_of(record(0, None, b"\1\x14\0\0"), 3, last_offset=2)})
    copy = copy_of(tmp_path / NAME)
    assert [problem.place for problem in copy.problems] == [LOG]


def test_each_record_is_observed_with_the_replay(path: Path) -> None:
    seen: list[tuple[str, int, bool]] = []

    def observe(replay: MetadataReplay, name: str, data: Fields, offset: int, timestamp: int) -> None:
        assert data is not None
        seen.append((name, offset, timestamp > 10**12))
        assert replay.problems == []

    read_copy(LOCAL, str(path), 1, Extent(whole=True), observe)
    assert ("TopicRecord", True) in {(name, recent) for name, _, recent in seen}
    assert [offset for _, offset, _ in seen] == sorted(offset for _, offset, _ in seen)


def test_a_directory_that_is_gone(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError):
        read_copy(LOCAL, str(tmp_path / "gone"), 1)
    assert complete_copy(LOCAL, str(tmp_path / "gone"), 1) is None


def test_a_copy_knows_the_log_dir_that_holds_it() -> None:
    assert copy_of(SNAPSHOTS).directory_id == "2N4bbI38iLc6fGGpUziucA"
