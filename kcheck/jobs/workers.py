"""Runs tasks, or objects that keep their state, in this process or in several others; answers come in order."""

import gc
import signal
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from heapq import heappop, heappush
from typing import Any, Generic, NamedTuple, Self, TypeVar

from kcheck.disk.worker_process import bound_memory, let_go_sockets
from kcheck.errors import KcheckError
from kcheck.jobs.guard import bug_finding, guarded
from kcheck.model.finding import Finding, Location

K = TypeVar("K")
T = TypeVar("T")

AHEAD = 512
"""Maximum number of tasks, and of groups, that wait while the first group runs. It bounds memory."""
_BUNDLE_SIZE = 8 << 20
_BUNDLE_COUNT = 32
"""Maximum size and number of tasks in one bundle, with many small tasks, or one large one."""
_TICK = 0.2
"""Seconds between progress updates while waiting for an answer."""
_END_SECONDS = 10
"""Seconds to wait for a killed process."""
_GARBAGE_COUNT = 100_000
"""The garbage collector's threshold, as in the command's own process, as kcheck makes no reference cycles."""
_STOPS = (signal.SIGINT, signal.SIGTERM)


class Task(NamedTuple, Generic[T]):
    """A picklable function to run; `where` is its place if it fails, `size` its cost in bytes."""

    run: Callable[[], T]
    where: Location
    size: int


class Limits(NamedTuple):
    """Limits of a task, as `seconds` until its answer, and bytes of `memory` beyond kcheck's own."""

    seconds: float
    memory: int


Answers = list[T | Finding | None]
"""An answer per task: KC000 if it failed, None if an interrupt came first."""


class Workers:
    """Runs groups of tasks. A context; it ends all its processes.

    Runs in-process when `count` is 1 and there are no `limits`; limits are enforced by killing the worker. `done` gets
    the size of each finished task; `tick` is called a few times a second.
    """

    def __init__(
        self,
        count: int,
        *,
        done: Callable[[int], None] = lambda _: None,
        tick: Callable[[], None] = lambda: None,
        limits: Limits | None = None,
    ) -> None:
        self.is_interrupted: bool = False
        """True if ^C came: the groups that `run` still yields have answers missing."""
        self._count = count
        self._limits = limits
        self._done = done
        self._tick = tick
        self._waiting: list[_Ticket] = []
        self._workers: list[_Worker] = []
        self._tickets = 0
        self._bundle_count = _BUNDLE_COUNT

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(self, *_: object) -> None:
        """End every process."""
        self._end()

    def run(
        self, groups: Iterable[tuple[K, Sequence[Task[T]]]], ahead: int | None = None
    ) -> Iterator[tuple[K, Answers[T]]]:
        """Yield each group's key with the answers to its tasks, in the order of the groups.

        `ahead` overrides AHEAD. Runs can be nested or read alternately, as they share the processes. After an interrupt
        it yields the started groups with the answers so far, then raises KeyboardInterrupt.
        """
        if self._count == 1 and self._limits is None:
            return self._in_turn(groups)
        return self._side_by_side(groups, AHEAD if ahead is None else ahead)

    def _in_turn(self, groups: Iterable[tuple[K, Sequence[Task[T]]]]) -> Iterator[tuple[K, Answers[T]]]:
        for key, tasks in groups:
            answers: Answers[T] = [None] * len(tasks)
            try:
                for number, task in enumerate(tasks):
                    answers[number] = guarded(task.run, task.where)
                    self._done(task.size)
                    self._tick()
            except KeyboardInterrupt:
                self.is_interrupted = True
                yield key, answers
                raise
            yield key, answers

    def _side_by_side(self, groups: Iterable[tuple[K, Sequence[Task[T]]]], room: int) -> Iterator[tuple[K, Answers[T]]]:
        """Keep several groups waiting, so that the largest task runs first and no process is idle."""
        source, more = iter(groups), True
        held: deque[tuple[K, _TaskGroup]] = deque()
        while more or held:
            try:
                while more and room > 0:
                    key, tasks = next(source, (None, None))
                    if tasks is None:
                        more = False
                    else:
                        held.append((key, self._take(tasks)))  # type: ignore[arg-type]  # None comes with None
                        room -= 1 + len(tasks)
                        self._turn(0)
                if held and held[0][1].left:
                    self._turn(_TICK)
            except KeyboardInterrupt:
                self.is_interrupted = True
                self._end()
                yield from ((key, group.answers) for key, group in held)
                raise
            while held and not held[0][1].left:
                key, group = held.popleft()
                room += 1 + len(group.answers)
                yield key, group.answers

    def _take(self, tasks: Sequence[Task[Any]]) -> "_TaskGroup":
        group = _TaskGroup(len(tasks))
        for number, task in enumerate(tasks):
            self._tickets += 1
            heappush(self._waiting, _Ticket(-task.size, self._tickets, task, group, number))
        return group

    def _turn(self, seconds: float) -> None:
        """Hand out waiting tasks, and collect the answers that arrive within some seconds."""
        from multiprocessing.connection import wait

        self._hand_out()
        ready = wait([worker.connection for worker in self._workers], seconds) if self._workers else ()
        for worker in [worker for worker in self._workers if worker.connection in ready]:
            try:
                answers = worker.connection.recv()
            except (EOFError, OSError):
                self._bury(worker)
            else:
                worker.began = time.monotonic()
                for answer in answers:
                    self._settle(worker.tickets.popleft(), answer)
        self._end_what_takes_too_long()
        self._hand_out()
        self._tick()

    def _end_what_takes_too_long(self) -> None:
        if self._limits is None:
            return
        latest = time.monotonic() - self._limits.seconds
        for worker in [busy for busy in self._workers if busy.tickets and busy.began < latest]:
            self._bury(worker, f"no answer in {self._limits.seconds:g} s")

    def _hand_out(self) -> None:
        """Give the largest waiting tasks to idle processes."""
        while self._waiting and (worker := self._idle()) is not None:
            size, most = 0, max(min(self._bundle_count, len(self._waiting) // self._count), 1)
            while self._waiting and len(worker.tickets) < most and size < _BUNDLE_SIZE:
                worker.tickets.append(heappop(self._waiting))
                size += worker.tickets[-1].task.size
            worker.began = time.monotonic()
            try:
                worker.connection.send([(ticket.task.run, ticket.task.where) for ticket in worker.tickets])
            except OSError:
                self._bury(worker)
        while self._waiting and not self._workers:  # The system can start no process at all.
            ticket = heappop(self._waiting)
            self._settle(ticket, guarded(ticket.task.run, ticket.task.where))

    def _idle(self) -> "_Worker | None":
        """Return an idle process, or a new one if the limit allows."""
        for worker in self._workers:
            if not worker.tickets:
                return worker
        if len(self._workers) == self._count:
            return None
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _STOPS)
        try:
            worker = _start(partial(_run_tasks, self._limits), [running.connection for running in self._workers])
            self._workers.append(worker)
        except OSError:
            return None
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        return worker

    def _bury(self, worker: "_Worker", too_long: str = "") -> None:
        """Report the task at which a process died, or which took `too_long`; requeue the tasks it had not started.

        If any of several tasks may be the cause, requeue all of them, to be handed out one by one.
        """
        self._workers.remove(worker)
        worker.end()
        if self._limits is None and len(worker.tickets) > 1:
            self._bundle_count = 1
        elif worker.tickets:
            ticket = worker.tickets.popleft()
            code = worker.process.exitcode or 0
            why = signal.Signals(-code).name if code < 0 else f"exit code {code}"
            why = too_long or f"the worker process died: {why}"
            advice = "Check that the disk responds" if too_long else "If memory ran out, use fewer --jobs"
            self._settle(ticket, bug_finding(ticket.task.where, why, advice))
        for ticket in worker.tickets:
            heappush(self._waiting, ticket)

    def _settle(self, ticket: "_Ticket", answer: object) -> None:
        ticket.group.answers[ticket.number] = answer
        ticket.group.left -= 1
        self._done(ticket.task.size)

    def _end(self) -> None:
        while self._workers:
            self._workers.pop().end()


class _TaskGroup:
    """The answers of a group, and the number still missing."""

    def __init__(self, count: int) -> None:
        self.answers: list[Any] = [None] * count
        self.left = count


class _Ticket(NamedTuple):
    """A waiting task; the largest sorts first, then the earlier one. Each has its own `serial`."""

    order: int
    serial: int
    task: Task[Any]
    group: _TaskGroup
    number: int


class _Worker:
    """A process, and the tasks that it has."""

    def __init__(self, process: Any, connection: Any) -> None:
        self.process = process
        self.connection = connection
        self.tickets: deque[_Ticket] = deque()
        self.began = 0.0

    def end(self) -> None:
        """Kill the process. One that waits for a dead disk ends only when the kernel returns."""
        self.process.kill()
        self.process.join(_END_SECONDS)
        self.connection.close()


def _start(serve: Callable[[Any], None], others: list[Any]) -> _Worker:
    """Start a process that serves a connection; `others` are those to the processes before it."""
    import multiprocessing  # only for several processes

    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    try:
        process = context.Process(target=_serve, args=(serve, theirs, [*others, ours]), daemon=True)
        process.start()
    except OSError:
        ours.close()
        raise
    finally:
        theirs.close()
    return _Worker(process, ours)


def _serve(serve: Callable[[Any], None], connection: Any, others: list[Any]) -> None:
    """Serve a connection until the parent closes it.

    A terminal sends ^C to every process; workers ignore it, and the parent decides. A worker also closes
    inherited connections, or these would stay open after the parent ends.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPS)
    for other in others:
        other.close()
    let_go_sockets(connection.fileno())
    try:
        serve(connection)
    except (EOFError, OSError):
        return


def _run_tasks(limits: Limits | None, connection: Any) -> None:
    """Run the tasks that arrive."""
    gc.set_threshold(_GARBAGE_COUNT)
    gc.freeze()  # The collector skips the objects inherited from the parent.
    if limits is not None:
        bound_memory(limits.memory)
    while True:
        tasks = connection.recv()
        # Limits apply per task; without limits one answer to several tasks is much cheaper.
        count = len(tasks) if limits is None else 1
        for begin in range(0, len(tasks), count):
            connection.send([guarded(run, where) for run, where in tasks[begin : begin + count]])


class SharedWork:
    """`count` objects that `make` returns, one in each of `count` other processes.

    If `count` is 1, the object is in this process. A context, which ends all its processes.
    """

    def __init__(self, count: int, make: Callable[[], Any]) -> None:
        self._count, self._make = count, make
        self._processes: list[_Worker] = []

    def __enter__(self) -> Self:
        """Start the processes; in this one no cycles of references are looked for meanwhile, as in those."""
        self._collects = gc.isenabled()
        gc.disable()
        self._local = [self._make()] if self._count == 1 else []
        try:
            while not self._local and len(self._processes) < self._count:
                others = [process.connection for process in self._processes]
                self._processes.append(_start(partial(_call_methods, self._make), others))
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


def _call_methods(make: Callable[[], Any], connection: Any) -> None:
    """Call the methods that arrive, of an object of this process."""
    gc.disable()  # Nothing here makes a cycle of references.
    part = make()
    while True:
        method, given = connection.recv()
        connection.send(getattr(part, method)(*given))
