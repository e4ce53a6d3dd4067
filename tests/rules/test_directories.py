"""Directories with names of files (KC233), files with those of directories (KC311), last stable offsets (KC234)."""

import pytest

from kcheck.core.releases.releases import release
from kcheck.formats import offset_checkpoint
from kcheck.model.entries import Offset
from kcheck.model.finding import Location, Severity
from kcheck.model.names import CLUSTER_METADATA, RECOVERY_POINT
from kcheck.model.segments import Aborted, AbortedEntry, End, SegmentView, Transactions
from kcheck.model.views import FileView, LogDirView, PartitionView, SegmentSummary
from kcheck.rules import kc233_directory_for_file as kc233
from kcheck.rules import kc234_last_stable_offset_too_high as kc234
from kcheck.rules import kc311_file_for_directory as kc311
from tests.rules.build import partition

FATAL, ERROR, INFO = Severity.FATAL, Severity.ERROR, Severity.INFO
OFFLINE, NO_START = "takes the log dir offline", "does not start"


def test_many_files_with_names_of_partitions_are_one_finding() -> None:
    """With their number and the first names; one that the broker needs has a finding of its own."""
    names = tuple(f"x-{number}" for number in range(101))
    recovery_points = offset_checkpoint.parse(b"0\n1\nx 7 5\n")
    where = Location(log_dir="/d", file=RECOVERY_POINT)
    files = {RECOVERY_POINT: FileView(RECOVERY_POINT, RECOVERY_POINT, where, 0, recovery_points)}
    view = LogDirView(Location(log_dir="/d"), files=files, blocked=names)
    few = list(kc311.check(view, release("4.3")))
    assert list(names) == [found.where.file for found in few]
    of_all, needed = kc311.check(view._replace(blocked=(*names, "x-200")), release("4.3"))
    assert (None, INFO, 101) == (of_all.where.file, of_all.severity, of_all.data["count"])
    assert of_all.message.startswith("101 files have the names of partition directories: x-0, x-1, x-2, ")
    assert of_all.effect.endswith(", if one of the partitions is ever placed here.")
    assert ("x-7", FATAL) == (needed.where.file, needed.severity)


def name_of(offset: int, ending: str) -> str:
    """Return the name of a file of a segment."""
    return f"{offset:020d}.{ending}"


def with_directory(name: str) -> PartitionView:
    """Return a partition of the segments 0 and 10 that ends at offset 20, with a directory of this name."""
    segments = (SegmentSummary(Offset(0), 100, Offset(10)), SegmentSummary(Offset(10), 100, Offset(20)))
    files = frozenset((name_of(0, "log"), name_of(10, "log"), name))
    return partition()._replace(
        segments=segments, log_end_offset=Offset(20), files=files, directories=frozenset((name,))
    )


@pytest.mark.parametrize(
    ("name", "kafka", "severity", "effect"),
    [
        ("leader-epoch-checkpoint", "4.3", FATAL, OFFLINE),
        ("leader-epoch-checkpoint", "3.0", FATAL, NO_START),
        ("leader-epoch-checkpoint", "0.10.2", INFO, "never opens"),
        ("leader-epoch-checkpoint.tmp", "4.3", ERROR, "when it writes the epochs"),
        ("partition.metadata.tmp", "4.3", ERROR, "when it writes the topic id"),
        ("partition.metadata.tmp", "2.7", INFO, "never opens"),
        ("partition.metadata", "4.3", FATAL, OFFLINE),
        ("partition.metadata", "2.7", INFO, "never opens"),
        (name_of(10, "log"), "4.3", ERROR, "without this segment"),
        (name_of(10, "index"), "0.11.0.3", FATAL, NO_START),
        (name_of(0, "index"), "4.3", ERROR, "when it opens the file"),
        (name_of(0, "timeindex"), "2.2", FATAL, OFFLINE),
        (name_of(0, "txnindex"), "4.3", FATAL, OFFLINE),
        (name_of(0, "txnindex"), "0.10.2", INFO, "never opens"),
        (name_of(5, "index"), "4.3", INFO, "never opens"),
        (name_of(20, "snapshot"), "4.3", FATAL, "of the log end"),
        (name_of(10, "snapshot"), "4.3", ERROR, "of this offset"),
        (name_of(15, "snapshot"), "4.3", INFO, "never opens"),
        (name_of(20, "snapshot"), "0.10.2", INFO, "never opens"),
        (name_of(10, "log.swap"), "4.3", INFO, "never opens"),
        ("notes.log", "4.3", INFO, "never opens"),
    ],
)
def test_a_directory_with_the_name_of_a_file(name: str, kafka: str, severity: Severity, effect: str) -> None:
    """How bad it is depends on whether the broker opens the file, and on what it does with an I/O error."""
    (found,) = kc233.check(with_directory(name), release(kafka))
    assert (name, severity) == (found.where.file, found.severity)
    assert effect in found.effect


@pytest.mark.parametrize(
    ("name", "severity", "effect"),
    [
        ("00000000000000000010-0000000001.checkpoint.part", ERROR, "if the directory is not empty"),
        ("00000000000000000010-0000000001.checkpoint.deleted", ERROR, "if the directory is not empty"),
        ("quorum-state.tmp", ERROR, "if the directory is not empty"),
        ("x.checkpoint", FATAL, "does not start, because the name has no offset and epoch"),
    ],
)
def test_a_directory_that_a_start_removes(name: str, severity: Severity, effect: str) -> None:
    """KafkaMetadataLog lists directories as it does files: 4.3.1 did not start with one of the first name."""
    view = with_directory(name)._replace(topic=CLUSTER_METADATA, partition=0)
    (found,) = kc233.check(view, release("4.3"))
    assert (severity, True) == (found.severity, effect in (found.effect or ""))


def segment(*entries: AbortedEntry, aborted: tuple[Aborted, ...], starts: dict[Offset, Offset]) -> SegmentView:
    """Return a segment whose transaction index has these entries."""
    return SegmentView(
        where=Location(dir="t-0", file=name_of(0, "log")), base_offset=Offset(0), size=500, valid_size=500,
        end=End.WHOLE, zeros=False, batches=9, first_offset=Offset(0), end_offset=Offset(99), max_timestamp=5,
        epochs=(), faults=(), counts={}, beyond=None, offset_index=None, time_index=None,
        transactions=Transactions(aborted, {}, {}, starts), stated=entries, scanned=False,
    )  # fmt: skip


def judged(stable: int, *, starts: int | None = None, holes: int = 0, cleaned: bool = False) -> int:
    """Return how many findings there are of the transaction 4 to 10, with 2 to 20 of another producer around it."""
    aborted = (Aborted(1, Offset(4), Offset(10)), Aborted(2, Offset(2), Offset(20)), Aborted(3, None, Offset(30)))
    entries = (
        AbortedEntry(1, Offset(4), Offset(10), Offset(2)),
        AbortedEntry(2, Offset(2), Offset(20), Offset(stable)),
        AbortedEntry(3, Offset(25), Offset(30), Offset(31)),
    )
    after = {} if starts is None else {Offset(20): Offset(starts)}
    read = segment(*entries, aborted=aborted, starts=after)._replace(holes=holes)
    view = partition()._replace(read=(read,), cleaned=cleaned)
    return sum(1 for _ in kc234.check(view, release("4.3")))


def test_the_last_stable_offset_of_an_entry() -> None:
    """It is at most the offset after the marker, or where a transaction begins that a follower took with it."""
    assert [0, 0, 1, 1] == [judged(stable) for stable in (0, 21, 22, 1 << 40)]
    assert [0, 1] == [judged(stable, starts=25) for stable in (25, 26)]
    assert [0, 0] == [judged(99, holes=1), judged(99, cleaned=True)]


@pytest.mark.parametrize(("stable", "count"), [(2, 0), (3, 1), (11, 1)])
def test_an_open_transaction_bounds_it(stable: int, count: int) -> None:
    """Transaction 2 to 20 is open when 4 to 10 is aborted."""
    aborted = (Aborted(1, Offset(4), Offset(10)), Aborted(2, Offset(2), Offset(20)))
    first = AbortedEntry(1, Offset(4), Offset(10), Offset(stable))
    read = segment(first, AbortedEntry(2, Offset(2), Offset(20), Offset(21)), aborted=aborted, starts={})
    found = list(kc234.check(partition()._replace(read=(read,)), release("4.3")))
    assert count == len(found)
