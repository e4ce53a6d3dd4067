"""Holds what a finding claims of the next start against the prediction of that start.

Rules see files; what the start makes of a partition depends on everything in it. Where the prediction denies a claim,
the effect of the finding becomes what the prediction says.
"""

from functools import cached_property

from kcheck.core.start.predictions import LoadedLog, PartitionPrediction
from kcheck.core.start.startup import Outcome
from kcheck.core.start.verdicts import lost_words
from kcheck.model.finding import Claim, Claimed, Finding, Severity
from kcheck.model.release import Release

_FAILS = {
    Claimed.ABORTS: (Outcome.ABORT,),
    Claimed.OFFLINE: (Outcome.OFFLINE,),
    Claimed.FAILS: (Outcome.ABORT, Outcome.OFFLINE),
    Claimed.STRAY: (Outcome.STRAY, Outcome.DELETED),
}
_FAILED = (Outcome.ABORT, Outcome.OFFLINE)
NO_EPOCH = -1
"""The value of a claim that the replica knows no leader epoch."""
_REASON_COUNT = 2
_EPOCH_COUNT = 5


class ClaimedStart:
    """The predicted start of one partition, asked by the claims of its findings.

    A partition can have a finding and a cut for each of its segments: what claims ask for is looked up, not searched.
    """

    def __init__(self, start: PartitionPrediction, release: Release) -> None:
        """Take the prediction, and the release that it is of."""
        self._start = start
        self._log = start.log
        self._release = release

    @cached_property
    def _cut_ends(self) -> frozenset[int]:
        return frozenset() if self._log is None else frozenset(cut.end_offset for cut in self._log.cuts)

    @cached_property
    def _cut_bases(self) -> frozenset[int]:
        return frozenset() if self._log is None else frozenset(cut.base_offset for cut in self._log.cuts)

    @cached_property
    def _bases(self) -> frozenset[int]:
        return frozenset() if self._log is None else frozenset(self._log.bases)

    @cached_property
    def _words(self) -> str:
        return start_words(self._start, self._release)

    def holds(self, claim: Claim) -> bool:
        """Whether the predicted start does what is claimed of it."""
        outcomes = _FAILS.get(claim.claimed)
        if outcomes is not None:
            return self._start.outcome in outcomes
        log = self._log
        match claim.claimed:
            case Claimed.CUTS:
                return claim.value in self._cut_ends
            case Claimed.WIPES:
                return log is not None and log.bases == (claim.value,) and log.log_end_offset == claim.value
            case Claimed.KEEPS:
                return claim.value not in self._cut_bases
            case Claimed.REBUILDS:
                return claim.value in self._bases
            case Claimed.ENDS:
                return log is not None and log.log_end_offset == claim.value
            case Claimed.LOADS:
                return log is not None
            case _:
                return log is None or _latest_epoch(log) == claim.value

    def settled(self, finding: Finding) -> Finding:
        """Return the finding with an effect that the predicted start has."""
        start, log, release = self._start, self._log, self._release
        if start.outcome is Outcome.UNKNOWN:
            return finding
        denied = next((claim for claim in finding.claims if not self.holds(claim)), None)
        if denied is None:
            return _with_loss(finding, start)
        effect, severity, advice = self._words, finding.severity, finding.advice
        if severity is Severity.FATAL and start.outcome not in _FAILED:
            severity = Severity.ERROR
        if denied.claimed is Claimed.EPOCHS and log is not None:
            effect = f"{effect} {_epoch_words(log, release)}"
            if denied.value != NO_EPOCH:
                effect += " A rebuilt epoch starts at the first batch that the start scans, which can be too late."
            elif _knows_all_epochs(log):
                severity, advice = Severity.WARNING, "Let the broker start: it rebuilds the leader epochs."
        return finding._replace(effect=effect, severity=severity, advice=advice, claims=())


def _latest_epoch(log: LoadedLog) -> int:
    return log.leader_epochs[-1].epoch if log.leader_epochs else NO_EPOCH


def _with_loss(finding: Finding, start: PartitionPrediction) -> Finding:
    """Return a finding about a cut with what the start loses, so that every screen has the same number."""
    if start.lost is None or not any(claim.claimed is Claimed.CUTS for claim in finding.claims):
        return finding
    severity = Severity.WARNING if finding.severity is Severity.INFO else finding.severity
    return finding._replace(effect=f"{finding.effect} The start loses {lost_words(start.lost)}.", severity=severity)


def _knows_all_epochs(log: LoadedLog) -> bool:
    return bool(log.leader_epochs) and log.leader_epochs[0].start_offset <= log.log_start_offset


def _epoch_words(log: LoadedLog, release: Release) -> str:
    if not log.leader_epochs:
        return f"Kafka {release.name} then knows no leader epoch."
    entries = ", ".join(f"{entry.epoch} @ {entry.start_offset}" for entry in log.leader_epochs[:_EPOCH_COUNT])
    more = len(log.leader_epochs) - _EPOCH_COUNT
    known = f"It then knows the leader epochs {entries}{f' and {more} more' if more > 0 else ''}."
    if _knows_all_epochs(log):
        return known
    return f"{known} It knows none of the records below offset {log.leader_epochs[0].start_offset}."


def start_words(start: PartitionPrediction, release: Release) -> str:
    """Return what the next start does with a partition, in a sentence or two."""
    who, why = f"Kafka {release.name}", _reason(start)
    match start.outcome:
        case Outcome.ABORT:
            return f"{who} does not start{why}."
        case Outcome.OFFLINE:
            return f"{who} takes the log dir offline at its next start{why}."
        case Outcome.STRAY | Outcome.DELETED:
            return f"{who} does not serve this directory after its next start{why}."
    loses = "no record" if start.lost is None else lost_words(start.lost)
    then = "" if start.log is None else f" The log then ends at offset {start.log.log_end_offset}."
    return f"At its next start {who} loses {loses}{why}.{then}"


def _reason(start: PartitionPrediction) -> str:
    reasons = (start.reason or "").split("; ")
    more = len(reasons) - _REASON_COUNT
    text = "; ".join(reasons[:_REASON_COUNT])
    if more > 0:
        text += f"; and {more} more {'change' if more == 1 else 'changes'}"
    return f": {text}" if text else ""
