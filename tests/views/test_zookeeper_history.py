"""The znodes as of a transaction, and the changes of a partition, by the files of a ZooKeeper server."""

import json
from collections.abc import Iterable
from pathlib import Path
from shutil import copytree

import pytest

from kcheck.errors import UsageError
from kcheck.views.zookeeper_copy import read_zookeeper
from kcheck.views.zookeeper_history import zookeeper_history
from tests.zookeeper_bytes import WRITTEN, create, log, node, record, set_data, snapshot, text

CREATE, DELETE, SET = 1, 2, 5
TOPIC = "/brokers/topics/t"
STATE = f"{TOPIC}/partitions/0/state"
REPLICAS = b'{"version":1,"partitions":{"0":[1,2]}}'
PARENTS = ("/brokers", "/brokers/topics", TOPIC, f"{TOPIC}/partitions", f"{TOPIC}/partitions/0")
Row = tuple[str, int, int, tuple[int, ...], int | None]


def state(leader: int, epoch: int, isr: Iterable[int] = (1,)) -> bytes:
    """Return the data of a state."""
    return json.dumps({"controller_epoch": 1, "leader": leader, "leader_epoch": epoch, "isr": [*isr]}).encode()


CREATED = [create(path, REPLICAS if path == TOPIC else b"") for path in PARENTS]
CHANGES = [
    *((CREATE, body) for body in CREATED), (CREATE, create(STATE, state(1, 0, (1, 2)))),
    (SET, set_data(STATE, state(1, 0), 1)), (SET, set_data(STATE, state(-1, 1), 2)),
    (SET, set_data("/brokers", b"", 1)), (SET, set_data(STATE, state(2, 2, (2,)), 3)),
    (DELETE, text(STATE)), (DELETE, text(PARENTS[4])), (DELETE, text(PARENTS[3])), (DELETE, text(TOPIC)),
]  # fmt: skip
"""A topic comes in transaction 3, its state in 6; it changes in 7, 8 and 10, and goes in 11 to 14."""
ROWS: list[Row] = [
    ("created", 3, -1, (), None), ("changed", 6, 1, (1, 2), 1), ("changed", 7, 1, (1,), 1),
    ("changed", 8, -1, (1,), 1), ("changed", 10, 2, (2,), 2), ("removed", 11, 2, (2,), 2),
]  # fmt: skip


def records(first: int, last: int) -> list[bytes]:
    """Return some of the transactions."""
    return [record(*CHANGES[zxid - 1], zxid=zxid) for zxid in range(first, last + 1)]


def znodes(data: bytes, zxid: int, version: int) -> list[bytes]:
    """Return the znodes of a snapshot with this state."""
    return [
        *(node(path, REPLICAS if path == TOPIC else b"", zxid=1) for path in PARENTS),
        node(STATE, data, zxid=zxid, version=version),
    ]


def server(folder: Path, **files: bytes) -> str:
    """Write the files of a server: `log_1` is log.1."""
    (folder / "version-2").mkdir(parents=True)
    for name, data in files.items():
        (folder / "version-2" / name.replace("_", ".")).write_bytes(data)
    return str(folder)


def history(path: str, until: int | None = None) -> list[Row]:
    """Return the changes of t-0."""
    changes, problems = zookeeper_history(path, None, "", ("t", 0), until)
    assert not problems
    return [(row.kind, row.offset, row.after.leader, row.after.isr, row.after.last_leader) for row in changes]


def leader(path: str, at: int | None = None) -> int:
    """Return who leads t-0."""
    return read_zookeeper(path, at=at).image.topics["t"].partitions[0].leader


def test_logs_from_the_first_transaction_on(tmp_path: Path) -> None:
    """Also with a snapshot between, and up to a transaction."""
    path = server(tmp_path / "a", log_1=log(*records(1, 8)), log_9=log(*records(9, 14)))
    assert history(path) == ROWS
    assert history(path, 7) == ROWS[:3]
    (tmp_path / "a" / "version-2" / "snapshot.8").write_bytes(snapshot(znodes(state(-1, 1), 8, 2)))
    assert history(path) == ROWS
    assert [leader(path, zxid) for zxid in (3, 6, 8, 9, 10)] == [-1, 1, -1, -1, 2]
    told = read_zookeeper(path, at=9)
    assert (told.zxid, told.timestamp) == (9, 1_700_000_000_000)
    assert read_zookeeper(path, at=0).image.topics == {}
    assert read_zookeeper(path).zxid == 14


def test_a_snapshot_that_shows_later_changes(tmp_path: Path) -> None:
    """Written while transactions 7 to 10 came. It does not serve for a moment between, and no change comes twice."""
    path = server(tmp_path / "a", snapshot_6=snapshot(znodes(state(2, 2, (2,)), 10, 3)), log_7=log(*records(7, 14)))
    assert history(path) == [("snapshot", -1, 2, (2,), 2), ROWS[-1]]
    assert leader(path, 10) == 2
    with pytest.raises(UsageError, match=r"--at 0x9: .* does not hold every transaction up to it"):
        read_zookeeper(path, at=9)
    (tmp_path / "a" / "version-2" / "snapshot.5").write_bytes(snapshot(znodes(state(1, 0), 5, 0)[:-1]))
    (tmp_path / "a" / "version-2" / "log.6").write_bytes(log(*records(6, 6)))
    assert leader(path, 9) == -1
    assert history(path) == [("snapshot", -1, -1, (), None), *ROWS[1:]]


def test_missing_and_damaged_logs(tmp_path: Path) -> None:
    """The history begins with the oldest snapshot from which on nothing is missing."""
    early, late = snapshot(znodes(state(1, 0, (1, 2)), 6, 0)), snapshot(znodes(state(-1, 1), 8, 2))
    whole = [("snapshot", -1, -1, (1,), 1), *ROWS[4:]]
    gap = server(
        tmp_path / "a", snapshot_6=early, snapshot_8=late, log_7=log(*records(8, 8)), log_9=log(*records(9, 14))
    )
    assert history(gap) == whole
    assert history(gap, 7) == [("snapshot", -1, 1, (1, 2), 1)]
    with pytest.raises(UsageError, match="does not hold every"):
        read_zookeeper(gap, at=5)
    with pytest.raises(UsageError, match="does not hold every"):
        read_zookeeper(gap, at=7)
    assert leader(gap, 6) == 1
    damaged = bytearray(log(*records(1, 7)))
    damaged[len(damaged) - 60] ^= 1
    broken = snapshot(())[:-1]
    path = server(tmp_path / "b", log_1=bytes(damaged), snapshot_2=broken, snapshot_9=late, log_9=log(*records(9, 14)))
    assert history(path) == whole
    assert leader(path, 9) == -1
    with pytest.raises(UsageError, match="does not hold every"):
        read_zookeeper(path, at=7)
    lost = server(tmp_path / "c", log_1=log(*records(1, 6)), log_8=log(*records(8, 14)), snapshot_3=broken)
    assert history(lost) == [*ROWS[:2], *ROWS[3:]]


def test_states_that_are_unreadable(tmp_path: Path) -> None:
    """The change is left out, and told; also the state of a snapshot."""
    nonsense = record(SET, set_data(STATE, b"secret", 1), zxid=7)
    path = server(tmp_path / "a", log_1=log(*records(1, 6), nonsense, *records(8, 10)))
    changes, problems = zookeeper_history(path, None, "", ("t", 0), None)
    assert [row.offset for row in changes] == [3, 6, 8, 10]
    assert [str(problem) for problem in problems] == [
        "MetadataProblem(place='transaction 0x7', why='its data is no JSON object')"
    ]
    path = server(tmp_path / "b", snapshot_6=snapshot(znodes(b"?", 6, 0)), log_7=log(*records(7, 10)))
    changes, problems = zookeeper_history(path, None, "", ("t", 0), None)
    assert ([row.kind for row in changes], problems[0].place) == (["created", "changed", "changed"], "the snapshot")


@pytest.mark.parametrize("version", ["1.1.1", "3.9.2"])
def test_the_end_of_the_history_is_the_state_of_now(version: str, tmp_path: Path) -> None:
    """By all files, by the logs alone, and by the newest snapshots alone."""
    whole = copytree(WRITTEN / version, tmp_path / "whole")
    metadata = read_zookeeper(str(whole))
    for topic in metadata.image.topics.values():
        for number, partition in topic.partitions.items():
            changes, _ = zookeeper_history(str(whole), None, metadata.chroot, (topic.name, number), None)
            assert changes[-1].after == partition
            assert (changes[0].kind, changes[-1].topic_id) == ("created", topic.topic_id)
            for change in changes:
                then = read_zookeeper(str(whole), at=change.offset).image.topics[topic.name].partitions[number]
                assert then._replace(last_leader=None, last_leader_epoch=None) == change.after._replace(
                    last_leader=None, last_leader_epoch=None
                )
