"""A producer's sequence numbers have a gap where no offset is missing.

What is wrong: maybe nothing. A broker takes any number of a producer that it does not know any more: because it expired
(producer.id.expiration.ms), or because its snapshots were lost. But records of the producer can also be missing that it
was told are there.

What the broker does: it does not notice it.

What to do: nothing, if the producer had rested. Otherwise compare with the other replicas, and ask the application
that produced whether it lacks records.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.producers import SequenceFault
from kcheck.model.release import Release
from kcheck.model.views import PartitionView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._sequences import sequence_finding


def check(view: PartitionView, release: Release) -> Iterable[Finding]:
    """Tell the batches that do not go on from the one before, though no offset is missing between them."""
    return sequence_finding(
        RULE,
        view,
        SequenceFault.GAP,
        "does not notice it",
        "Compare with the other replicas, unless the producer had rested long enough to expire.",
        release,
    )


RULE = Rule(severity=Severity.INFO, scope=Scope.READ_PARTITION, check=check)
