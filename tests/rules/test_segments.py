"""The rules on a segment: what no bytes of a real broker can show."""

from collections import Counter
from random import Random
from typing import Any

import pytest

from kcheck.model.entries import Offset
from kcheck.model.finding import Location, Severity
from kcheck.model.segments import (
    Aborted,
    BatchFault,
    End,
    EntryFault,
    FaultyBatch,
    FaultyEntry,
    FaultyRecord,
    IndexView,
    RecordFault,
    RecordsView,
    SegmentView,
    Transactions,
)
from kcheck.rules import Scope
from tests.rules.build import found_by_all, rules

VIEW = SegmentView(
    where=Location(dir="t-0", file="00000000000000000000.log"), base_offset=Offset(0), size=500, valid_size=500,
    end=End.WHOLE, zeros=False, batches=1, first_offset=Offset(0), end_offset=Offset(10), max_timestamp=5, epochs=(),
    faults=(), counts={}, beyond=None, offset_index=None, time_index=None, transactions=None,
    files=frozenset(f"00000000000000000000.{ending}" for ending in ("log", "index", "timeindex")),
    active=True, scanned=None,
)  # fmt: skip
OFFSETS = IndexView(Location(dir="t-0", file="0.index"), 8, 1, 0, 0, (), {})


@pytest.mark.parametrize("scanned", [None, True, False])
@pytest.mark.parametrize(
    ("size", "kafka", "expected"),
    [
        (2**31 - 1, "4.3", None),
        (2**31, "4.3", (Severity.FATAL, "does not start, now or later")),
        (2**32 + 78, "2.0", (Severity.ERROR, "reads it as a file of 78 bytes")),
    ],
)
def test_the_size_of_a_log_comes_before_zeros_at_its_end(
    scanned: bool | None, size: int, kafka: str, expected: tuple[Severity, str] | None
) -> None:
    """FileRecords counts before anybody could cut the zeros off."""
    view = VIEW._replace(size=size, zeros=True, end=End.CORRUPT, active=True, scanned=scanned)
    (found,) = [each for each in found_by_all(view, Scope.FAULTY_SEGMENT, kafka) if each.id == "KC143"]
    if expected is None:
        assert "does not start, now or later" not in found.effect
    else:
        assert (found.severity, found.effect) == (expected[0], f"Kafka {kafka} {expected[1]}.")


def test_a_rule_finds_nothing_where_its_precondition_does_not_hold() -> None:
    """`found_by` asserts it: here for faults of every kind, alone and together, and for several releases."""
    chance, seen = Random(7), set[str]()
    batches = [FaultyBatch(fault, 0, 99, Offset(0), Offset(9), 0, 10, 2, 3) for fault in BatchFault]
    records = [FaultyRecord(fault, 0, Offset(0), Offset(9), 0, "wrong") for fault in RecordFault]
    entries = [FaultyEntry(fault, 0, Offset(9), 500) for fault in EntryFault]

    def some(faults: list[Any]) -> tuple[Any, ...]:
        return tuple(chance.sample(faults, chance.choice((0, 0, 0, 1, 2))))

    def index(last_timestamp: int | None = None) -> IndexView | None:
        faults, torn = some(entries), chance.choice((0, 0, 3))
        counts = Counter(entry.fault for entry in faults)
        view = OFFSETS._replace(room=chance.choice((0, 8)), torn=torn, faults=faults, counts=counts)
        return chance.choice((None, view._replace(last_timestamp=last_timestamp)))

    for _ in range(1500):
        faults, inside = some(batches), some(records)
        aborted = some([Aborted(8, Offset(2), Offset(6))] * 2)
        view = VIEW._replace(
            faults=faults, counts=Counter(batch.fault for batch in faults), end=chance.choice((End.WHOLE, *End)),
            records=RecordsView(1, inside, Counter(record.fault for record in inside)),
            offset_index=index(), time_index=index(chance.choice((None, 4, 5))), active=chance.choice((True, False)),
            batches=chance.choice((0, 1)), scanned=chance.choice((None, False, True)),
            transactions=Transactions(aborted, {}, {}),
        )  # fmt: skip
        indexes = [name for name, read in ((".index", view.offset_index), (".timeindex", view.time_index)) if read]
        files = frozenset(name for name in VIEW.files if name.endswith((".log", *indexes)))
        view = view._replace(zeros=view.end is End.TORN and chance.random() < 0.5, files=files)
        kafka = chance.choice(("0.10.2", "2.1", "4.3"))
        seen.update(finding.id for finding in found_by_all(view, Scope.SEGMENT, kafka))
    of_segments = (Scope.SEGMENT, Scope.FAULTY_SEGMENT)
    assert {rule.id for rule in rules() if rule.when is not None and rule.scope in of_segments} <= seen


def test_a_segment_that_shrinks_is_told_as_that_alone() -> None:
    """Indexes that point behind its end say nothing then."""
    (found,) = found_by_all(VIEW._replace(end=End.SHRUNK, valid_size=100), Scope.SEGMENT)
    assert ("KC150", 100) == (found.id, found.where.position)
