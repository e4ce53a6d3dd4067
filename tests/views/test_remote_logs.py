"""The remote part of partitions, by the copies of `__remote_log_metadata` in the log dirs of a command."""

import shutil
from pathlib import Path

import pytest

from kcheck.core.releases.releases import release
from kcheck.model.cluster import ClusterImage
from kcheck.model.entries import Offset
from kcheck.model.remote_log import MetadataConflict, MetadataState, RemoteLog
from kcheck.model.report import PartitionFilter
from kcheck.verbs.next_starts import NextStarts, next_starts
from kcheck.views.log_dir import LogDirs, partitions
from kcheck.views.remote_logs import RemoteLogs
from kcheck.views.targets import replica_targets
from tests.tiered_states import EMPTY, GAP, KILLED, LOST, OLD_LEADER, brokers, state

WANTED = PartitionFilter()


def remote(arguments: list[str], kafka: str = "4.3") -> dict[tuple[int | None, str | None], RemoteLog]:
    """Return the remote logs of the log dirs, by broker and directory."""
    log_dirs, targets = LogDirs(release(kafka)), replica_targets(arguments)
    starts = next_starts(arguments, targets, WANTED, log_dirs)
    logs = {}
    for target in targets:
        log_dir = log_dirs.open(target)
        for view in partitions(target.tree, log_dir, wanted=WANTED, walk_all=False, release=release(kafka)):
            placed = starts.tiered(log_dir, view)
            if placed.remote is not None:
                logs[placed.where.broker_id, placed.where.dir] = placed.remote
    return logs


def test_any_copy_will_do(tmp_path: Path) -> None:
    """Of several the one that ends last: broker 2 was down when broker 1 wrote the last records."""
    before = state(OLD_LEADER, "1-before", tmp_path)
    both, alone = remote(brokers(before)), remote([f"2={before}/broker-2"])
    assert {key: len(log.segments) for key, log in both.items()} == {
        (1, "empty-0"): 4, (1, "uncl-0"): 8, (1, "wipe-0"): 4, (2, "uncl-0"): 8, (2, "wipe-0"): 4,
    }  # fmt: skip
    assert all(log.is_known for log in both.values())
    assert (len(alone[2, "uncl-0"].segments), alone[2, "uncl-0"].state) == (4, MetadataState.READ)


def first_size(data: bytes) -> int:
    """Return the size of the first batch of a log."""
    return 12 + int.from_bytes(data[8:12], "big")


def other_copy(tmp_path: Path) -> tuple[Path, Path, bytes]:
    """Change the second batch of metadata on broker 2; return the disks, that log and its old bytes."""
    before = state(OLD_LEADER, "1-before", tmp_path)
    number = remote(brokers(before))[1, "uncl-0"].metadata_partition
    (log,) = before.glob(f"broker-2/__remote_log_metadata-{number}/*.log")
    data = log.read_bytes()
    size = first_size(data)
    log.write_bytes(data[:size] + other_epoch(data[size:]))
    return before, log, data


def test_copies_that_differ(tmp_path: Path) -> None:
    """After an unclean election one copy can have other batches at the same offsets. Neither is taken silently."""
    before, log, data = other_copy(tmp_path)
    size = first_size(data)
    found = remote(brokers(before))[1, "uncl-0"]
    assert (found.state, found.conflict, found.segments) == (
        MetadataState.CONTRADICTORY, MetadataConflict((1, 2), Offset(1)), (),
    )  # fmt: skip
    for agrees in (data[size:], data[:-1] + bytes([data[-1] ^ 1]), other_epoch(data[:60])):
        log.write_bytes(agrees)
        assert remote(brokers(before))[1, "uncl-0"].state is MetadataState.READ


@pytest.mark.parametrize(
    ("marks", "state_of"),
    [
        ({2: 1}, MetadataState.READ),
        ({2: 2}, MetadataState.CONTRADICTORY),
        ({2: None}, MetadataState.CONTRADICTORY),
        ({1: 0, 2: 1}, MetadataState.READ),
    ],
)
def test_a_copy_out_of_sync_that_its_broker_truncates(
    marks: dict[int, int | None], state_of: MetadataState, tmp_path: Path
) -> None:
    """Seen on 4.3.1: broker 2 stopped first, its last record was not committed, and broker 1 wrote it once more."""
    before, log, _ = other_copy(tmp_path)
    number = log.parent.name.rpartition("-")[2]
    for broker, mark in marks.items():
        set_mark(before / f"broker-{broker}", f"__remote_log_metadata {number}", mark)
    found = remote(brokers(before))[1, "uncl-0"]
    assert found.state is state_of
    assert len(found.segments) == (8 if state_of is MetadataState.READ else 0)


def test_a_longer_copy_out_of_sync(tmp_path: Path) -> None:
    """The copy in sync counts, though it ends before the other one."""
    before = state(OLD_LEADER, "1-before", tmp_path)
    number = remote(brokers(before))[1, "uncl-0"].metadata_partition
    (in_sync,) = before.glob(f"broker-1/__remote_log_metadata-{number}/*.log")
    (other,) = before.glob(f"broker-2/__remote_log_metadata-{number}/*.log")
    data = in_sync.read_bytes()
    size = first_size(data)
    other.write_bytes(data[:size] + other_epoch(data[size:]))
    in_sync.write_bytes(data[: size + first_size(data[size:])])
    for broker, mark in ((1, 2), (2, 1)):
        set_mark(before / f"broker-{broker}", f"__remote_log_metadata {number}", mark)
    found = remote(brokers(before))[1, "uncl-0"]
    assert (found.state, len(found.segments)) == (MetadataState.READ, 1)


def set_mark(log_dir: Path, partition: str, mark: int | None) -> None:
    """Set the checkpointed high watermark of a partition, or remove it."""
    path = log_dir / "replication-offset-checkpoint"
    rows = [row for row in path.read_text().splitlines()[2:] if not row.startswith(f"{partition} ")]
    rows += [] if mark is None else [f"{partition} {mark}"]
    path.write_text("\n".join(("0", str(len(rows)), *rows)) + "\n")


def other_epoch(batches: bytes) -> bytes:
    """Return batches with another leader epoch in the first one, which no CRC covers."""
    return batches[:12] + (9).to_bytes(4, "big") + batches[16:]


def test_states_of_segments(tmp_path: Path) -> None:
    """The store refused every copy from offset 20 on."""
    log = remote([str(state(GAP, "2-stopped", tmp_path) / "broker-1")])[1, "gap-0"]
    assert [(row.start_offset, int(row.state)) for row in log.segments] == [
        (0, 1), (5, 1), (10, 1), (15, 1), (20, 3), (20, 3), (20, 3), (20, 3),
    ]  # fmt: skip
    assert (log.metadata_partition, log.leader, log.retention.bytes) == (2, -1, -1)


def test_what_brokers_say_of_retention(tmp_path: Path) -> None:
    """A topic without its own has that of the server.properties that lists the log dir; a broken file says nothing."""
    of = state(GAP, "2-stopped", tmp_path)
    settings = of / "server.properties"
    for text, expected in (
        ("log.retention.bytes=7\nlog.retention.minutes=3\n", (180_000, 7)),
        ("log.retention.bytes=x\n", (604_800_000, -1)),
    ):
        settings.write_text(f"log.dirs={of}/broker-1\nnode.id=1\n{text}")
        log = remote([str(of / "broker-1")])[1, "gap-0"]
        assert (log.retention.bytes, log.metadata_topic.retention.ms) == (-1, -1)
        assert log.metadata_topic.retention.bytes == expected[1]
    settings.write_bytes(b"log.dirs=\xff\\u00")
    assert remote([str(of / "broker-1")])[1, "gap-0"].metadata_topic.retention.bytes is None


def test_lost_metadata(tmp_path: Path) -> None:
    """Its directories are missing, or empty, on every broker that has a replica."""
    lost = remote([str(state(LOST, "1b-dirs-removed", tmp_path) / "broker-1")])
    assert {key: log.state for key, log in lost.items()} == dict.fromkeys(
        ((1, "m-0"), (1, "n-0")), MetadataState.MISSING
    )
    started = remote([str(tmp_path / "2-started" / "broker-1")])
    assert started[1, "m-0"].state is MetadataState.MISSING


def test_metadata_of_brokers_that_are_not_given(tmp_path: Path) -> None:
    """One of two brokers has the directories: the other says nothing alone."""
    joined = state(KILLED, "4-joined", tmp_path)
    for path in joined.glob("broker-2/__remote_log_metadata-*"):
        shutil.rmtree(path)
    alone = remote([f"2={joined}/broker-2"])
    assert {log.state for log in alone.values()} == {MetadataState.NOT_GIVEN}
    assert {log.state for log in remote(brokers(joined)).values()} == {MetadataState.READ}


def test_a_copy_below_its_high_watermark(tmp_path: Path) -> None:
    """If it is the only one, the end of the metadata is lost."""
    folder = state(LOST, "1-before", tmp_path) / "broker-1"
    marks = folder / "replication-offset-checkpoint"
    lines = [f"{row.rpartition(' ')[0]} 99" if "metadata 2 " in row else row for row in marks.read_text().splitlines()]
    marks.write_text("\n".join(lines) + "\n")
    logs = remote([str(folder)])
    assert (logs[1, "m-0"].state, logs[1, "n-0"].state) == (MetadataState.SHORT, MetadataState.READ)
    assert (logs[1, "m-0"].is_cut, len(logs[1, "m-0"].segments)) == (True, 4)  # brokers find what is left


def test_damaged_metadata_is_not_known(tmp_path: Path) -> None:
    """A batch whose CRC is wrong, a value that is none, a file that cannot be read, an end that is cut."""
    folder = state(LOST, "1-before", tmp_path) / "broker-1"
    (log,) = folder.glob("__remote_log_metadata-2/*.log")
    data = log.read_bytes()
    for damaged in (data[:-7], data[:-1] + b"\xff", data[:100] + b"\xff" + data[101:]):
        log.write_bytes(damaged)
        assert remote([str(folder)])[1, "m-0"].state is not MetadataState.READ
    log.unlink()
    log.symlink_to("/nowhere")
    assert remote([str(folder)])[1, "m-0"].state is MetadataState.NOT_GIVEN


def test_without_the_metadata_of_the_cluster(tmp_path: Path) -> None:
    """The records themselves name the partition; a log whose start is local has no remote part then."""
    led = state(EMPTY, "3-broker-2-led", tmp_path)
    for path in led.glob("*/__cluster_metadata-0"):
        shutil.rmtree(path)
    logs = remote(brokers(led))
    assert {key: len(log.segments) for key, log in logs.items() if key[0] == 2} == {(2, "uncl-0"): 8, (2, "wipe-0"): 4}
    assert logs[1, "empty-0"].leader is None
    for path in led.glob("*/__remote_log_metadata-*"):
        shutil.rmtree(path)
    assert {log.state for log in remote(brokers(led)).values()} == {MetadataState.NOT_GIVEN}


def test_a_topic_id_that_is_not_known(tmp_path: Path) -> None:
    """Without the metadata of the cluster only partition.metadata has it."""
    folder = state(LOST, "1-before", tmp_path) / "broker-1"
    shutil.rmtree(folder / "__cluster_metadata-0")
    (folder / "m-0" / "partition.metadata").unlink()
    assert remote([str(folder)])[1, "m-0"].state is MetadataState.NOT_GIVEN
    (folder / "n-0" / "partition.metadata").write_text("version: 0\ntopic_id: short\n")
    assert remote([str(folder)])[1, "n-0"].state is MetadataState.NOT_GIVEN


@pytest.mark.parametrize("kafka", ["3.5", "2.8"])
def test_releases_without_remote_storage(tmp_path: Path, kafka: str) -> None:
    assert remote([str(state(LOST, "1-before", tmp_path) / "broker-1")], kafka) == {}


def test_the_same_log_dirs_are_read_once(tmp_path: Path) -> None:
    """One command can ask for fewer log dirs later."""
    before = state(OLD_LEADER, "1-before", tmp_path)
    log_dirs, targets = LogDirs(release("4.3")), replica_targets(brokers(before))
    both = RemoteLogs(targets, log_dirs, lambda _: None)
    assert both.has_all_of(RemoteLogs(targets[:1], log_dirs, lambda _: None))
    assert not RemoteLogs(targets[:1], log_dirs, lambda _: None).has_all_of(both)


def test_a_log_dir_that_is_not_given_can_have_the_metadata(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On 4.3.1 a disk with a metadata partition went offline: the broker made no other log, and no log start moved."""
    of = state(LOST, "1b-dirs-removed", tmp_path) / "broker-1"
    assert remote([str(of)])[1, "m-0"].state is MetadataState.MISSING
    image_of = NextStarts.image_of

    def with_two(starts: NextStarts, cluster_id: str | None) -> ClusterImage | None:
        image = image_of(starts, cluster_id)
        assert image is not None
        brokers_of = {number: row._replace(log_dirs=(*row.log_dirs, "A" * 22)) for number, row in image.brokers.items()}
        return image._replace(brokers=brokers_of)

    monkeypatch.setattr(NextStarts, "image_of", with_two)
    assert remote([str(of)])[1, "m-0"].state is MetadataState.NOT_GIVEN
