"""Divides work among processes that keep what they make: the caller talks to one object in each."""

import gc
import signal
from collections.abc import Callable, Sequence
from typing import Any, Self

from kcheck.disk.descriptors import let_go_sockets
from kcheck.errors import KcheckError

_END_SECONDS = 10
"""Seconds to wait for a killed process."""


class SharedWork:
    """So many objects that `make` returns: one in this process if `count` is 1, else one in each of `count` others.

    A context; it ends all its processes.
    """

    def __init__(self, count: int, make: Callable[[], Any]) -> None:
        self._count, self._make = count, make
        self._processes: list[_Process] = []

    def __enter__(self) -> Self:
        """Start the processes; in this one no cycles of references are looked for meanwhile, as in those."""
        self._collects = gc.isenabled()
        gc.disable()
        self._local = [self._make()] if self._count == 1 else []
        try:
            while not self._local and len(self._processes) < self._count:
                others = [process.connection for process in self._processes]
                self._processes.append(_Process(self._make, others))
        except OSError as error:
            self.__exit__()
            raise KcheckError(f"cannot start {self._count} processes: {error.strerror}") from error
        return self

    def __exit__(self, *_: object) -> None:
        """End every process."""
        while self._processes:
            self._processes.pop().end()
        if self._collects:
            gc.enable()

    def call(self, method: str, arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Call a method of every object, each with its own arguments, at the same time; return what they answer."""
        if self._local:
            return [getattr(part, method)(*given) for part, given in zip(self._local, arguments, strict=True)]
        try:
            for process, given in zip(self._processes, arguments, strict=True):
                process.connection.send((method, given))
            return [process.connection.recv() for process in self._processes]
        except (EOFError, OSError) as error:
            raise KcheckError("a worker process died; if memory ran out, use fewer --jobs") from error

    def __len__(self) -> int:
        """Return the number of objects."""
        return self._count


class _Process:
    """A process and the way to talk to it."""

    def __init__(self, make: Callable[[], Any], others: list[Any]) -> None:
        import multiprocessing  # only for several processes

        context = multiprocessing.get_context("fork")
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(make, theirs, [*others, self.connection]), daemon=True)
        try:
            self._process.start()
        finally:
            theirs.close()

    def end(self) -> None:
        """Kill it."""
        self._process.kill()
        self._process.join(_END_SECONDS)
        self.connection.close()


def _serve(make: Callable[[], Any], connection: Any, others: list[Any]) -> None:
    """Do what arrives until the parent closes the connection; ^C is the parent's."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for other in others:
        other.close()
    let_go_sockets(connection.fileno())
    gc.disable()  # Nothing here makes a cycle of references.
    part = make()
    try:
        while True:
            method, given = connection.recv()
            connection.send(getattr(part, method)(*given))
    except (EOFError, OSError):
        return
