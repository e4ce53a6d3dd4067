"""What findings claim of the next start, held against its prediction."""

from collections.abc import Callable

import pytest

from kcheck.core.releases.releases import release
from kcheck.core.start.claims import NO_EPOCH, ClaimedStart, start_words
from kcheck.core.start.predictions import LoadedLog, LogCut, PartitionPrediction
from kcheck.core.start.startup import Outcome
from kcheck.model.entries import Epoch, EpochEntry, Offset
from kcheck.model.finding import Claim, Claimed, Finding, Location, Severity
from kcheck.model.loss import LostRecords
from kcheck.model.names import DirectoryState, PartitionDirectory
from tests.growth import grows_with_its_input

KAFKA = release("4.3")
CUT = LogCut("/data/t-0/00000000000000000100.log", Offset(100), Offset(120), 500, 900, "a torn batch")
LOG = LoadedLog(
    Offset(0), Offset(120), Offset(120), (EpochEntry(Epoch(0), Offset(0)),), unstable=False, bases=(0, 100), cuts=(CUT,)
)
LOST = LostRecords(Offset(120), Offset(130), 10, 400, 0)


def start(outcome: Outcome, log: LoadedLog | None = None, reason: str | None = None) -> PartitionPrediction:
    """Return what a start does with t-0."""
    directory = PartitionDirectory("t", 0, DirectoryState.CURRENT, canonical=True)
    lost = LOST if outcome is Outcome.LOST else None
    return PartitionPrediction("t-0", directory, outcome, reason, log=log, lost=lost)


def finding(*claims: Claim, severity: Severity = Severity.ERROR) -> Finding:
    """Return a finding that makes these claims."""
    return Finding("KC204", "", severity, Location(), "", "as claimed", "as advised", claims=claims)


def settled(claimed: Finding, prediction: PartitionPrediction) -> Finding:
    """Return the finding as the prediction has it."""
    return ClaimedStart(prediction, KAFKA).settled(claimed)


LOADED, FAILED = start(Outcome.LOST, LOG), start(Outcome.ABORT)


@pytest.mark.parametrize(
    ("claim", "true", "false"),
    [
        (Claim(Claimed.ABORTS), FAILED, start(Outcome.OFFLINE)),
        (Claim(Claimed.OFFLINE), start(Outcome.OFFLINE), FAILED),
        (Claim(Claimed.FAILS), start(Outcome.OFFLINE), LOADED),
        (Claim(Claimed.STRAY), start(Outcome.STRAY, LOG), LOADED),
        (Claim(Claimed.CUTS, 120), LOADED, FAILED),
        (Claim(Claimed.CUTS, 120), LOADED, start(Outcome.OK, LOG._replace(cuts=()))),
        (
            Claim(Claimed.WIPES, 200),
            start(Outcome.LOST, LOG._replace(bases=(200,), log_end_offset=Offset(200))),
            LOADED,
        ),
        (Claim(Claimed.KEEPS, 100), FAILED, LOADED),
        (
            Claim(Claimed.KEEPS, 0),
            LOADED,
            start(Outcome.LOST, LOG._replace(cuts=(CUT._replace(base_offset=Offset(0)),))),
        ),
        (Claim(Claimed.REBUILDS, 100), LOADED, FAILED),
        (Claim(Claimed.ENDS, 120), LOADED, FAILED),
        (Claim(Claimed.LOADS), LOADED, FAILED),
        (Claim(Claimed.EPOCHS, 0), LOADED, start(Outcome.OK, LOG._replace(leader_epochs=()))),
        (Claim(Claimed.EPOCHS, NO_EPOCH), FAILED, LOADED),
    ],
)
def test_a_claim_holds_where_the_prediction_has_it(
    claim: Claim, true: PartitionPrediction, false: PartitionPrediction
) -> None:
    """Of a log that is not loaded, nothing is cut and no epoch is known."""
    assert ClaimedStart(true, KAFKA).holds(claim)
    assert not ClaimedStart(false, KAFKA).holds(claim)


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
        assert shown.effect == f"{cut.effect} The start loses 10 records (offsets 120 to 129)."
        assert shown.severity is expected


def test_what_does_not_hold_becomes_what_the_prediction_says() -> None:
    """It is fatal no longer where the start does not fail."""
    denied = settled(finding(Claim(Claimed.FAILS), severity=Severity.FATAL), LOADED)
    assert (
        denied.effect
        == "At its next start Kafka 4.3 loses 10 records (offsets 120 to 129). The log then ends at offset 120."
    )
    assert (denied.severity, denied.advice, denied.claims) == (Severity.ERROR, "as advised", ())
    failing = start(Outcome.OFFLINE, reason="partition.metadata cannot be read")
    denied = settled(finding(Claim(Claimed.ABORTS), severity=Severity.FATAL), failing)
    assert denied.effect == (
        "Kafka 4.3 takes the log dir offline at its next start: partition.metadata cannot be read."
    )
    assert denied.severity is Severity.FATAL


@pytest.mark.parametrize("claimed", [Claimed.CUTS, Claimed.KEEPS])
def test_many_findings_about_many_cuts(claimed: Claimed) -> None:
    """A finding for each segment does not search the cuts of all segments."""

    def settle(count: int) -> Callable[[], object]:
        cuts = tuple(CUT._replace(base_offset=Offset(base), end_offset=Offset(base + 1)) for base in range(count))
        log = LOG._replace(cuts=cuts)
        findings = [finding(Claim(claimed, value)) for value in range(count)]
        loaded = start(Outcome.LOST, log)

        def call() -> None:
            claims = ClaimedStart(loaded, KAFKA)
            for claiming in findings:
                claims.settled(claiming)

        return call

    assert grows_with_its_input(settle, 100)


def test_epochs_that_the_start_rebuilds_are_no_longer_missing() -> None:
    """Where it scans every segment; else those of the first segments are missing, or the first one starts too late."""
    rebuilt = start(Outcome.REPAIRED, LOG)
    denied = settled(finding(Claim(Claimed.EPOCHS, NO_EPOCH)), rebuilt)
    assert denied.effect.endswith("It then knows the leader epochs 0 @ 0.")
    assert (denied.severity, denied.advice) == (
        Severity.WARNING,
        "Let the broker start: it rebuilds the leader epochs.",
    )
    late = tuple(EpochEntry(Epoch(number), Offset(100 + number)) for number in range(7))
    denied = settled(finding(Claim(Claimed.EPOCHS, NO_EPOCH)), start(Outcome.OK, LOG._replace(leader_epochs=late)))
    assert "4 @ 104 and 2 more. It knows none of the records below offset 100." in denied.effect
    assert denied.severity is Severity.ERROR
    denied = settled(finding(Claim(Claimed.EPOCHS, 5)), rebuilt)
    assert denied.effect.endswith("which can be too late.")
    assert denied.severity is Severity.ERROR
    denied = settled(finding(Claim(Claimed.EPOCHS, 5)), start(Outcome.OK, LOG._replace(leader_epochs=())))
    assert "Kafka 4.3 then knows no leader epoch." in denied.effect


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
