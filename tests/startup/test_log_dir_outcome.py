"""What a log dir comes to, and what the log dirs of one broker mean for each other: LogManager.loadLogs.

The expectations are rules 0.1, 0.2 and 1.4 of Kafka's startup, which the recorded starts of tests/oracle also hold.
"""

import pytest

from kcheck.core.releases.releases import release
from kcheck.core.start.predictions import LogDirPrediction, PartitionPrediction
from kcheck.core.start.startup import Mode, Outcome, UnreadableOutcome
from kcheck.model.entries import Offset
from kcheck.model.loss import LostRecords
from kcheck.model.names import TopicPartition, parse_directory
from kcheck.startup.log_dir_outcome import (
    LogDirOutcome,
    PredictedPartition,
    Unformatted,
    broker_abort,
    duplicates,
    log_dir_outcome,
    promoted_futures,
    with_abort,
    without_abandoned,
    without_replaced,
)

BAD_CHECKPOINT = UnreadableOutcome(Outcome.OFFLINE, "the recovery points cannot be read", fails_later=True)
OPEN_TRANSACTION = "t-0 has an open transaction"


def partition(name: str = "t-0", outcome: Outcome = Outcome.OK, reason: str | None = None) -> PartitionPrediction:
    """Return what becomes of a directory."""
    directory = parse_directory(name)
    assert directory is not None
    return PartitionPrediction(name, directory, outcome, reason)


def outcome_of(
    *partitions: PartitionPrediction,
    failures: tuple[UnreadableOutcome, ...] = (),
    unformatted: Unformatted = Unformatted.NO,
    unread: str | None = None,
    kafka: str = "4.3",
) -> LogDirOutcome:
    """Return the outcome of a log dir `d` with these partitions."""
    places = [PredictedPartition(f"d/{start.dir}", start) for start in partitions]
    return log_dir_outcome(failures, places, unformatted=unformatted, unread=unread, release=release(kafka))


def log_dir(path: str, *partitions: PartitionPrediction, outcome: Outcome = Outcome.OK) -> LogDirPrediction:
    """Return what becomes of a log dir; where it aborts, "broken" is the reason."""
    return LogDirPrediction(
        path=path,
        broker_id=1,
        outcome=outcome,
        reasons=() if outcome is Outcome.OK else ("broken",),
        clean=True,
        mode=Mode.KRAFT,
        uncertain=None,
        partitions=partitions,
    )


def test_a_log_dir_without_a_failure_is_loaded() -> None:
    """LogManager.loadLogs goes on after partitions that it repairs, sets aside or deletes."""
    harmless = (Outcome.OK, Outcome.REPAIRED, Outcome.LOST, Outcome.STRAY, Outcome.DELETED, Outcome.UNKNOWN)
    partitions = [partition(f"t-{number}", outcome) for number, outcome in enumerate(harmless)]
    assert LogDirOutcome(Outcome.OK, (), None) == outcome_of(*partitions)


def test_an_abort_comes_before_a_failure_of_the_log_dir() -> None:
    """LogManager.loadLogs: an IOException takes the log dir offline, anything else ends the broker."""
    failed = partition("t-1", Outcome.OFFLINE, "unreadable")
    assert (Outcome.OFFLINE, ("t-1: unreadable",)) == outcome_of(partition(), failed)[:2]
    fatal = partition("t-2", Outcome.ABORT, "broken")
    assert (Outcome.ABORT, ("t-2: broken", "t-1: unreadable")) == outcome_of(failed, fatal)[:2]
    bad_name = UnreadableOutcome(Outcome.ABORT, "lost+found is not a valid partition directory name")
    assert (Outcome.ABORT, (bad_name.reason,)) == outcome_of(partition(), failures=(bad_name,))[:2]


def test_a_failed_read_and_an_open_transaction_abort_the_start() -> None:
    """LogManager.loadLogs, UnifiedLog: from 3.0 on no log of a log dir that fails later is read again (rule 0.2)."""
    later_use = partition()._replace(later_use=OPEN_TRANSACTION)
    decision = outcome_of(later_use, failures=(BAD_CHECKPOINT,))
    assert (decision.outcome, len(decision.reasons)) == (Outcome.ABORT, 2)
    assert OPEN_TRANSACTION in decision.reasons[0]
    assert outcome_of(later_use, failures=(BAD_CHECKPOINT,), kafka="2.8").outcome is Outcome.OFFLINE
    assert outcome_of(partition(), failures=(BAD_CHECKPOINT,)).outcome is Outcome.OFFLINE
    assert outcome_of(later_use, failures=(BAD_CHECKPOINT._replace(fails_later=False),)).uncertain is None


def test_the_order_of_partitions_decides_whether_an_open_transaction_aborts() -> None:
    """LogManager.loadLogs: a failed leader-epoch-checkpoint queues the log dir when its log is loaded (rule 0.2)."""
    later_use = partition()._replace(later_use=OPEN_TRANSACTION)
    failed = partition("t-1", Outcome.OFFLINE, "unreadable")._replace(fails_later=True)
    decision = outcome_of(later_use, failed)
    assert (decision.outcome, decision.reasons) == (Outcome.OFFLINE, ("t-1: unreadable",))
    assert OPEN_TRANSACTION in (decision.uncertain or "")


@pytest.mark.parametrize(
    ("unformatted", "outcome", "is_uncertain"),
    [
        (Unformatted.NO, Outcome.OK, False),
        (Unformatted.MAYBE, Outcome.OK, True),
        (Unformatted.YES, Outcome.ABORT, False),
    ],
)
def test_a_kraft_log_dir_needs_meta_properties(unformatted: Unformatted, outcome: Outcome, is_uncertain: bool) -> None:
    """MetaPropertiesEnsemble.verify: a log dir of KRaft that was never formatted ends the broker."""
    decision = outcome_of(partition(), unformatted=unformatted)
    assert (outcome, is_uncertain) == (decision.outcome, decision.uncertain is not None)


def test_what_kcheck_cannot_read_is_uncertain() -> None:
    assert outcome_of(unread="t-0").uncertain == "kcheck cannot read t-0"


def test_a_partition_in_two_directories_is_a_duplicate() -> None:
    """LogManager.loadLog: two live logs of one partition end the broker; a future log is none of them."""
    future = "t-0.0123456789abcdef0123456789abcdef-future"
    places = [
        PredictedPartition("d1/t-0", partition()),
        PredictedPartition("d2/t-0", partition()),
        PredictedPartition(f"d2/{future}", partition(future)),
    ]
    assert ["t-0 exists twice: d1/t-0 and d2/t-0"] == duplicates(places)
    for outcome in (Outcome.ABORT, Outcome.OFFLINE, Outcome.UNKNOWN, Outcome.STRAY):
        assert [] == duplicates([places[0], PredictedPartition("d2/t-0", partition("t-0", outcome))])
    deleted = "t-0.0123456789abcdef0123456789abcdef-delete"
    assert [] == duplicates([places[0], PredictedPartition(f"d2/{deleted}", partition(deleted))])


def test_one_log_dir_aborts_the_broker() -> None:
    """LogManager.loadLogs: the broker fails to start; conflicts between its log dirs come first."""
    good, bad = log_dir("d1"), log_dir("d2", outcome=Outcome.ABORT)
    assert broker_abort([good], ()) is None
    reason = broker_abort([good, bad], ())
    assert reason == "d2 stops the broker while it starts: broken"
    assert broker_abort([good, bad], ["other cluster ids", "t-0 exists twice"]) == "other cluster ids"
    assert with_abort(good, None) == good
    assert with_abort(bad, reason) == bad
    assert with_abort(good, reason) == good._replace(outcome=Outcome.ABORT, reasons=(reason,))


def test_a_promoted_future_log_replaces_the_current_one() -> None:
    """LogManager.replaceCurrentWithFutureLog: the current log is renamed to -delete."""
    future = partition("t-0.0123456789abcdef0123456789abcdef-future")
    promoted = log_dir("d2", future._replace(promoted=True))
    assert {} == promoted_futures([log_dir("d1", partition()), log_dir("d2", future)])
    futures = promoted_futures([log_dir("d1", partition()), promoted])
    assert {("t", 0): "d2"} == futures
    replaced = partition()._replace(outcome=Outcome.DELETED, reason="its future log in d2 replaces it")
    assert (replaced, partition("t-1")) == without_replaced(log_dir("d1", partition(), partition("t-1")), futures)[7]
    assert promoted == without_replaced(promoted, futures)


def test_a_future_log_without_a_current_one_is_emptied_unless_it_is_set_aside() -> None:
    """The broker makes an empty current log, and cuts this one to it. A KRaft broker renames a stray before that."""
    future = partition("t-0.0123456789abcdef0123456789abcdef-future")
    whole = future._replace(whole=LostRecords(Offset(0), Offset(9), 9, 90, None))
    alone = log_dir("d1", whole)
    (lost,) = without_abandoned(alone, frozenset()).partitions
    assert (Outcome.LOST, whole.whole) == (lost.outcome, lost.lost)
    stray = log_dir("d1", whole._replace(outcome=Outcome.STRAY))
    assert stray == without_abandoned(stray, frozenset())
    assert alone == without_abandoned(alone, frozenset({TopicPartition("t", 0)}))
