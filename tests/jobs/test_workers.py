"""Tasks side by side: the answers stand in order, and no failure hides another task or leaves a process behind."""

import os
import signal
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from kcheck.jobs import workers
from kcheck.jobs.workers import Limits, Task, Workers
from kcheck.model.finding import Finding, Location

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
"""The test runner has threads where kcheck has none."""

BIG = 1 << 30


def task(run: Any, *arguments: object, size: int = 1) -> Task[Any]:
    """Return a task whose place is its last argument."""
    return Task(partial(run, *arguments), Location(file=str(arguments[-1])), size)


def double(number: int) -> int:
    return 2 * number


def fail(number: int) -> int:
    raise RuntimeError(f"boom {number}")


def die(number: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return number


def leave(number: int) -> int:
    os._exit(number)


def sleep(number: int) -> int:
    time.sleep(3600)
    return number


def who(number: int) -> tuple[int, int]:
    """Return the process, after a while in which the others begin."""
    time.sleep(0.1)
    return os.getpid(), number


def append(path: str, number: int) -> None:
    with Path(path).open("a") as file:
        file.write(f"{number}\n")


def run(count: int, groups: Any) -> tuple[list[tuple[object, list[Any]]], list[int]]:
    """Return the answers of each group, and the sizes of what was done."""
    sizes: list[int] = []
    with Workers(count, done=sizes.append, tick=lambda: None) as made:
        return list(made.run(groups)), sizes


def message(found: Any) -> str:
    assert isinstance(found, Finding)
    assert "KC000" == found.id
    return found.message


def children() -> set[int]:
    """Return the processes that this one has started."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == os.getpid():
            found.add(int(path.parent.name))
    return found


@pytest.mark.sample(4)
@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("ahead", [1, 10, 1000])
def test_answers_stand_in_order(monkeypatch: pytest.MonkeyPatch, count: int, ahead: int) -> None:
    """Also those of groups without tasks, whatever the sizes, and however few are held."""
    monkeypatch.setattr(workers, "AHEAD", ahead)
    groups = [
        (name, [task(double, number, size=(number * 37) % 50 << 18) for number in range(name, 2 * name)])
        for name in (3, 0, 40, 1, 0, 100, 7)
    ]
    found, sizes = run(count, groups)
    assert [(name, [2 * n for n in range(name, 2 * name)]) for name, _ in groups] == found
    assert sorted(each.size for _, tasks in groups for each in tasks) == sorted(sizes)


def test_nothing_to_do_starts_no_process() -> None:
    before = children()
    with Workers(3) as made:
        assert [("a", [])] == list(made.run([("a", [])]))
        assert before == children()


@pytest.mark.parametrize("count", [1, 3])
def test_what_fails_is_told_and_the_rest_is_run(count: int) -> None:
    found, _ = run(count, [("a", [task(double, 1), task(fail, 2), task(double, 3)]), ("b", [task(fail, 4)])])
    (_, a), (_, b) = found
    assert [2, 6] == [a[0], a[2]]
    assert ["kcheck failed here: RuntimeError: boom 2"] == [message(a[1])]
    assert ("2", "kcheck failed here: RuntimeError: boom 4") == (a[1].where.file, message(b[0]))


@pytest.mark.parametrize(("end", "why"), [(die, "SIGKILL"), (partial(leave), "exit code 2")])
def test_a_process_that_dies_costs_one_task(end: Any, why: str) -> None:
    """What it had been given beside that is run by another one."""
    tasks = [task(end if number == 2 else double, number) for number in range(200)]
    ((_, answers),), _ = run(2, [("a", tasks)])
    assert f"kcheck failed here: the worker process died: {why}" == message(answers.pop(2))
    assert [2 * number for number in range(200) if number != 2] == answers


def test_all_may_die() -> None:
    ((_, answers),), _ = run(2, [("a", [task(die, number) for number in range(20)])])
    assert all("SIGKILL" in message(found) for found in answers)


def test_without_processes_it_is_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the system has no room for another one."""

    def refuse(*_: object) -> Any:
        raise BlockingIOError("Resource temporarily unavailable")

    monkeypatch.setattr(workers, "_start", refuse)
    assert [("a", [2, 4])] == run(2, [("a", [task(double, 1), task(double, 2)])])[0]


def test_the_largest_is_begun_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Of those that are held, across groups; one process shows the order."""
    monkeypatch.setattr(workers, "_start", lambda *_: (_ for _ in ()).throw(OSError()))
    order = tmp_path / "order"
    groups = [(name, [task(append, str(order), 10 * name + n, size=n * BIG) for n in (1, 3)]) for name in (1, 2)]
    groups.append((3, [task(append, str(order), 32, size=2 * BIG)]))

    def slowly() -> Iterator[Any]:
        yield 0, [task(double, 0) for _ in range(3)]
        yield from groups

    with Workers(2) as made:
        monkeypatch.setattr(made, "_turn", lambda _: None)
        found = made.run(slowly())
        turn = Workers._turn

        def late(seconds: float) -> None:
            if seconds:
                turn(made, seconds)

        monkeypatch.setattr(made, "_turn", late)
        list(found)
    assert ["13", "23", "32", "11", "21"] == order.read_text().split()


def test_large_tasks_are_shared() -> None:
    ((_, answers),), _ = run(2, [("a", [task(who, number, size=BIG) for number in range(6)])])
    assert 2 == len({process for process, _ in answers})
    assert os.getpid() not in {process for process, _ in answers}


@pytest.mark.parametrize("count", [1, 2])
def test_an_interrupt_leaves_what_was_done(count: int) -> None:
    """The groups that were begun are given as far as they have come, then the interrupt; no process is left."""
    before = children()

    def groups() -> Iterator[Any]:
        yield "whole", [task(double, 1)]
        yield "begun", [task(double, 2, size=BIG), task(sleep, 3)]
        yield "not begun", [task(double, 4)]

    found = []

    def interrupt(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)  # as ^C does, which waits where a process is being started

    alarmed = signal.signal(signal.SIGALRM, interrupt)
    interrupted = signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 1.0)
    begin = time.monotonic()
    with Workers(count) as made:
        try:
            for each in made.run(groups()):
                found.append(each)  # noqa: PERF402 - an interrupt must not lose them
        except KeyboardInterrupt:
            found.append(("interrupted", []))
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, alarmed)
            signal.signal(signal.SIGINT, interrupted)
    assert ("interrupted", []) == found.pop()
    assert [("whole", [2]), ("begun", [4, None])] == found[:2]
    assert time.monotonic() - begin < 10
    assert before == children()


def test_an_error_elsewhere_leaves_no_process() -> None:
    before = children()

    def fails() -> None:
        with Workers(2) as made:
            for name, _ in made.run([("a", [task(double, 1)]), ("b", [task(sleep, 2)])]):
                raise ValueError(name)

    with pytest.raises(ValueError, match="a"):
        fails()
    assert before == children()


def test_who_waits_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few times a second, also while one task goes on."""
    monkeypatch.setattr(workers, "_TICK", 0.01)
    ticks: list[int] = []
    with Workers(2, tick=lambda: ticks.append(1)) as made:
        list(made.run([("a", [task(who, 1)])]))
    assert len(ticks) > 3


def fill(size: int) -> int:
    return len(bytearray(size))


def bounded(count: int, groups: Any, *, seconds: float = 60, memory: int = 1 << 30) -> list[tuple[object, list[Any]]]:
    """Return the answers of each group, from processes with limits."""
    with Workers(count, limits=Limits(seconds, memory)) as made:
        return list(made.run(groups, ahead=2))


@pytest.mark.parametrize("count", [1, 2])
def test_what_takes_too_long_is_given_up(count: int) -> None:
    """It costs one task, and its process; a single process is one of its own too."""
    before = children()
    ((_, answers),) = bounded(count, [("a", [task(double, 1), task(sleep, 2), task(double, 3)])], seconds=0.5)
    assert "kcheck failed here: no answer in 0.5 s" == message(answers.pop(1))
    assert [2, 6] == answers
    assert before == children()


def test_what_takes_too_much_memory_is_given_up() -> None:
    """The others have what they need."""
    tasks = [task(fill, 1 << 20), task(fill, 1 << 30), task(fill, 2 << 20)]
    ((_, answers),) = bounded(1, [("a", tasks)], memory=256 << 20)
    assert message(answers.pop(1)).startswith("kcheck failed here: MemoryError")
    assert [1 << 20, 2 << 20] == answers


@pytest.mark.parametrize("count", [1, 2])
def test_a_run_can_feed_another_one(count: int) -> None:
    """Both have their answers in order, and a third can be begun meanwhile."""
    limits = Limits(60, 1 << 30)
    with Workers(count, limits=limits) as made:

        def groups() -> Iterator[Any]:
            for name, (answer,) in made.run(((name, [task(double, name)]) for name in range(20)), ahead=2):
                yield name, [task(double, answer)]

        found = []
        for name, (answer,) in made.run(groups(), ahead=3):
            ((_, (again,)),) = made.run([("again", [task(double, answer)])])
            found.append((name, again))
    assert [(name, 8 * name) for name in range(20)] == found
