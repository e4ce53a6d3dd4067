"""The rules on a segment: what no bytes of a real broker can show."""

from collections import Counter
from random import Random
from typing import Any

import pytest

from kcheck.model.entries import Offset
from kcheck.model.finding import Location, Severity
from kcheck.model.names import DirectoryState
from kcheck.model.segments import (
    Aborted,
    BatchFault,
    End,
    EntryFault,
    FaultyBatch,
    FaultyEntry,
    FaultyRecord,
    Gap,
    IndexView,
    RecordFault,
    RecordsView,
    SegmentView,
    Transactions,
)
from kcheck.model.views import PartitionView
from kcheck.rules import Scope
from tests.rules.build import found_by_all, partition, rules

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


def test_a_sound_segment_has_no_finding() -> None:
    assert not found_by_all(VIEW, Scope.SEGMENT)


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


def _of(*aborted: Aborted) -> SegmentView:
    """Return a segment with these aborted transactions."""
    return VIEW._replace(transactions=Transactions(aborted, {}, {}))


def test_a_transaction_that_began_before_the_first_segment_needs_no_entry() -> None:
    """Nor one of which no record is left; and where there are too many to follow nothing is said."""
    unseen = Aborted(7, None, Offset(5))
    assert not found_by_all(_of(unseen), Scope.SEGMENT)
    assert not found_by_all(VIEW, Scope.SEGMENT)
    (found,) = found_by_all(_of(unseen, Aborted(8, Offset(2), Offset(6))), Scope.SEGMENT)
    assert ("KC172", 1) == (found.id, found.data["count"])


@pytest.mark.parametrize(
    ("scanned", "fault", "kafka", "severity", "effect"),
    [
        (None, RecordFault.SHORT, "4.0", Severity.ERROR, "After an unclean shutdown Kafka 4.0 cuts the log at"),
        (True, RecordFault.SHORT, "4.1", Severity.FATAL, "Kafka 4.1 recovers this segment at its next start,"),
        (True, RecordFault.CONTROL, "4.3", Severity.FATAL, "Kafka 4.3 recovers this segment at its next start,"),
        (False, RecordFault.MARKER, "2.0", Severity.ERROR, "Kafka 2.0 does not read this segment at its next start."),
        (True, RecordFault.UNUSUAL, "4.3", Severity.INFO, "Kafka 4.3 accepts it as it is."),
    ],
)
def test_a_control_batch_keeps_a_broker_from_starting_where_it_is_read(
    scanned: bool | None, fault: RecordFault, kafka: str, severity: Severity, effect: str
) -> None:
    """As brokers 4.1.2 and 4.3.1 did; a value that is too short was another exception before."""
    faulty = FaultyRecord(fault, 300, Offset(5), Offset(5), 0, "it is wrong")
    view = VIEW._replace(scanned=scanned, records=RecordsView(9, (faulty,), {fault: 1}))
    (found,) = found_by_all(view, Scope.SEGMENT, kafka)
    assert ("KC168", severity) == (found.id, found.severity)
    assert found.effect.startswith(effect)


def _indexed(active: bool, room: int, *faults: FaultyEntry, kept_of: int = 0) -> Severity:
    """Return how bad these faults of an index with 9 entries are that the next start makes anew."""
    counts = dict(Counter(entry.fault for entry in faults))
    counts[faults[0].fault] += kept_of
    index = IndexView(Location(dir="t-0", file="00000000000000000000.index"), 800, 9, room, 0, faults, counts)
    view = VIEW._replace(active=active, scanned=True, offset_index=index)
    (found,) = (one for one in found_by_all(view, Scope.SEGMENT) if one.id == "KC152")
    return found.severity


def _entry(number: int, fault: EntryFault = EntryFault.NO_BATCH) -> FaultyEntry:
    return FaultyEntry(fault, number, Offset(9), 500)


def test_what_a_truncation_leaves_in_an_index_is_no_warning() -> None:
    """All entries up to the last one in the active segment, whose file has room; or the one where old ones begin."""
    assert Severity.INFO is _indexed(True, 728, _entry(7), _entry(8))
    assert Severity.INFO is _indexed(True, 728, _entry(3), _entry(4), kept_of=4)
    assert Severity.WARNING is _indexed(True, 728, _entry(6), _entry(8))
    assert Severity.WARNING is _indexed(True, 728, _entry(6), _entry(7))
    assert Severity.WARNING is _indexed(True, 0, _entry(7), _entry(8))
    assert Severity.WARNING is _indexed(False, 728, _entry(7), _entry(8))


def test_an_offset_that_falls_once_can_be_where_left_entries_begin() -> None:
    falls = _entry(5, EntryFault.ORDER)
    rows = ((1, Severity.INFO), (2, Severity.WARNING))
    for count, severity in rows:
        index = IndexView(VIEW.where, 800, 9, 728, 0, (falls,), {EntryFault.ORDER: count})
        view = VIEW._replace(active=True, scanned=True, offset_index=index)
        (found,) = (one for one in found_by_all(view, Scope.SEGMENT) if one.id == "KC151")
        assert severity is found.severity


def test_a_hole_is_told_where_it_is_alone() -> None:
    """The cleaner makes more of them, in and between batches; below the log start nothing is missing."""
    alone = VIEW._replace(gaps=(Gap(Offset(4), Offset(6)),), holes=2)

    def told(view: PartitionView, *read: SegmentView) -> list[Severity]:
        found = found_by_all(view._replace(read=read or (alone,)), Scope.READ_PARTITION)
        return [each.severity for each in found if each.id == "KC229"]

    assert [Severity.INFO] == told(partition())
    assert [] == told(partition(), alone, alone)
    assert [] == told(partition(), alone._replace(holes=3))
    assert [] == told(partition(log_start=6))
    assert [] == told(partition()._replace(cleaned=True))
    assert [] == told(partition(name="__consumer_offsets-0"))
    assert [] == told(partition(state=DirectoryState.STRAY))
    assert [Severity.ERROR] == told(partition(name="__cluster_metadata-0"), alone, alone)
