"""KC181 to KC186 and KC228: what is said of producers, and where nothing is."""

import pytest

from kcheck.formats.producer_snapshot import Producer, ProducerSnapshot, serialize
from kcheck.model.entries import Offset
from kcheck.model.finding import Severity
from kcheck.model.names import DirectoryState
from kcheck.model.producers import (
    FaultyProducer,
    FaultySequence,
    ProducersView,
    SequenceFault,
    SnapshotFault,
    SnapshotView,
)
from kcheck.model.views import PartitionView
from kcheck.rules import Scope
from kcheck.rules.kc181_producer_snapshot_damaged import RULE as KC181
from tests.rules.build import file_view, found_by, found_by_all, partition

FAULTY = FaultyProducer(SnapshotFault.OLDER, 7, 5, 12)
REPEATED = FaultySequence(SequenceFault.REPEATED, 7, 0, Offset(18), 1, Offset(16), 2)


def view(
    *, faults: tuple[FaultyProducer, ...] = (), newest: bool = True, sequences: int = 0, known: int | None = 3,
    still: int = 0, clean: bool | None = True, state: DirectoryState = DirectoryState.CURRENT, snapshots: int = 1,
) -> PartitionView:  # fmt: skip
    """Return a partition whose batches were read."""
    found = partition(log_end=100)._replace(read=(), clean_shutdown=clean, log_start_offset=Offset(0), state=state)
    found = found._replace(files=frozenset({"00000000000000000100.snapshot"} if snapshots else {"5.log", "6.txt"}))
    snapshot = SnapshotView(found.where, Offset(100), newest, faults, {FAULTY.fault: len(faults)})
    told = (REPEATED,) if sequences else ()
    counts = {SequenceFault.REPEATED: sequences}
    return found._replace(producers=ProducersView((snapshot,) * snapshots, told, counts, known, still))


def said(shown: PartitionView, kafka: str = "4.3") -> list[tuple[str, str, str]]:
    """Return id, severity and message of what is found about producers."""
    found = found_by_all(shown, Scope.PARTITION, kafka)
    return [
        (finding.id, str(finding.severity), finding.message)
        for finding in found
        if "KC182" <= finding.id <= "KC186" or finding.id == "KC228"
    ]


def test_the_snapshot_that_is_loaded_is_worse() -> None:
    message = "ends producer 7 at offset 5; the log has a batch of it that ends at 12"
    assert [("KC182", "error", message)] == said(view(faults=(FAULTY,)))
    more = f"{message} (and 1 further contradiction)"
    assert [("KC182", "warning", more)] == said(view(faults=(FAULTY, FAULTY), newest=False))


def test_missing_snapshots() -> None:
    """An open transaction makes it worse, a start that reads the log through harmless."""
    assert ["error"] == [row[1] for row in said(view(snapshots=0, still=1))]
    assert ["warning"] == [row[1] for row in said(view(snapshots=0))]
    assert ["info"] == [row[1] for row in said(view(snapshots=0, clean=False))]
    assert not said(view(snapshots=0, known=0))
    assert not said(view(snapshots=0, known=None))
    assert not said(view(snapshots=0), kafka="0.10.2")
    assert not said(view(snapshots=0)._replace(log_start_offset=Offset(100)))


def test_a_directory_that_waits_for_its_end_is_left_alone() -> None:
    assert not said(view(faults=(FAULTY,), sequences=1, snapshots=1, state=DirectoryState.DELETED))


@pytest.mark.parametrize(
    ("kafka", "data", "severity"),
    [
        ("0.11.0.0", b"", Severity.FATAL),
        ("0.11.0.1", b"", Severity.WARNING),
        ("4.3", b"", Severity.WARNING),
        ("4.3", serialize(ProducerSnapshot(1, (Producer(-5, 0, 4, 14, 4, 0, 7, 10),))), Severity.ERROR),
    ],
)
def test_a_snapshot_that_is_refused_or_believed(kafka: str, data: bytes, severity: Severity) -> None:
    """A broker deletes what it cannot read, but for 0.11.0.0, which does not start."""
    (found,) = found_by(KC181, file_view("producer-snapshot", "5.snapshot", data, kafka), kafka)
    assert severity is found.severity
