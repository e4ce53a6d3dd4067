"""What answers say of the next start."""

import pytest

from kcheck.core.releases.releases import release
from kcheck.core.start.claims import NO_EPOCH
from kcheck.core.start.predictions import LogDirPrediction, PartitionPrediction
from kcheck.core.start.startup import Outcome
from kcheck.documents.next_start import StartEffects, start_words
from kcheck.model.entries import Epoch, EpochEntry, Offset
from kcheck.model.finding import Claim, Claimed, Finding, Severity
from tests.core.start.test_claims import LOADED, LOG, finding, start
from tests.core.start.test_verdicts import ASIDE_BEFORE, LOST, STRAY, log_dir, loss, partition

KAFKA = release("4.3")


def settled(claimed: Finding, prediction: PartitionPrediction) -> Finding:
    """Return the finding as the prediction has it."""
    return StartEffects(prediction, KAFKA).settled(claimed)


def test_what_holds_stays_as_it_is() -> None:
    """So does every finding where the prediction is not known."""
    for prediction, claims in ((LOADED, ()), (start(Outcome.REPAIRED, LOG), (Claim(Claimed.CUTS, 120),))):
        assert finding(*claims) == settled(finding(*claims), prediction)
    unknown = finding(Claim(Claimed.ABORTS))
    assert unknown == settled(unknown, start(Outcome.UNKNOWN))


def test_a_cut_that_holds_says_what_the_start_loses() -> None:
    """The same number as in every other verb; what loses records is more than an information."""
    for severity, expected in ((Severity.INFO, Severity.WARNING), (Severity.ERROR, Severity.ERROR)):
        cut = finding(Claim(Claimed.CUTS, 120), severity=severity)
        shown = settled(cut, LOADED)
        assert shown.effect == f"{cut.effect} The next start loses 10 records (offsets 120-129)."
        assert shown.severity is expected


def test_what_does_not_hold_becomes_what_the_prediction_says() -> None:
    """It is fatal no longer where the start does not fail."""
    denied = settled(finding(Claim(Claimed.FAILS), severity=Severity.FATAL), LOADED)
    assert (
        denied.effect
        == "At its next start Kafka 4.3 loses 10 records (offsets 120-129). The log then ends at offset 120."
    )
    assert (denied.severity, denied.advice, denied.claims) == (Severity.ERROR, "as advised", ())
    failing = start(Outcome.OFFLINE, reason="partition.metadata cannot be read")
    denied = settled(finding(Claim(Claimed.ABORTS), severity=Severity.FATAL), failing)
    assert denied.effect == (
        "Kafka 4.3 takes the log dir offline at its next start: partition.metadata cannot be read."
    )
    assert denied.severity is Severity.FATAL


def test_epochs_that_the_start_rebuilds_are_no_longer_missing() -> None:
    """Where it scans every segment; else those of the first segments are missing, or the first one starts too late."""
    rebuilt = start(Outcome.REPAIRED, LOG)
    denied = settled(finding(Claim(Claimed.EPOCHS, NO_EPOCH)), rebuilt)
    assert denied.effect.endswith("The file then has epoch 0 from offset 0.")
    assert (denied.severity, denied.advice) == (
        Severity.WARNING,
        "Let the broker start. It rebuilds the leader epochs.",
    )
    late = tuple(EpochEntry(Epoch(number), Offset(100 + number)) for number in range(7))
    denied = settled(finding(Claim(Claimed.EPOCHS, NO_EPOCH)), start(Outcome.OK, LOG._replace(leader_epochs=late)))
    assert "epoch 4 from offset 104 and 2 more. Records below offset 100 then have no epoch." in denied.effect
    assert denied.severity is Severity.ERROR
    denied = settled(finding(Claim(Claimed.EPOCHS, 5)), rebuilt)
    assert denied.effect.endswith("which can be too late.")
    assert denied.severity is Severity.ERROR
    denied = settled(finding(Claim(Claimed.EPOCHS, 5)), start(Outcome.OK, LOG._replace(leader_epochs=())))
    assert "Kafka 4.3 then has no leader epoch." in denied.effect


@pytest.mark.parametrize(
    ("prediction", "words"),
    [
        (start(Outcome.ABORT, reason="no"), "Kafka 4.3 does not start: no."),
        (start(Outcome.STRAY, LOG), "Kafka 4.3 does not serve this directory after its next start."),
        (start(Outcome.DELETED), "Kafka 4.3 does not serve this directory after its next start."),
        (start(Outcome.OK), "At its next start Kafka 4.3 loses no record."),
        (
            start(Outcome.REPAIRED, LOG, "a; b; c"),
            "At its next start Kafka 4.3 loses no record: a; b; and 1 more change. The log then ends at offset 120.",
        ),
    ],
)
def test_a_start_in_words(prediction: PartitionPrediction, words: str) -> None:
    """With the first two reasons."""
    assert words == start_words(prediction, KAFKA)


@pytest.mark.parametrize(
    ("start", "words"),
    [
        (log_dir(partition(Outcome.OK)), "will boot"),
        (log_dir(LOST, outcome=Outcome.ABORT), "will not boot"),
        (log_dir(LOST, outcome=Outcome.OFFLINE), "will go offline"),
        (log_dir(LOST, partition(Outcome.UNKNOWN)), "not known"),
        (log_dir(LOST, unread=True), "not known"),
        (log_dir(LOST), "will boot but lose 1 record"),
        (log_dir(LOST, LOST), "will boot but lose 2 records"),
    ],
)
def test_the_worst_outcome_is_the_verdict(start: LogDirPrediction, words: str) -> None:
    assert words == start.verdict


def test_a_loss_that_cannot_be_counted_is_still_a_loss() -> None:
    uncounted = partition(Outcome.LOST, loss(None))
    assert "will boot but lose at most 15 records" == log_dir(uncounted).verdict
    assert "will boot but lose at most 16 records" == log_dir(uncounted, LOST).verdict


@pytest.mark.parametrize(
    ("start", "words"),
    [
        (log_dir(STRAY), "will boot but not serve 1 partition"),
        (log_dir(STRAY, LOST, partition(Outcome.DELETED)), "will boot but lose 1 record and not serve 2 partitions"),
        (log_dir(ASIDE_BEFORE, partition(Outcome.DELETED, name="t-0.x-delete")), "will boot"),
    ],
)
def test_strays_are_in_the_verdict(start: LogDirPrediction, words: str) -> None:
    """Those that this start sets aside, not those of an earlier one."""
    assert words == start.verdict
