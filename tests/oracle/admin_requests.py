"""What Kafka's admin tools ask brokers, without a JVM for each request: topics, the order of replicas, leaders.

To a broker that is the controller, or to any broker of a cluster with KRaft.
"""

import socket
import struct
from collections.abc import Mapping, Sequence

from tests.oracle.jars import numbers
from tests.oracle.wire import request

CREATE_TOPICS, DELETE_TOPICS, DELETE_RECORDS, ELECT_LEADERS, REASSIGN = 19, 20, 21, 43, 45
TIMEOUT_MS = 20_000
_NO_TAGS = b"\0"


def create_topic(port: int, kafka: str, topic: str, replicas: Sequence[int], settings: Mapping[str, str]) -> None:
    """Create a topic with one partition; return at once."""
    body = _array([_text(topic) + struct.pack(">ih", -1, -1) + _array([_assignment(replicas)]) + _settings(settings)])
    body += struct.pack(">i?", TIMEOUT_MS, False)
    _ask(port, CREATE_TOPICS, 2 if numbers(kafka) >= (0, 11) else 1, body)


def delete_topic(port: int, kafka: str, topic: str) -> None:
    """Delete a topic; its directories go later."""
    body = _array([_text(topic)]) + struct.pack(">i", TIMEOUT_MS)
    _ask(port, DELETE_TOPICS, 1 if numbers(kafka) >= (0, 11) else 0, body)


def delete_records(port: int, topic: str, offset: int) -> None:
    """Move the log start of partition 0, at its leader (0.11 and later)."""
    body = _array([_text(topic) + _array([struct.pack(">iq", 0, offset)])]) + struct.pack(">i", TIMEOUT_MS)
    _ask(port, DELETE_RECORDS, 0, body)


def reorder(port: int, topic: str, replicas: Sequence[int]) -> None:
    """Give partition 0 its replicas in another order (2.4 and later)."""
    row = struct.pack(">i", 0) + _compact([struct.pack(">i", number) for number in replicas]) + _NO_TAGS
    name = bytes([len(topic) + 1]) + topic.encode()
    body = _NO_TAGS + struct.pack(">i", TIMEOUT_MS) + _compact([name + _compact([row]) + _NO_TAGS]) + _NO_TAGS
    _ask(port, REASSIGN, 0, body)


def elect(port: int, topic: str, *, unclean: bool) -> None:
    """Elect the first replica of partition 0, or any replica (2.4 and later)."""
    body = struct.pack(">b", unclean) + _array([_text(topic) + _array([struct.pack(">i", 0)])])
    _ask(port, ELECT_LEADERS, 1, body + struct.pack(">i", TIMEOUT_MS))


def _ask(port: int, key: int, version: int, body: bytes) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=2 * TIMEOUT_MS / 1000) as connection:
        request(connection, key, version, body)


def _assignment(replicas: Sequence[int]) -> bytes:
    return struct.pack(">i", 0) + _array([struct.pack(">i", number) for number in replicas])


def _settings(settings: Mapping[str, str]) -> bytes:
    return _array([_text(name) + _text(value) for name, value in settings.items()])


def _array(items: Sequence[bytes]) -> bytes:
    return struct.pack(">i", len(items)) + b"".join(items)


def _compact(items: Sequence[bytes]) -> bytes:
    return bytes([len(items) + 1]) + b"".join(items)


def _text(text: str) -> bytes:
    return struct.pack(">h", len(text)) + text.encode()
