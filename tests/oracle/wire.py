"""The requests that the tests send themselves.

Kafka's own clients do not offer OffsetForLeaderEpoch, and cost a JVM to ask for Metadata.
"""

import socket
import struct

from tests.oracle.jars import numbers

API_KEY = 23
FETCH, FETCH_VERSION = 1, 4
"""The oldest version that 4.0 and later know: it is not flexible."""
LIST_OFFSETS, EARLIEST, ANY_REPLICA = 2, -2, -2
METADATA, METADATA_VERSION = 3, 7
"""The newest version of Metadata that is not flexible: 2.1 and later know it."""

States = dict[str, tuple[int, int, list[int], list[int]]]
"""Of each partition the leader, its epoch, replicas and ISR."""


def request_version(kafka: str) -> int:
    """Return the newest version of the request that is not flexible and that the release knows."""
    if numbers(kafka) >= (2, 1):
        return 2
    return 1 if numbers(kafka) >= (2,) else 0


def end_offsets(
    port: int, kafka: str, topic: str, partition: int, epochs: list[int], *, current_leader_epoch: int = -1
) -> list[tuple[int, int | None, int]]:
    """Return (error code, epoch, end offset) for each epoch; the epoch is None where version 0 does not carry it."""
    version = request_version(kafka)
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        return [_ask(connection, version, topic, partition, epoch, current_leader_epoch) for epoch in epochs]


def _ask(
    connection: socket.socket, version: int, topic: str, partition: int, epoch: int, current_leader_epoch: int
) -> tuple[int, int | None, int]:
    name = topic.encode()
    body = struct.pack(">ih", 1, len(name)) + name + struct.pack(">ii", 1, partition)
    body += struct.pack(">i", current_leader_epoch) if version >= 2 else b""
    body += struct.pack(">i", epoch)
    reply = request(connection, API_KEY, version, body)
    at = 4 + (4 if version >= 2 else 0) + 4  # correlation id, throttle time, one topic
    at += 2 + struct.unpack_from(">h", reply, at)[0] + 4  # its name, one partition
    error, _ = struct.unpack_from(">hi", reply, at)
    if version == 0:
        return error, None, struct.unpack_from(">q", reply, at + 6)[0]
    answered, end = struct.unpack_from(">iq", reply, at + 6)
    return error, answered, end


def log_start(port: int, topic: str) -> int:
    """Return the log start of a broker's replica of partition 0, whether it leads or not (0.10.1 and later)."""
    name = topic.encode()
    body = struct.pack(">iih", ANY_REPLICA, 1, len(name)) + name + struct.pack(">iiq", 1, 0, EARLIEST)
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        reply = request(connection, LIST_OFFSETS, 1, body)
    return int(struct.unpack(">q", reply[-8:])[0])


def first_fetched(port: int, topic: str, offset: int) -> int | None:
    """Return the base offset of the first batch that the leader of partition 0 sends from an offset on."""
    name = topic.encode()
    body = struct.pack(">iiiibih", -1, 500, 1, 1 << 20, 0, 1, len(name)) + name
    body += struct.pack(">iiqi", 1, 0, offset, 1 << 20)
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        reply = request(connection, FETCH, FETCH_VERSION, body)
    at = 4 + 4 + 4 + 2 + len(name) + 4 + 4  # correlation id, throttle time, one topic, one partition, its number
    error, _, _, aborted = struct.unpack_from(">hqqi", reply, at)
    records = reply[at + 22 + 16 * max(aborted, 0) + 4 :]
    return struct.unpack_from(">q", records)[0] if not error and len(records) >= 8 else None


def states(port: int) -> States:
    """Return what a broker says of all partitions."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        reply = request(connection, METADATA, METADATA_VERSION, struct.pack(">i?", -1, False))
    at = 8  # correlation id, throttle time

    def read(layout: str) -> tuple[int, ...]:
        nonlocal at
        values = struct.unpack_from(f">{layout}", reply, at)
        at += struct.calcsize(f">{layout}")
        return values

    def text() -> str:
        nonlocal at
        size = max(read("h")[0], 0)
        at += size
        return reply[at - size : at].decode()

    for _ in range(read("i")[0]):
        read("i"), text(), read("i"), text()
    text(), read("i")
    told: States = {}
    for _ in range(read("i")[0]):
        read("h")
        topic = text()
        read("?")
        for _ in range(read("i")[0]):
            _, number, leader, epoch = read("hiii")
            replicas, isr, _ = (list(read(f"{read('i')[0]}i")) for _ in range(3))
            told[f"{topic}-{number}"] = leader, epoch, replicas, isr
    return told


def request(connection: socket.socket, key: int, version: int, body: bytes) -> bytes:
    """Send a request; return the answer from its correlation id on."""
    head = struct.pack(">hhih", key, version, 1, 6) + b"kcheck"
    connection.sendall(struct.pack(">i", len(head) + len(body)) + head + body)
    return _exactly(connection, struct.unpack(">i", _exactly(connection, 4))[0])


def _exactly(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        part = connection.recv(size - len(data))
        if not part:
            raise ConnectionError("the broker closed the connection")
        data += part
    return data
