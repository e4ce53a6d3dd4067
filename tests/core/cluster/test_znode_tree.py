"""Which znodes a server has after its start, by snapshots and transactions."""

from collections.abc import Mapping

import pytest

from kcheck.core.cluster.znode_tree import chroot_of, chroots, holds_the_first, replay, restore
from kcheck.model.parsed import Defect, Parsed
from kcheck.model.znodes import (
    CloseSession,
    CreateNode,
    DeleteNode,
    SetNode,
    Znode,
    ZnodeChange,
    ZookeeperSnapshot,
    ZookeeperTransaction,
)
from kcheck.zookeeper.snapshot import parse, zxid_of
from kcheck.zookeeper.transaction_log import transactions
from tests.zookeeper_bytes import WRITTEN


def _log(*changes: ZnodeChange, first: int = 1) -> list[ZookeeperTransaction | Defect]:
    return [ZookeeperTransaction(0, zxid, 0, (change,)) for zxid, change in enumerate(changes, first)]


def test_transactions_change_znodes() -> None:
    tree = replay(
        None,
        {
            4: _log(DeleteNode("/a/b"), CreateNode("/x/y", b"", 0), SetNode("/x", b"", 1), DeleteNode("/x"), first=4),
            1: _log(CreateNode("/a", b"1", 0), CreateNode("/a/b", None, 0), SetNode("/a", b"2", 1)),
        },
    )
    assert {path: node for path, node in tree.znodes.items() if "zoo" not in path} == {
        "/": Znode(b""),
        "/a": Znode(b"2", 1, 3, 1, 0),
    }
    assert (tree.zxid, tree.stopped_by) == (7, None)


def test_the_end_of_a_session_deletes_its_znodes() -> None:
    """Those that its transaction names, and those that the tree knows; not one that was created again since."""
    made = ZookeeperSnapshot(1, {"/": Znode(b""), "/s": Znode(b"", ephemeral_owner=9), "/p": Znode(b"")})
    changes = (
        CreateNode("/e", b"", 7), CreateNode("/again", b"", 7), DeleteNode("/again"), CreateNode("/again", b"", 8),
        CloseSession(7, ("/e",)), CloseSession(9, ()), CloseSession(10, ()),
    )  # fmt: skip
    assert set(replay(made, {2: _log(*changes, first=2)}).znodes) == {"/", "/p", "/again"}


def test_replay_of_what_a_fuzzy_snapshot_already_holds_changes_nothing() -> None:
    made = ZookeeperSnapshot(1, {"/": Znode(b""), "/a": Znode(b"3", 2, 4, 2)})
    changes = (CreateNode("/a", b"1", 0), CreateNode("/b", b"", 0), DeleteNode("/b"), DeleteNode("/b"))
    assert replay(made, {1: _log(*changes, first=1)}).znodes == made.znodes


def test_the_znodes_as_of_a_transaction() -> None:
    """Of an observer, each call sees the znodes after one transaction; the first what the replay begins with."""
    logs = {1: _log(CreateNode("/a", b"1", 0), SetNode("/a", b"2", 1), DeleteNode("/a"))}
    seen: list[tuple[int | None, bytes | None]] = []

    def observe(znodes: Mapping[str, Znode], transaction: ZookeeperTransaction | None) -> None:
        seen.append((transaction and transaction.zxid, znodes["/a"].data if "/a" in znodes else None))

    tree = replay(None, logs, 2, observe)
    assert (tree.zxid, tree.znodes["/a"].data, tree.timestamp) == (2, b"2", 0)
    assert seen == [(None, None), (1, b"1"), (2, b"2")]
    assert replay(None, logs, 0).timestamp is None


def test_the_first_transaction_of_all() -> None:
    """A standalone server begins in epoch 0, an ensemble in epoch 1."""
    epoch = 1 << 32
    assert [holds_the_first([zxid]) for zxid in (1, 2, epoch + 1, epoch + 2, 2 * epoch + 1)] == [
        True, False, True, False, False,
    ]  # fmt: skip
    assert not holds_the_first([])


def test_a_log_that_no_server_reads_ends_the_replay() -> None:
    """After a torn tail the next log counts; after a wrong checksum none does."""
    torn, wrong = Defect("torn", 5, accepted=True), Defect("wrong", 5)
    more = _log(CreateNode("/b", b"", 0), first=9)
    assert "/b" in replay(None, {1: [torn], 9: more}).znodes
    tree = replay(None, {1: [wrong], 9: more})
    assert (tree.zxid, tree.stopped_by) == (0, wrong)
    assert replay(ZookeeperSnapshot(8, {}), {1: [wrong], 8: more, 9: []}).stopped_by is None


def test_too_many_znodes_end_the_replay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kcheck.core.cluster.znode_tree.ZNODE_COUNT_MAX", 4)
    tree = replay(None, {1: _log(*(CreateNode(f"/{number}", b"", 0) for number in range(9)))})
    assert (len(tree.znodes), tree.zxid) == (5, 2)
    assert tree.stopped_by == Defect("there are more than 4 znodes", 0)


def test_a_missing_log_is_a_gap() -> None:
    """Transactions are numbered one by one; a new leader of ZooKeeper begins again at 1, in the next epoch."""
    epoch = 1 << 32
    for first, gap_after in ((2, 1), (epoch, None), (epoch + 1, None), (epoch + 2, 1)):
        made = ZookeeperSnapshot(1, {"/": Znode(b"")})
        more = _log(CreateNode("/a", b"", 0), first=first + 9 if first < epoch else first)
        assert replay(made, {1: more}).gap_after == gap_after


def test_a_server_starts_with_the_newest_snapshot_that_is_intact() -> None:
    """It starts with none if all are damaged; without a snapshot it has the logs alone."""
    damaged = Parsed(ZookeeperSnapshot(4, {}), (Defect("cut", 0),))
    older = [Parsed(ZookeeperSnapshot(zxid, {"/": Znode(b"")})) for zxid in (3, 2)]
    logs = {1: _log(CreateNode("/a", b"", 0)), 4: _log(CreateNode("/b", b"", 0), first=4)}
    tree = restore([damaged, *older], logs)
    assert (set(tree.znodes), tree.zxid, tree.no_snapshot) == ({"/", "/b"}, 4, False)
    tree = restore([damaged, damaged], logs)
    assert ("/a" in tree.znodes, tree.gap_after, tree.no_snapshot) == (True, 1, True)
    assert not restore([], logs).no_snapshot


@pytest.mark.parametrize(
    ("connect", "chroot"), [("a:1,b:2", ""), (" a:1/ ", ""), ("a:1,b:2/kafka/x", "/kafka/x"), ("a:1/k/", "/k")]
)
def test_chroot_of_a_setting(connect: str, chroot: str) -> None:
    assert chroot_of(connect) == chroot


def test_chroots() -> None:
    assert chroots(["/", "/brokers/topics/t", "/k/1/brokers/topics", "/x/brokers/topicsx"]) == ("", "/k/1")


@pytest.mark.parametrize("version", ["1.1.1", "3.9.2"])
def test_any_snapshot_and_the_logs_give_the_same_znodes(version: str) -> None:
    files = list((WRITTEN / version / "version-2").iterdir())
    logs = {zxid_of(file.name, "log") or 0: file for file in files if file.name.startswith("log")}
    snapshots = [parse(file.name, file.read_bytes(), 1 << 24).value for file in files if file.name.startswith("snap")]

    def restored(snapshot: ZookeeperSnapshot | None) -> dict[str, Znode]:
        tree = replay(snapshot, {zxid: transactions(log.read_bytes()) for zxid, log in logs.items()})
        assert (tree.stopped_by, tree.gap_after) == (None, None)
        return {path: node for path, node in tree.znodes.items() if not path.startswith("/zookeeper") and path != "/"}

    assert len(snapshots) > 1
    wanted = restored(None)
    assert "/brokers/topics/plain/partitions/0/state" in wanted
    assert "/brokers/ids/1" not in wanted
    assert all(restored(snapshot) == wanted for snapshot in snapshots)
