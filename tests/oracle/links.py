"""The links between brokers, held and let go request by request: what SIGSTOP cannot do for one link alone.

Each broker advertises a port of this proxy. A follower's fetches and epoch questions wait here until they are let
through one by one; what a controller tells, and what a leader answers, can be held as well.
"""

import contextlib
import re
import select
import socket
import struct
import threading
import time
from collections import Counter

from tests.oracle.kafka import free_port

CONTROLLER = 0
"""The controller as the end of a link."""
FETCH, LEADER_AND_ISR, UPDATE_METADATA, EPOCH_END = 1, 4, 6, 23
ALTER_PARTITION = 56
_FETCHER = re.compile(rb"broker-(\d+)-fetcher-")
_OBSERVER = re.compile(rb"raft-client-(\d+)")
_FLEXIBLE_FETCH = 12
_POLL = 0.02


class Links:
    """The state of all links."""

    def __init__(self) -> None:
        self.lock = threading.Condition()
        self.open = True
        """Whether followers fetch as they like."""
        self.held: set[tuple[int, int]] = set()
        """Links, from and to, on which nothing arrives."""
        self.dropped: Counter[tuple[int, int]] = Counter()
        """How often what a link holds was lost."""
        self.waiting: Counter[int] = Counter()
        """How many requests of a follower wait here."""
        self.permits: Counter[int] = Counter()
        self.passed: Counter[int] = Counter()

    def set_open(self, *, is_open: bool) -> None:
        """Let followers fetch as they like, or request by request."""
        with self.lock:
            self.open = is_open
            self.lock.notify_all()

    def fetch(self, follower: int, seconds: float = 4.0) -> bool:
        """Let one request through; return when the next one waits, or after some time. False: there was none."""
        with self.lock:
            if not self.lock.wait_for(lambda: self.waiting[follower] > 0, seconds):
                return False
            passed = self.passed[follower]
            self.permits[follower] += 1
            self.lock.notify_all()
            self.lock.wait_for(lambda: self.passed[follower] > passed, seconds)
            self.lock.wait_for(lambda: self.waiting[follower] > 0, seconds)
            return True

    def hold(self, link: tuple[int, int]) -> None:
        """Let nothing arrive on a link."""
        with self.lock:
            self.held.add(link)

    def release(self, link: tuple[int, int], *, drop: bool = False) -> None:
        """Let a link work again; what it held arrives or is lost."""
        with self.lock:
            self.held.discard(link)
            if drop:
                self.dropped[link] += 1
            self.lock.notify_all()


class Proxy:
    """The port that a broker advertises, or a controller's."""

    def __init__(self, links: Links, node: int, port: int) -> None:
        self.port, self._links, self._node, self._target = free_port(), links, node, port
        self._server = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Take no more connections."""
        self._server.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._server.accept()
            except OSError:
                return
            threading.Thread(target=self._connect, args=(client,), daemon=True).start()

    def _connect(self, client: socket.socket) -> None:
        try:
            server = socket.create_connection(("127.0.0.1", self._target))
        except OSError:
            client.close()
            return
        connection = _Connection(self._links, self._node, client, server)
        threading.Thread(target=connection.answers, daemon=True).start()
        connection.requests()


class _Connection:
    """One connection: requests one way, answers the other."""

    def __init__(self, links: Links, node: int, client: socket.socket, server: socket.socket) -> None:
        self._links, self._node, self._client, self._server = links, node, client, server
        self._peer: int | None = None

    def requests(self) -> None:
        """Pass requests on until one end closes."""
        try:
            while (frame := _frame(self._client)) is not None:
                if not self._may_pass(frame):
                    break
                self._server.sendall(frame)
        except OSError:
            pass
        self._close()

    def answers(self) -> None:
        """Pass answers on until one end closes."""
        links = self._links
        try:
            while (frame := _frame(self._server)) is not None:
                if self._peer is not None and not self._passes((self._node, self._peer)):
                    break
                self._client.sendall(frame)
                if self._peer is not None:
                    with links.lock:
                        links.passed[self._peer] += 1
                        links.lock.notify_all()
        except OSError:
            pass
        self._close()

    def _close(self) -> None:
        for end in (self._client, self._server):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def _may_pass(self, frame: bytes) -> bool:
        api, version, _, size = struct.unpack_from(">hhih", frame, 4)
        client = frame[14 : 14 + max(size, 0)]
        if (observer := _OBSERVER.match(client)) and self._node == CONTROLLER:
            self._peer = int(observer[1])
            return True
        if api == ALTER_PARTITION and self._node == CONTROLLER and client.isdigit():
            return self._passes((int(client), CONTROLLER))
        if api in (LEADER_AND_ISR, UPDATE_METADATA):
            return self._passes((CONTROLLER, self._node))
        if api not in (FETCH, EPOCH_END):
            return True
        if fetcher := _FETCHER.match(client):
            self._peer = int(fetcher[1])
        elif api == FETCH and version < _FLEXIBLE_FETCH and self._peer is None:
            replica = struct.unpack_from(">i", frame, 14 + max(size, 0))[0]
            self._peer = replica if replica > 0 else None
        return self._peer is None or self._has_permit(self._peer)

    def _has_permit(self, follower: int) -> bool:
        """Wait until a follower's request may pass; False if it has gone away meanwhile."""
        links = self._links
        with links.lock:
            links.waiting[follower] += 1
            links.lock.notify_all()
            try:
                while not links.open and not links.permits[follower]:
                    links.lock.wait(_POLL)
                    if self._is_gone():
                        return False
                if not links.open:
                    links.permits[follower] -= 1
            finally:
                links.waiting[follower] -= 1
        return self._passes((follower, self._node))

    def _passes(self, link: tuple[int, int]) -> bool:
        """Wait while a link is held; False if what it held is lost."""
        links = self._links
        with links.lock:
            dropped = links.dropped[link]
            while link in links.held:
                links.lock.wait(_POLL)
                if self._is_gone():
                    return False
            return dropped == links.dropped[link]

    def _is_gone(self) -> bool:
        """Whether the client has closed; it sends nothing while it waits for an answer."""
        try:
            readable = select.select([self._client], [], [], 0)[0]
            return bool(readable) and not self._client.recv(1, socket.MSG_PEEK)
        except (OSError, ValueError):
            return True


def _frame(end: socket.socket) -> bytes | None:
    head = _exactly(end, 4)
    if head is None:
        return None
    body = _exactly(end, struct.unpack(">i", head)[0])
    return None if body is None else head + body


def _exactly(end: socket.socket, size: int) -> bytes | None:
    data = bytearray()
    while len(data) < size:
        part = end.recv(size - len(data))
        if not part:
            return None
        data += part
    return bytes(data)


def rounds(links: Links, followers: set[int], count: int, seconds: float) -> None:
    """Return when each follower has had so many answers, or after some time."""
    with links.lock:
        wanted = {follower: links.passed[follower] + count for follower in followers}
        deadline = time.monotonic() + seconds
        links.lock.wait_for(
            lambda: all(links.passed[follower] >= number for follower, number in wanted.items()),
            max(0.0, deadline - time.monotonic()),
        )
