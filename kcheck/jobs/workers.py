"""Tasks in this process one after the other, or in several processes side by side; the answers stand in order."""

import gc
import signal
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import heappop, heappush
from typing import Any, Generic, NamedTuple, Self, TypeVar

from kcheck.disk.descriptors import let_go_sockets
from kcheck.disk.memory import bound_memory
from kcheck.jobs.guard import bug_finding, guarded
from kcheck.model.finding import Finding, Location

K = TypeVar("K")
T = TypeVar("T")

AHEAD = 512
"""Tasks, and groups of them, are held up to this number before the first group is done: that bounds memory."""
_BUNDLE_SIZE = 8 << 20
_BUNDLE_COUNT = 32
"""So much is handed out at once: many small tasks, or one large one."""
_TICK = 0.2
"""Seconds that are waited for an answer before something is shown."""
_END_SECONDS = 10
"""A process that was killed is waited for so long."""
_GARBAGE_COUNT = 100_000
"""As in the process of a command: the Python of an executor looks for circles much more often, and finds none."""
_STOPS = (signal.SIGINT, signal.SIGTERM)


class Task(NamedTuple, Generic[T]):
    """Something to run, which pickle knows: `where` is named if it fails, `size` in bytes says what it costs."""

    run: Callable[[], T]
    where: Location
    size: int


class Limits(NamedTuple):
    """What a task may take: `seconds` until it has answered, bytes of `memory` beyond those that kcheck itself has."""

    seconds: float
    memory: int


Answers = list[T | Finding | None]
"""One of each task: KC000 for one that failed, None for one that an interrupt kept from being run."""


class Workers:
    """Runs groups of tasks. A context: no process is left behind it.

    `count` processes are started when they are needed, none if it is 1 and there are no `limits`: these are held by
    ending the process. `done` is told the size of each task that is over, `tick` is called a few times a second.
    """

    def __init__(
        self,
        count: int,
        *,
        done: Callable[[int], None] = lambda _: None,
        tick: Callable[[], None] = lambda: None,
        limits: Limits | None = None,
    ) -> None:
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
        """Yield each group's name with the answers to its tasks, in the order of the groups.

        `ahead` stands for AHEAD. One run can feed another, or be begun while another one is read: they share the
        processes. After an interrupt the groups that were begun are yielded as far as they have come; then
        KeyboardInterrupt.
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
                yield key, answers
                raise
            yield key, answers

    def _side_by_side(self, groups: Iterable[tuple[K, Sequence[Task[T]]]], room: int) -> Iterator[tuple[K, Answers[T]]]:
        """Hold some groups, so that the largest of many tasks is run first, and that no process waits."""
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
        """Hand out what waits, and take the answers that come within so many seconds."""
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
        """Give the largest of the tasks that wait to processes that have none."""
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
        while self._waiting and not self._workers:  # The system gives us no process at all.
            ticket = heappop(self._waiting)
            self._settle(ticket, guarded(ticket.task.run, ticket.task.where))

    def _idle(self) -> "_Worker | None":
        """Return a process that has nothing to do, a new one if there may be more of them."""
        for worker in self._workers:
            if not worker.tickets:
                return worker
        if len(self._workers) == self._count:
            return None
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _STOPS)
        try:
            worker = _start([running.connection for running in self._workers], self._limits)
            self._workers.append(worker)
        except OSError:
            return None
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        return worker

    def _bury(self, worker: "_Worker", too_long: str = "") -> None:
        """Tell of the task at which a process ended, or which took `too_long`; what it had not begun waits again.

        Where it could have been any of several, all of them wait again, to be handed out one by one.
        """
        self._workers.remove(worker)
        worker.end()
        if self._limits is None and len(worker.tickets) > 1:
            self._bundle_count = 1
        elif worker.tickets:
            ticket = worker.tickets.popleft()
            code = worker.process.exitcode or 0
            why = signal.Signals(-code).name if code < 0 else f"exit code {code}"
            why = too_long or f"the process that read it ended: {why}"
            advice = "See whether its disk answers" if too_long else "If memory ran out, use fewer --jobs"
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
    """The answers of a group, and how many of them are missing."""

    def __init__(self, count: int) -> None:
        self.answers: list[Any] = [None] * count
        self.left = count


class _Ticket(NamedTuple):
    """A task that waits; the largest is the least, of two alike the earlier. No two have one `serial`."""

    order: int
    serial: int
    task: Task[Any]
    group: _TaskGroup
    number: int


class _Worker:
    """A process, and what it was given to do."""

    def __init__(self, process: Any, connection: Any) -> None:
        self.process = process
        self.connection = connection
        self.tickets: deque[_Ticket] = deque()
        self.began = 0.0

    def end(self) -> None:
        """End the process: it has nothing to lose. One that waits for a dead disk ends when the system lets it."""
        self.process.kill()
        self.process.join(_END_SECONDS)
        self.connection.close()


def _start(others: list[Any], limits: Limits | None) -> _Worker:
    """Start a process; signals that stop kcheck are blocked meanwhile, and so it never runs without an owner."""
    import multiprocessing  # only where there are several processes

    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    try:
        process = context.Process(target=_serve, args=(theirs, [*others, ours], limits), daemon=True)
        process.start()
    except OSError:
        ours.close()
        raise
    finally:
        theirs.close()
    return _Worker(process, ours)


def _serve(connection: Any, others: list[Any], limits: Limits | None) -> None:
    """Run what arrives until nobody is left to ask.

    A terminal sends ^C to every process: the one that was started by the user decides. It also closes the other
    connections, which it has from its parent: else they would stay open when that one is gone.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPS)
    for other in others:
        other.close()
    let_go_sockets(connection.fileno())
    gc.set_threshold(_GARBAGE_COUNT)
    gc.freeze()  # What the parent had stays: it is looked at no more.
    if limits is not None:
        bound_memory(limits.memory)
    try:
        while True:
            tasks = connection.recv()
            # A limit is one of each task; without, an answer to several at once is much cheaper.
            count = len(tasks) if limits is None else 1
            for begin in range(0, len(tasks), count):
                connection.send([guarded(run, where) for run, where in tasks[begin : begin + count]])
    except (EOFError, OSError):
        return
