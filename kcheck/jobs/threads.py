"""Runs tasks in threads, for slow object stores; answers come in the order of their groups."""

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from queue import PriorityQueue
from threading import Condition, Thread
from typing import Any, NamedTuple, Self, TypeVar

from kcheck.errors import StoreFailedError
from kcheck.jobs.guard import bug_finding, guarded
from kcheck.jobs.workers import AHEAD, Answers, Task

K = TypeVar("K")
T = TypeVar("T")

_TICK = 0.2
"""Seconds between progress updates while waiting for an answer."""
_LAST = 1 << 62
"""The order of the ticket that ends a thread, after all tasks."""


class Threads:
    """Runs groups of tasks like `Workers`. As a context it abandons running tasks at its end.

    A task that takes longer than `seconds` becomes a finding, and a new thread replaces the blocked one.
    """

    def __init__(self, count: int, *, tick: Callable[[], None], seconds: float) -> None:
        self._count = count
        self._tick = tick
        self._seconds = seconds
        self._waiting: PriorityQueue[_ThreadTicket] = PriorityQueue()
        self._changed = Condition()
        self._serial = 0
        self._started = 0

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(self, *_: object) -> None:
        """Let every thread end after its current task; discard waiting tasks."""
        while not self._waiting.empty():
            self._waiting.get_nowait()
        for _number in range(self._started):
            self._waiting.put(_ThreadTicket(_LAST, 0, None))

    def run(
        self, groups: Iterable[tuple[K, Sequence[Task[T]]]], ahead: int | None = None
    ) -> Iterator[tuple[K, Answers[T]]]:
        """Yield each group's key with the answers to its tasks, in order, like `Workers.run`.

        StoreFailedError: a task met it.
        """
        source, more = iter(groups), True
        room = AHEAD if ahead is None else ahead
        held: deque[tuple[K, list[_Job]]] = deque()
        while more or held:
            while more and room > 0:
                key, tasks = next(source, (None, None))
                if tasks is None:
                    more = False
                else:
                    held.append((key, [self._begin(task) for task in tasks]))  # type: ignore[arg-type]  # None comes with None
                    room -= 1 + len(tasks)
            if held and not all(job.is_over for job in held[0][1]):
                self._wait(held[0][1])
            while held and all(job.is_over for job in held[0][1]):
                key, jobs = held.popleft()
                room += 1 + len(jobs)
                for job in jobs:
                    if isinstance(job.answer, StoreFailedError):
                        raise job.answer
                yield key, [job.answer for job in jobs]

    def _begin(self, task: Task[Any]) -> "_Job":
        job = _Job(task)
        self._serial += 1
        self._waiting.put(_ThreadTicket(-task.size, self._serial, job))
        if self._started < self._count:
            self._start()
        return job

    def _start(self) -> None:
        self._started += 1
        Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while (job := self._waiting.get().job) is not None:
            job.began = time.monotonic()
            answer: Any
            try:
                answer = guarded(job.task.run, job.task.where)
            except StoreFailedError as error:
                answer = error
            with self._changed:
                if job.is_over:
                    return  # This thread was given up and replaced.
                job.answer, job.is_over = answer, True
                self._changed.notify_all()

    def _wait(self, jobs: "list[_Job]") -> None:
        """Wait briefly for the answers of a group, and give up on tasks that take too long."""
        self._tick()
        with self._changed:
            self._changed.wait_for(lambda: all(job.is_over for job in jobs), _TICK)
            latest = time.monotonic() - self._seconds
            for job in jobs:
                if not job.is_over and job.began is not None and job.began < latest:
                    why = f"no answer in {self._seconds:g} s"
                    job.answer, job.is_over = (
                        bug_finding(job.task.where, why, "Check that the object store responds"),
                        True,
                    )
                    self._start()


class _Job:
    """A task, the time when it began, and its answer once it is done."""

    def __init__(self, task: Task[Any]) -> None:
        self.task = task
        self.began: float | None = None
        self.answer: Any = None
        self.is_over = False


class _ThreadTicket(NamedTuple):
    """A waiting job; the largest sorts first, then the earlier one. A ticket without a job ends a thread."""

    order: int
    serial: int
    job: _Job | None
