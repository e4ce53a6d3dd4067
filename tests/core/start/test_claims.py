"""What findings claim of the next start, held against its prediction."""

from collections.abc import Callable

import pytest

from kcheck.core.start.claims import NO_EPOCH, ClaimedStart, knows_all_epochs
from kcheck.core.start.predictions import LoadedLog, LogCut, PartitionPrediction
from kcheck.core.start.startup import Outcome
from kcheck.model.entries import Epoch, EpochEntry, Offset
from kcheck.model.finding import Claim, Claimed, Finding, Location, Severity
from kcheck.model.loss import LostRecords
from kcheck.model.names import DirectoryState, PartitionDirectory
from tests.growth import grows_with_its_input

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
        (Claim(Claimed.KEEPS, 0), start(Outcome.OK, LOG), start(Outcome.STRAY, LOG)),
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
    assert ClaimedStart(true).holds(claim)
    assert not ClaimedStart(false).holds(claim)


def test_the_first_claim_that_the_prediction_denies() -> None:
    cuts, fails = Claim(Claimed.CUTS, 120), Claim(Claimed.FAILS)
    assert ClaimedStart(LOADED).denied(finding(cuts)) is None
    assert ClaimedStart(LOADED).denied(finding(cuts, fails)) == fails


def test_a_log_knows_all_epochs_from_its_start_on() -> None:
    late = (EpochEntry(Epoch(1), Offset(100)),)
    logs = (LOG, LOG._replace(leader_epochs=late), LOG._replace(leader_epochs=()))
    assert [True, False, False] == [*map(knows_all_epochs, logs)]


@pytest.mark.parametrize("claimed", [Claimed.CUTS, Claimed.KEEPS])
def test_many_findings_about_many_cuts(claimed: Claimed) -> None:
    """A finding for each segment does not search the cuts of all segments."""

    def settle(count: int) -> Callable[[], object]:
        cuts = tuple(CUT._replace(base_offset=Offset(base), end_offset=Offset(base + 1)) for base in range(count))
        log = LOG._replace(cuts=cuts)
        findings = [finding(Claim(claimed, value)) for value in range(count)]
        loaded = start(Outcome.LOST, log)

        def call() -> None:
            claims = ClaimedStart(loaded)
            for claiming in findings:
                claims.denied(claiming)

        return call

    assert grows_with_its_input(settle, 100)
