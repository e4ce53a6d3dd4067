"""The snapshots and logs of ZooKeeper, as real servers of two lines wrote them and as damage leaves them."""

import gzip
import struct
from pathlib import Path

import pytest

from kcheck.model.parsed import Defect
from kcheck.model.znodes import CloseSession, CreateNode, DeleteNode, SetNode, Znode, ZookeeperTransaction
from kcheck.zookeeper.jute import JuteReader
from kcheck.zookeeper.snapshot import parse, zxid_of
from kcheck.zookeeper.transaction_log import CONTAINER_OWNER, LENGTH_MAX, TTL_OWNER, transactions
from tests.zookeeper_bytes import WRITTEN, buffer, create, log, multi, node, record, sealed, set_data, snapshot, text

SIZE_MAX = 1 << 24
PLAIN = snapshot([node("/a", b"1", zxid=3, version=2, owner=9), node("/a/b", None)], {9: 4000})
DIGEST = struct.pack(">qiq", 5, 2, 77)
LOG = log(record(1, create("/a", b"1"), zxid=2), record(5, set_data("/a", b"2", 1), zxid=3))
SECOND = 16 + len(record(1, create("/a", b"1")))


def _changes(data: bytes) -> list[object]:
    return [item if isinstance(item, Defect) else item.changes for item in transactions(data)]


def _defect(data: bytes) -> Defect:
    *whole, last = transactions(data)
    assert all(isinstance(item, ZookeeperTransaction) for item in whole)
    assert isinstance(last, Defect)
    return last


@pytest.mark.parametrize(
    "path", sorted(WRITTEN.glob("*/version-2/*")), ids=lambda path: f"{path.parts[-3]}-{path.name}"
)
def test_what_servers_wrote(path: Path) -> None:
    """Nothing in them is damaged, and each file names the transaction that it begins or ends with."""
    zxid = zxid_of(path.name, path.name.partition(".")[0])
    if path.name.startswith("snapshot"):
        parsed = parse(path.name, path.read_bytes(), SIZE_MAX)
        assert (parsed.defects, parsed.value.zxid) == ((), zxid)
        assert {"/", "/zookeeper/quota"} <= set(parsed.value.znodes)
        assert zxid == 0 or "/brokers/ids" in parsed.value.znodes
    else:
        first, *_, last = transactions(path.read_bytes())
        assert isinstance(first, ZookeeperTransaction)
        assert isinstance(last, ZookeeperTransaction)
        assert zxid == first.zxid
        assert first.zxid < last.zxid


def test_zxid_of_a_name() -> None:
    names = {
        "snapshot.4a": 74,
        "snapshot.4a.gz": 74,
        "snapshot": None,
        "snapshot.x": None,
        "log.1": None,
        "snapshot.1_0": None,
        "snapshot.0x1": None,
        "snapshot.11112222333344445": None,
        "snapshot.1.2.3": None,
    }
    assert names == {name: zxid_of(name, "snapshot") for name in names}


def test_snapshot() -> None:
    value, defects = parse("snapshot.4a", PLAIN, SIZE_MAX)
    assert value.last_change == max(node.mzxid for node in value.znodes.values())
    assert (value.zxid, defects) == (74, ())
    assert value.znodes["/a"] == Znode(b"1", 3, 3, 2, 9)
    assert value.znodes["/a/b"].data is None
    assert list(value.znodes) == ["/", "/a", "/a/b"]


@pytest.mark.parametrize(
    "data",
    [
        sealed(PLAIN + DIGEST),
        sealed(sealed(PLAIN + DIGEST) + struct.pack(">q", 9)),
        sealed(PLAIN + struct.pack(">q", 9)),
        sealed(PLAIN + struct.pack(">qi", 5, 1) + text("4d")),
    ],
    ids=["3.6", "3.9", "3.9 without digest", "3.6.0"],
)
def test_what_follows_the_znodes(data: bytes) -> None:
    assert parse("snapshot.1", data, SIZE_MAX).defects == ()
    broken = data[:-14] + bytes([data[-14] ^ 1]) + data[-13:]
    (defect,) = parse("snapshot.1", broken, SIZE_MAX).defects
    assert defect.message.startswith("the Adler-32 is ")


def test_compressed_snapshot() -> None:
    """The name tells the codec; a stream that is cut is the defect, and the znodes before it are read."""
    packed = gzip.compress(PLAIN)
    assert parse("snapshot.4a.gz", packed, SIZE_MAX) == parse("snapshot.4a", PLAIN, SIZE_MAX)
    assert parse("snapshot.4a.gz", packed, 40).defects[0].message == "more than 40 bytes after decompression"
    assert parse("snapshot.4a.gz", PLAIN, SIZE_MAX).defects[0].message == "no gzip header"


@pytest.mark.parametrize(
    ("data", "message", "position"),
    [
        (b"", "the header needs 16 bytes, but 0 are left", 0),
        (b"ZKLG" + PLAIN[4:], "the file does not begin with ZKSN", 0),
        (PLAIN[:16] + b"\x7f" + PLAIN[17:], "2130706433 sessions cannot fit into 304 bytes", 16),
        (
            PLAIN[:16] + bytes((0, 0, 0, 200)) + PLAIN[20:],
            "the list of sessions needs 2400 bytes, but 304 are left",
            20,
        ),
        (PLAIN.replace(b"/a/b", b"/c/b"), "a znode comes before its parent", 226),
        (PLAIN[:-14] + b"?" + PLAIN[-13:], None, None),
        (PLAIN[:-1] + b"?", "the seal does not end with /", len(PLAIN) - 13),
        (PLAIN + b"x", "the last transaction needs 8 bytes, but 1 are left", len(PLAIN)),
        (sealed(sealed(PLAIN + DIGEST) + bytes(8)) + b"x", "1 bytes follow the end", len(PLAIN) + 54),
    ],
)
def test_damaged_snapshot(data: bytes, message: str | None, position: int | None) -> None:
    (defect,) = parse("snapshot.1", data, SIZE_MAX).defects
    if message is not None:
        assert (defect.message, defect.position) == (message, position)
    assert not defect.accepted


def test_a_small_file_that_becomes_a_large_one_is_read_in_part() -> None:
    bomb = snapshot([node("/a", bytes(1 << 23))])
    packed = gzip.compress(bomb)
    value, (defect,) = parse("snapshot.1.gz", packed, SIZE_MAX)
    assert value.limited
    assert defect.message == f"more than {(1 << 20) + 200 * len(packed)} bytes after decompression"


def test_too_many_znodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kcheck.zookeeper.snapshot.ZNODE_COUNT_MAX", 2)
    parsed = parse("snapshot.4a", PLAIN, SIZE_MAX)
    assert (len(parsed.value.znodes), parsed.defects[0].message) == (2, "there are more than 2 znodes")
    assert parsed.value.limited
    assert not parse("snapshot.4a", PLAIN[:100], SIZE_MAX).value.limited


def test_every_cut_and_every_changed_byte_of_a_snapshot_is_a_defect() -> None:
    for size in range(len(PLAIN)):
        assert parse("snapshot.1", PLAIN[:size], SIZE_MAX).defects
    for at in range(4, len(PLAIN)):
        changed = bytearray(PLAIN)
        changed[at] ^= 0x81
        assert parse("snapshot.1", bytes(changed), SIZE_MAX).defects, at


def test_log() -> None:
    first, second = transactions(LOG)
    assert first == ZookeeperTransaction(16, 2, 1_700_000_000_000, (CreateNode("/a", b"1", 0),), 7)
    assert second == ZookeeperTransaction(SECOND, 3, 1_700_000_000_000, (SetNode("/a", b"2", 1),), 7)
    assert _changes(LOG[:16]) == _changes(log()) == []


def test_every_type_of_transaction() -> None:
    body = text("/t") + buffer(None) + struct.pack(">ii", -1, 1)
    asked = CloseSession(7, (), asked=True)
    wanted: dict[tuple[int, bytes], tuple[object, ...]] = {
        (15, create("/e", None, ephemeral=True)): (CreateNode("/e", None, 7),),
        (1, create("/v0")[:-4]): (CreateNode("/v0", b"", 0),),
        (19, body): (CreateNode("/t", None, CONTAINER_OWNER),),
        (21, body + struct.pack(">q", 5000)): (CreateNode("/t", None, TTL_OWNER + 5000),),
        (2, text("/a")): (DeleteNode("/a"),),
        (20, text("/a")): (DeleteNode("/a"),),
        (16, set_data("/c", b"x", 2)): (SetNode("/c", b"x", 2),),
        (7, b"?"): (),
        (-10, b"?"): (),
        (-11, b""): (asked,),
        (-11, struct.pack(">iq", 2, 1 << 60)): (asked,),
        (-11, struct.pack(">i", 1) + text("/e") + struct.pack(">iq", 2, 1 << 60)): (asked._replace(paths=("/e",)),),
        (14, multi((13, b"?"), (1, create("/m")), (2, text("/n")))): (CreateNode("/m", b"", 0), DeleteNode("/n")),
        (14, multi((1, create("/m")), (-1, bytes(4)))): (),
    }  # fmt: skip
    assert list(wanted.values()) == _changes(log(*(record(kind, body) for kind, body in wanted)))


@pytest.mark.parametrize(
    ("data", "message", "position", "accepted"),
    [
        (b"", "the header needs 16 bytes, but 0 are left", 0, False),
        (b"ZKSN" + LOG[4:], "the file does not begin with ZKLG", 0, False),
        (
            LOG[: SECOND + 8],
            "the last transaction is incomplete: its head needs 12 bytes, but 8 are left",
            SECOND,
            True,
        ),
        (LOG[: SECOND + 20], "the last transaction is incomplete: it needs 47 bytes, but 8 are left", SECOND, True),
        (LOG[: SECOND + 59], "the last transaction is incomplete: its end needs 1 bytes, but 0 are left", SECOND, True),
        (LOG[: SECOND + 59] + bytes(9), "the last transaction is incomplete: it does not end with B", SECOND, True),
        (LOG[:SECOND] + bytes(12) + b"x", "the last transaction is incomplete: its length is 0", SECOND, True),
        (LOG[:20] + b"x" + LOG[21:], None, 16, False),
        (LOG[:24] + b"\xff" + LOG[25:], "the length of the transaction is -16777141", 16, False),
        (LOG[:24] + b"\x7f" + LOG[25:], "the length of the transaction is 2130706507", 16, False),
        (log(record(99)), "the transaction is unreadable: the path needs 4 bytes, but 0 are left", 16, False),
        (log(record(99, text("/"))), "the transaction is unreadable: its type 99 is not known", 16, False),
        (
            log(record(2, struct.pack(">i", -9))),
            "the transaction is unreadable: the length of the path is -9",
            16,
            False,
        ),
        (log(record(14, b"\x7f" * 4)), None, 16, False),
    ],
)
def test_damaged_log(data: bytes, message: str | None, position: int, accepted: bool) -> None:
    defect = _defect(data)
    assert (defect.position, defect.accepted) == (position, accepted)
    assert message is None or defect.message == message


def test_no_defect_quotes_what_can_be_a_secret() -> None:
    """Neither the data nor a path: damage before them makes one of the other."""
    secret = snapshot([node("/secret", b"secret")])
    logged = log(record(1, create("/secret", b"secret")))
    for at in range(16, len(secret)):
        cut = parse("snapshot.1", secret[:at] + b"\xff" + secret[at:], SIZE_MAX).defects
        assert "secret" not in repr(cut)
        assert "secret" not in repr([item for item in transactions(logged[:at]) if isinstance(item, Defect)])
    assert "secret" not in repr(parse("snapshot.1", snapshot([node("/b/secret", b"")]), SIZE_MAX).defects)
    assert b"" == parse("snapshot.1.gz", b"secret", SIZE_MAX).defects[0].found


def test_a_long_transaction_that_is_whole_is_read() -> None:
    assert len(_changes(log(record(1, create("/a", bytes(LENGTH_MAX)))))) == 1


def test_every_changed_byte_of_a_log_is_a_defect() -> None:
    end = len(LOG) - 40
    for at in range(16, end):
        changed = bytearray(LOG)
        changed[at] ^= 0x81
        assert isinstance(list(transactions(bytes(changed)))[-1], Defect), at


def test_strings_are_read_as_java_reads_them() -> None:
    reader = JuteReader(buffer(None) + buffer(b"a\xff"))
    assert (reader.string("a path"), reader.string("a path")) == ("", "a\ufffd")
