"""Statements about the next start (verdicts, the effects of findings, and reasons not to start)."""

from collections.abc import Iterable
from functools import cached_property

from kcheck.core.start.claims import NO_EPOCH, ClaimedStart, knows_all_epochs
from kcheck.core.start.predictions import LoadedLog, PartitionPrediction
from kcheck.core.start.startup import NOT_LOADED, Outcome
from kcheck.model.finding import Claimed, Finding, Severity
from kcheck.model.release import Release
from kcheck.words import epoch_words, lost_words, some_reasons

LET_START = "Let the broker start. It rebuilds the leader epochs."
_ELECT_FIRST = "The broker rebuilds the leader epochs, but the log of another broker differs. Run kcheck recover first."
LOGS_DIFFER = ("KC401", "KC402")
"""The rules of replicas with different batches or epochs."""
_REASON_COUNT = 2
_EPOCH_COUNT = 5


def elect_first(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings; none says to start a broker that can lose records to another one's log."""
    findings = [*findings]
    differ = {(row.where.topic, row.where.partition) for row in findings if row.id in LOGS_DIFFER}
    return [
        row._replace(advice=_ELECT_FIRST)
        if row.advice == LET_START and (row.where.topic, row.where.partition) in differ
        else row
        for row in findings
    ]


class StartEffects:
    """Writes the effects of the findings of one partition, given the predicted start."""

    def __init__(self, start: PartitionPrediction, release: Release) -> None:
        """Take the prediction, and the release that it is of."""
        self._claimed = ClaimedStart(start)
        self._release = release

    @cached_property
    def _words(self) -> str:
        return start_words(self._claimed.prediction, self._release)

    def settled(self, finding: Finding) -> Finding:
        """Return the finding with an effect that the predicted start has."""
        start, log = self._claimed.prediction, self._claimed.prediction.log
        if start.outcome is Outcome.UNKNOWN:
            return finding
        denied = self._claimed.denied(finding)
        if denied is None:
            return _with_loss(finding, start)
        effect, severity, advice = self._words, finding.severity, finding.advice
        if severity is Severity.FATAL and start.outcome not in NOT_LOADED:
            severity = Severity.ERROR
        if denied.claimed is Claimed.EPOCHS and log is not None:
            effect = f"{effect} {_epoch_words(log, self._release)}"
            if denied.value != NO_EPOCH:
                effect += " A rebuilt epoch starts at the first batch that the broker scans, which can be too late."
            elif knows_all_epochs(log):
                severity, advice = Severity.WARNING, LET_START
        return finding._replace(effect=effect, severity=severity, advice=advice, claims=())


def _with_loss(finding: Finding, start: PartitionPrediction) -> Finding:
    """Return a finding about a truncation with the predicted loss, so that every screen has the same number."""
    if start.lost is None or not any(claim.claimed is Claimed.CUTS for claim in finding.claims):
        return finding
    severity = Severity.WARNING if finding.severity is Severity.INFO else finding.severity
    effect = f"{finding.effect} The next start loses {lost_words(start.lost)}."
    return finding._replace(effect=effect, severity=severity)


def _epoch_words(log: LoadedLog, release: Release) -> str:
    if not log.leader_epochs:
        return f"Kafka {release.name} then has no leader epoch."
    known = f"The file then has {epoch_words(log.leader_epochs, _EPOCH_COUNT)}."
    if knows_all_epochs(log):
        return known
    return f"{known} Records below offset {log.leader_epochs[0].start_offset} then have no epoch."


def start_words(start: PartitionPrediction, release: Release) -> str:
    """Return the next start of a partition, in a sentence or two."""
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
    text = some_reasons((start.reason or "").split("; "), _REASON_COUNT, "change")
    return f": {text}" if text else ""
