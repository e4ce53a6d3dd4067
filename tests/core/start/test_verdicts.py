"""The verdict on a log dir, and the values of its prediction."""

import pytest

from kcheck.core.start.predictions import (
    Changes,
    LogDirPrediction,
    LogDirVerdict,
    PartitionPrediction,
    new_content,
    total_loss,
)
from kcheck.core.start.startup import Mode, Outcome
from kcheck.core.start.verdicts import log_dir_severity, removed_alone, shutdown_after_abort, unmarked_by, worst_first
from kcheck.model.entries import Offset
from kcheck.model.finding import Severity
from kcheck.model.loss import LostRecords
from kcheck.model.names import DirectoryState, PartitionDirectory


def loss(records: int | None, *, start: int | None = 5, below: int | None = 0) -> LostRecords:
    """Return lost records up to offset 20."""
    return LostRecords(
        start=None if start is None else Offset(start), end=Offset(20), records=records, bytes=100,
        below_high_watermark=below,
    )  # fmt: skip


def partition(outcome: Outcome, lost: LostRecords | None = None, name: str = "t-0") -> PartitionPrediction:
    """Return what a start does with a directory."""
    directory = PartitionDirectory("t", 0, DirectoryState.CURRENT, canonical=True)
    return PartitionPrediction(dir=name, directory=directory, outcome=outcome, reason=None, lost=lost)


def log_dir(
    *partitions: PartitionPrediction,
    outcome: Outcome = Outcome.OK,
    clean: bool = True,
    mode: Mode = Mode.KRAFT,
    unread: bool = False,
) -> LogDirPrediction:
    """Return what a start does with a log dir."""
    return LogDirPrediction(
        path="/data", broker_id=1, outcome=outcome, reasons=(), clean=clean, mode=mode, uncertain=None,
        partitions=partitions, unread=unread,
    )  # fmt: skip


LOST = partition(Outcome.LOST, loss(1))


@pytest.mark.parametrize(
    ("start", "records"),
    [
        (log_dir(partition(Outcome.OK)), 0),
        (log_dir(LOST, partition(Outcome.LOST, loss(3)), partition(Outcome.OK)), 4),
        (log_dir(LOST, partition(Outcome.LOST, loss(None))), None),
        (log_dir(LOST, outcome=Outcome.ABORT), 0),
        (log_dir(LOST, outcome=Outcome.OFFLINE), 0),
        (log_dir(LOST, unread=True), None),
    ],
)
def test_the_lost_records_of_a_log_dir(start: LogDirPrediction, records: int | None) -> None:
    assert records == start.lost_records


@pytest.mark.parametrize(
    ("start", "outcome"),
    [
        (log_dir(LOST, outcome=Outcome.ABORT), Outcome.ABORT),
        (log_dir(LOST, outcome=Outcome.OFFLINE), Outcome.OFFLINE),
        (log_dir(LOST, partition(Outcome.UNKNOWN)), Outcome.UNKNOWN),
        (log_dir(LOST, unread=True), Outcome.UNKNOWN),
    ],
)
def test_the_worst_outcome_is_the_verdict(start: LogDirPrediction, outcome: Outcome) -> None:
    assert LogDirVerdict(outcome) == start.judged


def test_what_loaded_partitions_lose_is_in_the_verdict() -> None:
    assert LogDirVerdict(Outcome.OK) == log_dir(partition(Outcome.OK)).judged
    assert LogDirVerdict(Outcome.OK, (loss(1), loss(1))) == log_dir(LOST, LOST).judged


def test_the_severity_is_that_of_the_worst_partition() -> None:
    """A start that deletes a directory without -delete removes a stray replica: LogManager, up to 3.6."""
    marked, unmarked = (partition(Outcome.DELETED, name=name) for name in ("t-0.0-delete", "t-0"))
    severities = [log_dir_severity(log_dir(*partitions)) for partitions in ((), (marked,), (marked, unmarked), (LOST,))]
    assert [Severity.INFO, Severity.INFO, Severity.ERROR, Severity.ERROR] == severities
    assert log_dir_severity(log_dir(LOST, outcome=Outcome.OFFLINE)) is Severity.FATAL


def test_only_a_zookeeper_broker_writes_the_marker_again_when_its_start_aborts() -> None:
    """KafkaServer.shutdown writes .kafka_cleanshutdown; BrokerServer halts without it."""
    aborts = log_dir(LOST, outcome=Outcome.ABORT)
    assert shutdown_after_abort(aborts) == "unclean"
    assert shutdown_after_abort(log_dir(outcome=Outcome.ABORT)) == "clean"  # it loaded no log
    assert shutdown_after_abort(aborts._replace(mode=Mode.ZOOKEEPER)) == "clean"
    assert shutdown_after_abort(aborts._replace(mode=Mode.ZOOKEEPER, clean=False)) == "unclean"
    assert shutdown_after_abort(log_dir()) is None


def test_a_start_that_loads_no_log_keeps_the_marker() -> None:
    """Wrong settings or another cluster end the broker before its logs are loaded."""
    aborts = log_dir(LOST, outcome=Outcome.ABORT)._replace(broker_id=2)
    assert unmarked_by([aborts, aborts, aborts._replace(broker_id=None)]) == (2,)
    assert unmarked_by([aborts._replace(partitions=()), aborts._replace(clean=False)]) == ()


def test_several_losses_are_one() -> None:
    """A number that one of them lacks is not known for all; an empty loss does not count."""
    assert total_loss([loss(0)]) is None
    both = total_loss([loss(3, start=9, below=1), loss(0, start=0), loss(4, below=2)])
    assert LostRecords(start=Offset(5), end=Offset(20), records=7, bytes=200, below_high_watermark=3) == both
    uncounted = total_loss([loss(None, start=None, below=None), loss(4)])
    assert uncounted is not None
    assert (5, 20, None, None, 4) == (*uncounted[:3], uncounted.below_high_watermark, uncounted.at_least)
    endless = total_loss([loss(3), loss(None)._replace(end=None)])
    assert endless is not None
    assert (None, 3) == (endless.end, endless.at_least)


def test_content_is_bytes_and_then_zeros() -> None:
    """Java's FileChannel.truncate and RandomAccessFile.setLength."""
    content = new_content(b"abcdef")
    assert (4, b"abcd") == (content.resized(4).size, content.resized(4).data)
    assert (9, 6, b"abcdef") == (content.resized(9).size, content.resized(9).filled, content.resized(9).data)
    assert not Changes().any
    assert Changes(removed=("x",)).any


STRAY = partition(Outcome.STRAY, name="stray-0")
ASIDE_BEFORE = PartitionPrediction(
    "t-0.x-stray", PartitionDirectory("t", 0, DirectoryState.STRAY, canonical=True), Outcome.STRAY, None
)


def test_strays_are_in_the_verdict() -> None:
    """Those that this start sets aside, not those of an earlier one."""
    assert LogDirVerdict(Outcome.OK, (loss(1),), 2) == log_dir(STRAY, LOST, partition(Outcome.DELETED)).judged
    assert LogDirVerdict(Outcome.OK) == log_dir(ASIDE_BEFORE, partition(Outcome.DELETED, name="t-0.x-delete")).judged


def test_a_verdict_in_words_has_losses_and_strays() -> None:
    assert "will boot but lose 1 record and not serve 1 partition" == log_dir(STRAY, LOST).verdict


def test_delete_directories_alone_are_lost() -> None:
    """Nothing is alone if another partition loses records, or if the log dir is not loaded."""
    removed = partition(Outcome.DELETED, loss(3), name="t-0.x-delete")
    assert removed_alone([log_dir(removed), log_dir(partition(Outcome.OK))]) == {"/data": ("t-0.x-delete",)}
    assert removed_alone([log_dir(removed, LOST)]) == {}
    assert removed_alone([log_dir(removed), log_dir(outcome=Outcome.ABORT)]) == {}


def test_the_worst_partition_comes_first() -> None:
    """What fails, what loses an unknown number, what loses most committed records, what loses most, what is stray."""
    worst = [
        partition(Outcome.ABORT, name="z-0"),
        partition(Outcome.OFFLINE, name="y-0"),
        partition(Outcome.LOST, loss(None, below=None), name="x-0"),
        partition(Outcome.LOST, loss(5, below=5), name="w-0"),
        partition(Outcome.STRAY, loss(9), name="v-0"),
        partition(Outcome.LOST, loss(3), name="u-0"),
        STRAY,
    ]
    assert worst == worst_first([partition(Outcome.OK), ASIDE_BEFORE, *reversed(worst)])
