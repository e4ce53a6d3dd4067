"""The one request that the tests send themselves: OffsetForLeaderEpoch, which Kafka's own clients do not offer."""

import socket
import struct

from tests.oracle.jars import numbers

API_KEY = 23


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
    head = struct.pack(">hhih", API_KEY, version, 1, 6) + b"kcheck"
    connection.sendall(struct.pack(">i", len(head) + len(body)) + head + body)
    reply = _exactly(connection, struct.unpack(">i", _exactly(connection, 4))[0])
    at = 4 + (4 if version >= 2 else 0) + 4  # correlation id, throttle time, one topic
    at += 2 + struct.unpack_from(">h", reply, at)[0] + 4  # its name, one partition
    error, _ = struct.unpack_from(">hi", reply, at)
    if version == 0:
        return error, None, struct.unpack_from(">q", reply, at + 6)[0]
    answered, end = struct.unpack_from(">iq", reply, at + 6)
    return error, answered, end


def _exactly(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        part = connection.recv(size - len(data))
        if not part:
            raise ConnectionError("the broker closed the connection")
        data += part
    return data
