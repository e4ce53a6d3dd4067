"""The sequence numbers of a producer have a gap where no offset is missing.

What is wrong: Maybe nothing. A broker accepts any number from a producer that expired (producer.id.expiration.ms) or
whose snapshots were lost. But acknowledged records of the producer can also be missing.

What the broker does: It does not notice it.

What to do: Nothing, if the producer was idle. Otherwise compare with the other replicas, and ask the owners of the
producing application whether it lacks records.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.producers import SequenceFault
from kcheck.model.release import Release
from kcheck.model.views import PartitionView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._sequences import sequence_finding


def check(view: PartitionView, release: Release) -> Iterable[Finding]:
    """Find the batches that skip sequence numbers although no offset is missing before them."""
    return sequence_finding(
        RULE,
        view,
        SequenceFault.GAP,
        "does not notice it",
        "Compare with the other replicas, unless the producer was idle long enough to expire.",
        release,
    )


RULE = Rule(severity=Severity.INFO, scope=Scope.READ_PARTITION, check=check)
