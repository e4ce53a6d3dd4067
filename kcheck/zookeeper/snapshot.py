"""`snapshot.<zxid>` of a ZooKeeper data directory (FileSnap 3.4 to 3.9), with all znodes and sessions.

It has a header, sessions, ACLs, znodes, then a seal, the Adler-32 of everything before it. In 3.6 and later a digest of
the znodes follows, in 3.9 the last transaction, each with its own seal. 3.6 and later compress it on request (`.gz`,
`.snappy`).
"""

import re
import zlib

from kcheck.model.parsed import Defect, Parsed
from kcheck.model.znodes import ROOT, ZNODE_COUNT_MAX, Znode, ZookeeperSnapshot
from kcheck.records.compression import decompress
from kcheck.records.decompressed import TooLarge
from kcheck.records.layout import Layout
from kcheck.zookeeper.jute import JuteError, JuteReader

MAGIC = int.from_bytes(b"ZKSN")
HEADER = Layout((("magic", "i32"), ("version", "i32"), ("dbid", "i64")))
SESSION = Layout((("id", "i64"), ("timeout", "i32")))
STAT = Layout(
    (
        ("acl", "i64"),
        ("czxid", "i64"),
        ("mzxid", "i64"),
        ("ctime", "i64"),
        ("mtime", "i64"),
        ("version", "i32"),
        ("cversion", "i32"),
        ("aversion", "i32"),
        ("ephemeral_owner", "i64"),
        ("pzxid", "i64"),
    )
)
"""The id of a znode's ACL, then its stat (StatPersisted)."""

_CODECS = {"gz": 1, "snappy": 2}
_SEAL_SIZE = 13
_LAST_ZXID_SIZE = 8
_ZXID = re.compile(r"[0-9A-Fa-f]{1,16}")
_RATIO_MAX, _SMALL_SIZE = 200, 1 << 20
"""The limit of an uncompressed snapshot, as a ratio to the file and bytes to add. A false size then costs little."""
_LONG_DIGEST = 2
"""The first version of a digest that is a number; 3.6.0 wrote text."""


class _LimitError(JuteError):
    """The file is larger than kcheck reads."""


def zxid_of(name: str, prefix: str) -> int | None:
    """Return the transaction id in a file name like `snapshot.4a`; None without one (Util.getZxidFromName)."""
    parts = name.split(".")
    if parts[0] != prefix or len(parts) not in (2, 3) or not _ZXID.fullmatch(parts[1]):
        return None
    return int(parts[1], 16)


def parse(name: str, data: bytes, size_max: int) -> Parsed[ZookeeperSnapshot]:
    """Return the znodes that are readable. A server uses no snapshot with a defect, but an older one.

    `size_max` limits what is decompressed; `name` gives the transaction id and the compression. No defect quotes bytes:
    they can be a secret.
    """
    zxid = zxid_of(name, "snapshot") or 0
    codec = _CODECS.get(name.rpartition(".")[2].lower())
    plain: bytes | bytearray | memoryview = data
    problem: str | None = None
    if codec is not None:
        plain, problem = decompress(codec, data, magic=1, size_max=min(size_max, _SMALL_SIZE + _RATIO_MAX * len(data)))
    znodes: dict[str, Znode] = {}
    view = memoryview(plain)
    reader = JuteReader(view)
    limited, defects, last_change = isinstance(problem, TooLarge), [], 0
    try:
        last_change = _read_tree(reader, znodes)
        _read_seals(reader, view)
    except JuteError as error:
        limited |= isinstance(error, _LimitError)
        defects = [Defect(str(error), error.position)]
    if problem is not None:
        defects = [Defect(problem, 0)]
    return Parsed(ZookeeperSnapshot(zxid, znodes, last_change, limited), tuple(defects))


def _read_tree(reader: JuteReader, znodes: dict[str, Znode]) -> int:
    """Add the znodes up to the path "/", which ends them; return the last transaction that they name."""
    magic, _, _ = reader.unpack(HEADER, "the header")
    if magic != MAGIC:
        raise JuteError("the file does not begin with ZKSN", 0)
    reader.take(reader.count("sessions") * SESSION.size, "the list of sessions")
    for _ in range(reader.count("ACL lists")):
        reader.i64("the id of an ACL list")
        reader.skip_acls()
    begin, last_change = reader.position, 0
    while (path := reader.string("a path")) != ROOT:
        data = reader.buffer("the data of a znode")
        _, czxid, mzxid, _, _, version, _, _, owner, pzxid = reader.unpack(STAT, "the stat of a znode")
        parent, slash, _ = path.rpartition("/")
        if slash and (parent or ROOT) not in znodes:
            raise JuteError("a znode comes before its parent", begin)
        if len(znodes) == ZNODE_COUNT_MAX:
            raise _LimitError(f"there are more than {ZNODE_COUNT_MAX} znodes", begin)
        znodes[path or ROOT] = Znode(data, czxid, mzxid, version, owner)
        begin, last_change = reader.position, max(last_change, mzxid, pzxid)
    return last_change


def _read_seals(reader: JuteReader, data: memoryview) -> None:
    """Check the seal of the znodes, and the seals that later releases wrote after it."""
    crc = _check_seal(reader, data, 0, 1)
    if reader.end - reader.position > _LAST_ZXID_SIZE + _SEAL_SIZE:
        begin = reader.position
        reader.i64("the transaction of the digest")
        if reader.i32("the version of the digest") < _LONG_DIGEST:
            reader.string("the digest")
        else:
            reader.i64("the digest")
        crc = _check_seal(reader, data, begin - _SEAL_SIZE, crc)
    if reader.position < reader.end:
        begin = reader.position
        reader.i64("the last transaction")
        _check_seal(reader, data, begin - _SEAL_SIZE, crc)
    if reader.position < reader.end:
        raise JuteError(f"{reader.end - reader.position} bytes follow the end", reader.position)


def _check_seal(reader: JuteReader, data: memoryview, begin: int, crc: int) -> int:
    """Check a seal against the Adler-32 of the file up to it; `crc` covers the bytes before `begin`."""
    position = reader.position
    computed = zlib.adler32(data[begin:position], crc)
    stated = reader.i64("the Adler-32")
    if reader.string("the end of the seal") != ROOT:
        raise JuteError("the seal does not end with /", position)
    if stated != computed:
        raise JuteError(f"the Adler-32 is {stated}, expected {computed}", position)
    return computed
