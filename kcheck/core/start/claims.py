"""Compares the claims of a finding about the next start with its prediction.

Rules see single files, but the broker treats a partition by all of its files. Where the prediction denies a claim,
`kcheck.documents.next_start` writes another effect.
"""

from functools import cached_property

from kcheck.core.start.predictions import LoadedLog, PartitionPrediction
from kcheck.core.start.startup import NOT_LOADED, NOT_SERVED, Outcome
from kcheck.model.finding import Claim, Claimed, Finding

_FAILS = {
    Claimed.ABORTS: (Outcome.ABORT,),
    Claimed.OFFLINE: (Outcome.OFFLINE,),
    Claimed.FAILS: NOT_LOADED,
    Claimed.STRAY: NOT_SERVED,
}
_OF_SERVED = (Claimed.KEEPS, Claimed.REBUILDS)
"""The effects on a file of a log that the broker serves; other logs have none."""
NO_EPOCH = -1
"""The value of a claim that the replica knows no leader epoch."""


class ClaimedStart:
    """The predicted start of one partition, for the claims of its findings.

    A partition can have a finding and a truncation for each of its segments. Therefore claims look up facts in sets.
    """

    def __init__(self, prediction: PartitionPrediction) -> None:
        """Take the prediction."""
        self.prediction = prediction
        self._log = prediction.log

    @cached_property
    def _cut_ends(self) -> frozenset[int]:
        return frozenset() if self._log is None else frozenset(cut.end_offset for cut in self._log.cuts)

    @cached_property
    def _cut_bases(self) -> frozenset[int]:
        return frozenset() if self._log is None else frozenset(cut.base_offset for cut in self._log.cuts)

    @cached_property
    def _bases(self) -> frozenset[int]:
        return frozenset() if self._log is None else frozenset(self._log.bases)

    def holds(self, claim: Claim) -> bool:
        """Return whether the predicted start does what is claimed of it."""
        outcomes = _FAILS.get(claim.claimed)
        if outcomes is not None:
            return self.prediction.outcome in outcomes
        if claim.claimed in _OF_SERVED and self.prediction.outcome in NOT_SERVED:
            return False
        log = self._log
        match claim.claimed:
            case Claimed.CUTS:
                return claim.value in self._cut_ends
            case Claimed.WIPES:
                return log is not None and log.bases == (claim.value,) and log.log_end_offset == claim.value
            case Claimed.KEEPS:
                return claim.value not in self._cut_bases and self.prediction.outcome not in _FAILS[Claimed.STRAY]
            case Claimed.REBUILDS:
                return claim.value in self._bases
            case Claimed.ENDS:
                return log is not None and log.log_end_offset == claim.value
            case Claimed.LOADS:
                return log is not None
            case _:
                return log is None or _latest_epoch(log) == claim.value

    def denied(self, finding: Finding) -> Claim | None:
        """Return the first claim that the predicted start denies; None if it denies none."""
        return next((claim for claim in finding.claims if not self.holds(claim)), None)


def _latest_epoch(log: LoadedLog) -> int:
    return log.leader_epochs[-1].epoch if log.leader_epochs else NO_EPOCH


def knows_all_epochs(log: LoadedLog) -> bool:
    """Return whether the epoch of each record of a loaded log is known."""
    return bool(log.leader_epochs) and log.leader_epochs[0].start_offset <= log.log_start_offset
