"""The sequence numbers of a producer go backwards, because the log has a batch twice.

What is wrong: An idempotent producer numbers its records, and a broker accepts each number of an epoch once. A batch
has numbers that the previous batch of the same producer and epoch already had, or lower ones. The broker lost the state
of the producer and accepted a batch again, or bytes were copied into the log. kcheck does not report a batch that
begins at 0. Group coordinators write no other number, and old producers started again at 0.

What the broker does: It does not notice it. Consumers get these records twice.

What to do: Compare with the other replicas. If they have the batch too, the leader accepted the duplicate. Inform the
applications that read the topic. If not, re-replicate this replica.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.producers import SequenceFault
from kcheck.model.release import Release
from kcheck.model.views import PartitionView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._sequences import sequence_finding


def check(view: PartitionView, release: Release) -> Iterable[Finding]:
    """Find the batches whose sequence numbers are not above the previous ones."""
    return sequence_finding(
        RULE,
        view,
        SequenceFault.REPEATED,
        "does not notice it, and consumers get records twice",
        "Compare with the other replicas; if they do not have it, re-replicate this one.",
        release,
    )


RULE = Rule(severity=Severity.ERROR, scope=Scope.READ_PARTITION, check=check)
