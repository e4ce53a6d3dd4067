"""Files of a ZooKeeper data directory made byte by byte, and those that real servers wrote."""

import struct
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path

WRITTEN = Path(__file__).parents[1] / "fixtures" / "zookeeper"
"""For each release of Kafka what ZooKeeper held of a cluster, and what kafka-topics said of it."""

SEAL_END = b"\0\0\0\1/"


def buffer(data: bytes | None) -> bytes:
    """Return a buffer of Jute."""
    return struct.pack(">i", -1) if data is None else struct.pack(">i", len(data)) + data


def text(words: str) -> bytes:
    """Return a string of Jute."""
    return buffer(words.encode())


ACLS = struct.pack(">ii", 1, 31) + text("world") + text("anyone")


def create(path: str, data: bytes | None = b"", ephemeral: bool = False) -> bytes:
    """Return the body of a create."""
    return text(path) + buffer(data) + ACLS + struct.pack(">?i", ephemeral, 1)


def set_data(path: str, data: bytes | None, version: int) -> bytes:
    """Return the body of a setData."""
    return text(path) + buffer(data) + struct.pack(">i", version)


def multi(*parts: tuple[int, bytes]) -> bytes:
    """Return the body of a multi with parts of (type, body)."""
    return struct.pack(">i", len(parts)) + b"".join(struct.pack(">i", kind) + buffer(body) for kind, body in parts)


def record(kind: int, body: bytes = b"", *, zxid: int = 1, session: int = 7) -> bytes:
    """Return a transaction as a log holds it."""
    data = struct.pack(">qiqqi", session, 1, zxid, 1_700_000_000_000, kind) + body
    return struct.pack(">qi", zlib.adler32(data), len(data)) + data + b"B"


def log(*records: bytes) -> bytes:
    """Return a log of these records, with zeros after them."""
    return b"ZKLG" + struct.pack(">iq", 2, 0) + b"".join(records) + bytes(40)


def node(path: str, data: bytes | None, *, zxid: int = 1, version: int = 0, owner: int = 0) -> bytes:
    """Return a znode as a snapshot holds it."""
    return text(path) + buffer(data) + struct.pack(">qqqqqiiiqq", 1, zxid, zxid, 5, 5, version, 0, 0, owner, zxid)


def sealed(data: bytes) -> bytes:
    """Return the bytes and their seal."""
    return data + struct.pack(">q", zlib.adler32(data)) + SEAL_END


def snapshot(nodes: Iterable[bytes], sessions: Mapping[int, int] | None = None) -> bytes:
    """Return a snapshot of these nodes below the root."""
    ids = sessions or {}
    data = b"ZKSN" + struct.pack(">iqi", 2, -1, len(ids))
    data += b"".join(struct.pack(">qi", *session) for session in ids.items()) + struct.pack(">iq", 1, 1) + ACLS
    return sealed(data + node("", b"") + b"".join(nodes) + text("/"))
