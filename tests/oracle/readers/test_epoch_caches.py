"""kcheck.core.replication.leader_epochs and the LeaderEpochFileCache of each release give the same answers.

With KCHECK_SWEEP=1 20,000 lookups and 2,000 sequences of operations for each release, both on random caches; more
multiplies them, without it they are fewer, and KCHECK_SEED (0) chooses other ones.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

import pytest

from kcheck.core.releases.releases import release
from kcheck.core.replication.leader_epochs import (
    assign,
    end_offset_for,
    epoch_for_offset,
    read_lines,
    truncate_from_end,
    truncate_from_start,
)
from kcheck.model.entries import Epoch, EpochEntries, EpochEntry, Offset
from kcheck.model.release import Assign, Release
from tests.oracle.ask import SEED, Ask, assert_equal, generated, sampled

RELEASES = (
    "0.11.0.2", "0.11.0.3", "1.1.0", "1.1.1", "2.0.0", "2.0.1", "2.4.1", "2.6.3", "2.7.2", "2.8.2",
    "3.4.1", "3.9.2", "4.3.1",
)  # fmt: skip

pytestmark = pytest.mark.oracle

EPOCH_MAX, OFFSET_MAX = 2**31 - 1, 2**63 - 1


@dataclass(frozen=True, slots=True)
class Case:
    """A leader-epoch-checkpoint, a log end offset, and what to ask, as `EpochCaches.java` writes it."""

    lines: EpochEntries
    log_end_offset: Offset
    questions: tuple[str, ...]

    def __str__(self) -> str:
        lines = " ".join(f"{line.epoch}:{line.start_offset}" for line in self.lines)
        return f"{lines}|{self.log_end_offset}|{' '.join(self.questions)}"


@pytest.mark.parametrize("version", sampled(RELEASES))
def test_epoch_caches(version: str, ask: Ask) -> None:
    """Every lookup, every cache after an operation and every exception is equal."""
    random, chosen = Random(f"{SEED} {version}"), release(version)
    cases = [*_lookups(random, generated(2500), chosen), *_sequences(random, generated(2000))]
    answers = ask(version, "EpochCaches.java", cases)
    theirs = [[_numbers(part) for part in answer.split("\t")] for answer in answers]
    ours = [list(_ours(case, chosen)) for case in cases]
    assert_equal(cases, ours, theirs)


def _numbers(answer: str) -> str:
    """Every release has its own toString(); the numbers in it are the same."""
    return answer if answer.startswith("!") else " ".join(re.findall(r"-?\d+", answer))


def _ours(case: Case, chosen: Release) -> Iterator[str]:
    error = "!AssertionError" if chosen.assign is Assign.IGNORE else "!IllegalArgumentException"
    try:
        cache = read_lines(case.lines, chosen)
        for question in case.questions:
            kind, numbers = question[0], [int(number) for number in question[1:].split(":")]
            if kind == "?":
                yield _lookup(cache, Epoch(numbers[0]), case.log_end_offset, chosen)
                continue
            if kind == "@":
                yield "" if (found := epoch_for_offset(cache, Offset(numbers[0]))) is None else str(found)
                continue
            if kind == "+":
                cache = assign(cache, Epoch(numbers[0]), Offset(numbers[1]), how=chosen.assign)
            elif kind == "<":
                cache = truncate_from_end(cache, Offset(numbers[0]))
            else:
                cache = truncate_from_start(cache, Offset(numbers[0]), how=chosen.assign)
            yield " ".join(f"{entry.epoch} {entry.start_offset}" for entry in cache)
    except ValueError:
        yield error


def _lookup(cache: EpochEntries, requested: Epoch, log_end_offset: Offset, chosen: Release) -> str:
    assert chosen.lookup is not None
    answer = end_offset_for(cache, requested, log_end_offset=log_end_offset, lookup=chosen.lookup)
    return str(answer.end_offset) if answer.epoch is None else f"{answer.epoch} {answer.end_offset}"


def _lookups(random: Random, count: int, chosen: Release) -> Iterator[Case]:
    """Eight requested epochs for each cache, from 3.5 two offsets too (`epochForOffset`)."""
    for _ in range(count):
        lines = _lines(random)
        questions = [f"?{_epoch(random, lines)}" for _ in range(8)]
        if chosen.version >= (3, 5):
            questions += [f"@{_offset(random, lines)}" for _ in range(2)]
        yield Case(lines, _log_end_offset(random, lines), tuple(questions))


def _sequences(random: Random, count: int) -> Iterator[Case]:
    """One to eight operations; the questions between them are about what the operations left."""
    for _ in range(count):
        lines = _lines(random)
        kinds = random.choices("+<>?", (4, 2, 2, 1), k=random.randint(1, 8))
        questions = tuple(_operation(random, kind, lines) for kind in kinds)
        yield Case(lines, _log_end_offset(random, lines), questions)


def _operation(random: Random, kind: str, lines: EpochEntries) -> str:
    if kind == "?":
        return f"?{_epoch(random, lines)}"
    if kind == "+":
        return f"+{_epoch(random, lines)}:{_offset(random, lines)}"
    return f"{kind}{_offset(random, lines)}"


def _lines(random: Random) -> EpochEntries:
    """None to twelve entries: most files in order, with gaps; some in none, with equal or negative numbers."""
    size = random.choice((0, 1, 1, 2, 2, 3, 4, 5, 12))
    if random.random() < 0.6:
        epochs, starts = sorted(random.sample(range(2 * size + 2), size)), sorted(random.sample(range(4 * size), size))
    else:
        low = -2 if random.random() < 0.1 else 0
        epochs = [random.randint(low, size + 2) for _ in range(size)]
        starts = [random.randint(low, 2 * size + 2) for _ in range(size)]
    if random.random() < 0.1:
        epochs, starts = [EPOCH_MAX - 40 + epoch for epoch in epochs], [OFFSET_MAX - 60 + start for start in starts]
    return tuple(EpochEntry(Epoch(epoch), Offset(start)) for epoch, start in zip(epochs, starts, strict=True))


def _epoch(random: Random, lines: EpochEntries) -> int:
    """Return an epoch of the file, one beside it, the undefined one, or anything."""
    near = [line.epoch + step for line in lines for step in (-1, 0, 1)]
    return min(random.choice([-1, random.randint(-3, 8), EPOCH_MAX, *near, *near]), EPOCH_MAX)


def _offset(random: Random, lines: EpochEntries) -> int:
    near = [line.start_offset + step for line in lines for step in (-1, 0, 1)]
    return min(random.choice([-1, random.randint(-3, 20), OFFSET_MAX, *near, *near]), OFFSET_MAX)


def _log_end_offset(random: Random, lines: EpochEntries) -> Offset:
    """At the last entry (an epoch without records), behind it, or anywhere."""
    last = lines[-1].start_offset if lines else 0
    return Offset(max(0, min(last + random.choice((0, 1, 5, random.randint(-20, 20))), OFFSET_MAX)))
