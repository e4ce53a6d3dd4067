"""`log.<zxid>` of a ZooKeeper data directory (FileTxnLog 3.4 to 3.9): the transactions, one after the other.

A header, then for each transaction its Adler-32, its length, its bytes and the letter B. The server preallocates the
file with zeros, so a length of 0 ends it.
"""

import zlib
from collections.abc import Iterator

from kcheck.model.parsed import Defect
from kcheck.model.znodes import CloseSession, CreateNode, DeleteNode, SetNode, ZnodeChange, ZookeeperTransaction
from kcheck.records.layout import Layout
from kcheck.zookeeper.jute import JuteEndError, JuteError, JuteReader
from kcheck.zookeeper.snapshot import HEADER

MAGIC = int.from_bytes(b"ZKLG")
RECORD = Layout((("adler32", "i64"), ("length", "i32")))
TRANSACTION = Layout((("session", "i64"), ("cxid", "i32"), ("zxid", "i64"), ("time", "i64"), ("kind", "i32")))
END = ord("B")
LENGTH_MAX = 2 * 0xFFFFF
"""The longest transaction that a server reads unless told otherwise (jute.maxbuffer and its extra)."""

CREATE, DELETE, SET_DATA, SET_ACL, CHECK, MULTI, CREATE_2, RECONFIG = 1, 2, 5, 7, 13, 14, 15, 16
CREATE_CONTAINER, DELETE_CONTAINER, CREATE_TTL = 19, 20, 21
CREATE_SESSION, CLOSE_SESSION, ERROR = -10, -11, -1
"""Types of transactions (ZooDefs.OpCode)."""

CONTAINER_OWNER = -(1 << 63)
TTL_OWNER = -(1 << 56)
"""Their ephemeralOwner; the TTL in ms is added to the second (EphemeralType)."""

_CHANGES_NOTHING = (SET_ACL, CHECK, ERROR, CREATE_SESSION)


def transactions(data: bytes | memoryview) -> Iterator[ZookeeperTransaction | Defect]:
    """Yield each transaction, and last a defect if the log is corrupt or incomplete.

    A server continues with the next log after an accepted defect. With any other defect it does not start. No defect
    quotes bytes, because they can be a secret.
    """
    reader = JuteReader(data)
    try:
        magic, _, _ = reader.unpack(HEADER, "the header")
    except JuteError as error:
        yield Defect(str(error), 0)
        return
    if magic != MAGIC:
        yield Defect("the file does not begin with ZKLG", 0)
        return
    while reader.position < reader.end:
        begin = reader.position
        try:
            transaction = _next(reader)
        except JuteEndError as error:
            yield Defect(f"the last transaction is incomplete: {error}", begin, accepted=True)
            return
        except JuteError as error:
            yield Defect(str(error), begin)
            return
        if transaction is None:
            return
        yield transaction


def _next(reader: JuteReader) -> ZookeeperTransaction | None:
    """Return the next transaction; None at the zeros after the last one."""
    begin = reader.position
    left = reader.data[begin:]
    if not any(left[: RECORD.size]) and left == bytes(len(left)):
        return None
    crc, length = reader.unpack(RECORD, "its head")
    if length < 0 or (length > LENGTH_MAX and length > reader.end - reader.position):
        raise JuteError(f"the length of the transaction is {length}", begin)
    if length == 0:
        raise JuteEndError("its length is 0", begin)
    start = reader.position
    view = reader.take(length, "it")
    if reader.take(1, "its end")[0] != END:
        raise JuteEndError("it does not end with B", begin)
    computed = zlib.adler32(view)
    if crc != computed:
        raise JuteError(f"the Adler-32 of the transaction is {crc}, expected {computed}", begin)
    return _transaction(JuteReader(reader.data, start, start + length), begin)


def _transaction(reader: JuteReader, begin: int) -> ZookeeperTransaction:
    try:
        session, cxid, zxid, time, kind = reader.unpack(TRANSACTION, "the header of the transaction")
        changes = _multi(reader, session) if kind == MULTI else _changes(reader, kind, session, cxid)
    except JuteError as error:
        raise JuteError(f"the transaction is unreadable: {error}", begin) from error
    return ZookeeperTransaction(begin, zxid, time, changes, session if cxid else 0)


def _multi(reader: JuteReader, session: int) -> tuple[ZnodeChange, ...]:
    """Return the changes of all parts; nothing if one of them failed, because then all did."""
    changes: list[ZnodeChange] = []
    failed = False
    for _ in range(reader.count("parts")):
        kind = reader.i32("the type of a part")
        size = len(reader.view("a part") or b"")
        part = JuteReader(reader.data, reader.position - size, reader.position)
        changes += _changes(part, kind, session)
        failed |= kind == ERROR
    return () if failed else tuple(changes)


def _changes(reader: JuteReader, kind: int, session: int, cxid: int = 0) -> tuple[ZnodeChange, ...]:
    """Return the changes of a transaction, or of one part of a multi."""
    if kind in _CHANGES_NOTHING:
        return ()
    if kind == CLOSE_SESSION:
        return (CloseSession(session, _closed_paths(reader), asked=cxid != 0),)
    path = reader.string("the path")
    if kind in (DELETE, DELETE_CONTAINER):
        return (DeleteNode(path),)
    if kind in (SET_DATA, RECONFIG):
        return (SetNode(path, reader.buffer("the data"), reader.i32("the version")),)
    if kind not in (CREATE, CREATE_2, CREATE_CONTAINER, CREATE_TTL):
        raise JuteError(f"its type {kind} is not known", reader.position)
    data = reader.buffer("the data")
    reader.skip_acls()
    if kind == CREATE_CONTAINER:
        return (CreateNode(path, data, CONTAINER_OWNER),)
    if kind == CREATE_TTL:
        reader.i32("the version of the parent")
        return (CreateNode(path, data, TTL_OWNER | reader.i64("the TTL")),)
    return (CreateNode(path, data, session if reader.boolean("ephemeral") else 0),)


def _closed_paths(reader: JuteReader) -> tuple[str, ...]:
    """Return the paths that a closeSession names. Up to 3.5 it has no body; 3.6 and later may add only a digest."""
    try:
        return tuple(reader.string("a path") for _ in range(reader.count("paths")))
    except JuteError:
        return ()
