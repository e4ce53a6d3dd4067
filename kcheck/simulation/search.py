"""Searches for the shortest history that breaks a promise of Kafka, within a budget of faults.

The search is breadth first over every event that can happen in a state. The states of a level are divided among parts,
which can be processes. Each keeps its states to itself and reports only their numbers. New states are found in one
place and in one order. So the answer does not depend on the number of parts.
"""

from array import array
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from heapq import merge
from itertools import chain
from typing import Any, NamedTuple, Protocol

from kcheck.simulation.canonical import number_by_roles, number_of
from kcheck.simulation.events import Event
from kcheck.simulation.moves import BUDGET_MAX, Budget, SearchChoices, covers, packed, steps
from kcheck.simulation.promises import PROMISES, WATCHED, broken, with_reads
from kcheck.simulation.state import Acks, ClusterState, Rules

__all__ = [
    "BUDGET_MAX",
    "DEPTH_MAX",
    "PROMISES",
    "STATES_MAX",
    "Budget",
    "Search",
    "SearchEnd",
    "SearchPart",
    "Violation",
    "search",
    "silent",
]

DEPTH_MAX = 100
STATES_MAX = 2_000_000
SHARE = 100
"""A level is divided among the parts when it has so many states for each of them."""
BLOCK = 4096
"""Number of states to look at before the parts agree on new successors, which bounds memory."""


class Violation(NamedTuple):
    """A promise that a history breaks."""

    promise: str
    """A key of PROMISES."""
    events: tuple[Event, ...]
    """The shortest history that breaks it."""


class SearchEnd(NamedTuple):
    """The result of a search."""

    violation: Violation | None
    """The first violation; None without any up to `depth`."""
    states: int
    """Number of different states that were visited."""
    depth: int
    """Number of events of the longest history whose state was visited."""
    complete: bool
    """True if there are no other states within the budget."""


class Search(NamedTuple):
    """A search, before it begins."""

    first: ClusterState
    """The cluster before the first event."""
    rules: Rules
    """Its Kafka and its settings."""
    budget: Budget
    """The allowed faults."""
    acks: Acks = Acks.ALL
    """The acknowledgments that producers wait for."""
    promises: tuple[str, ...] = WATCHED
    """The promises to watch."""
    depth_max: int = DEPTH_MAX
    """Number of events of a history at most."""
    states_max: int = STATES_MAX
    """Number of states that are visited at most."""
    symmetry: bool = True
    """True if followers that can change places are one."""

    @property
    def choices(self) -> SearchChoices:
        """Return the choices of tried events."""
        return SearchChoices(self.rules, self.acks)


class Successors(NamedTuple):
    """The successors of a part's states, a row for each, in the order of their parents and of the events."""

    parents: Sequence[int]
    steps: Sequence[int]
    numbers: Sequence[int]
    """Of the states, in canonical form."""
    budgets: Sequence[int]
    """The remaining budgets, packed."""


class SearchParts(Protocol):
    """The parts among which a search is divided."""

    def __len__(self) -> int:
        """Return how many there are."""
        ...

    def call(self, method: str, arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Call a method of every part, each with its own arguments; return what they answer."""
        ...


class SearchPart:
    """Some of the states of a level, in this process."""

    def __init__(self, task: Search) -> None:
        self._task = task
        self._choices = task.choices
        self._is_symmetric = task.symmetry and task.rules.mutant is None
        self._frontier = deque([(0, with_reads(task.first), task.budget)])
        self._made: list[tuple[ClusterState, Budget]] = []
        self._packed: dict[Budget, int] = {}

    def expand(self, end: int) -> Successors:
        """Return the successors of its states whose place is below `end`."""
        successors = Successors(array("q"), array("H"), array("q"), array("Q"))
        add_parent, add_step = successors.parents.append, successors.steps.append  # type: ignore[attr-defined]  # arrays here
        add_number, add_budget = successors.numbers.append, successors.budgets.append  # type: ignore[attr-defined]  # too
        self._made = []
        while self._frontier and self._frontier[0][0] < end:
            place, state, budget = self._frontier.popleft()
            for step, (_, after, left) in enumerate(steps(state, budget, self._choices)):
                add_parent(place)
                add_step(step)
                add_number(number_by_roles(after, left) if self._is_symmetric else number_of(after))
                add_budget(self._packed.get(left) or self._pack(left))
                self._made.append((after, left))
        return successors

    def keep(self, number: int, count: int) -> None:
        """Keep one of `count` shares of the states; the other parts keep the others."""
        self._frontier = deque(entry for entry in self._frontier if entry[0] % count == number)

    def _pack(self, budget: Budget) -> int:
        number = self._packed[budget] = packed(budget)
        return number

    def accept(self, rows: Sequence[int], places: Sequence[int]) -> Sequence[tuple[int, str]]:
        """Keep some rows under their places; return the promises that these states break."""
        task = self._task
        violations = []
        for row, place in zip(rows, places, strict=True):
            state, budget = self._made[row]
            self._frontier.append((place, state, budget))
            promise = broken(task.first, state, task.rules, task.promises)
            if promise is not None:
                violations.append((place, promise))
        return violations


class _Visited:
    """The known states, with the remaining budget, and the way to each."""

    def __init__(self, task: Search) -> None:
        self.parents, self.steps = array("q", [-1]), array("H", [0])
        first = with_reads(task.first)
        number = (
            number_by_roles(first, task.budget) if task.symmetry and task.rules.mutant is None else number_of(first)
        )
        self._known: dict[int, int | tuple[int, ...]] = {number: packed(task.budget)}

    def is_new(self, number: int, budget: int) -> bool:
        """Note a state; False if it was reached before with at least as much left."""
        known = self._known.get(number)
        if known is None:
            self._known[number] = budget
            return True
        budgets = (known,) if isinstance(known, int) else known
        if any(covers(more, budget) for more in budgets):
            return False
        self._known[number] = (*budgets, budget)
        return True

    def add(self, parent: int, step: int) -> int:
        """Return the place of a new state."""
        self.parents.append(parent)
        self.steps.append(step)
        return len(self.parents) - 1

    def history(self, task: Search, place: int) -> tuple[Event, ...]:
        """Return the events that lead to a state, by taking the same steps again."""
        taken = []
        while place > 0:
            taken.append(self.steps[place])
            place = self.parents[place]
        state, budget = with_reads(task.first), task.budget
        events: tuple[Event, ...] = ()
        for step in reversed(taken):
            happened, state, budget = next(
                event for at, event in enumerate(steps(state, budget, task.choices)) if at == step
            )
            events += happened
        return events


def silent(depth: int, states: int) -> None:
    """Show no progress."""
    del depth, states


def search(task: Search, parts: SearchParts, progress: Callable[[int, int], None] = silent) -> SearchEnd:
    """Return the shortest history that breaks a promise, or that there is none; the answer is always the same.

    `parts` share the work. All of them do the same until a level has enough states to be divided.
    """
    visited = _Visited(task)
    depth, begin, end, divided = 0, 0, 1, False
    while begin < end and depth < task.depth_max:
        if not divided and end - begin >= SHARE * len(parts):
            divided = True
            parts.call("keep", [(number, len(parts)) for number in range(len(parts))])
        for upto in (*range(begin + BLOCK, end, BLOCK), end):
            breach = _advance(task, visited, parts, upto, divided=divided)
            if breach is not None:
                place, promise = breach
                violation = Violation(promise, visited.history(task, place))
                return SearchEnd(violation, place + 1, depth + 1, complete=False)
            if len(visited.parents) >= task.states_max:
                return SearchEnd(None, len(visited.parents), depth, complete=False)
        depth += 1
        begin, end = end, len(visited.parents)
        progress(depth, end)
    return SearchEnd(None, len(visited.parents), depth, complete=begin == end)


def _advance(task: Search, visited: _Visited, parts: SearchParts, end: int, *, divided: bool) -> tuple[int, str] | None:
    """Visit what follows the states up to a place; return the first that breaks a promise."""
    of_parts: list[Successors] = parts.call("expand", [(end,)] * len(parts))
    of_parts = of_parts if divided else of_parts[:1]
    rows: list[list[int]] = [[] for _ in of_parts]
    places: list[list[int]] = [[] for _ in of_parts]
    for parent, step, part, row, number, budget in merge(*(_rows(at, rows_) for at, rows_ in enumerate(of_parts))):
        if len(visited.parents) >= task.states_max:
            break
        if visited.is_new(number, budget):
            rows[part].append(row)
            places[part].append(visited.add(parent, step))
    kept = [*zip(rows, places, strict=True)]
    violations = parts.call("accept", kept if divided else kept * len(parts))
    return min(chain.from_iterable(violations), default=None)


def _rows(part: int, successors: Successors) -> Iterator[tuple[int, int, int, int, int, int]]:
    for row, (parent, step, number, budget) in enumerate(zip(*successors, strict=True)):
        yield parent, step, part, row, number, budget
