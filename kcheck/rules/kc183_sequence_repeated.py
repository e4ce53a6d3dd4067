"""A producer's sequence numbers run backwards: a batch stands in the log twice.

What is wrong: an idempotent producer numbers its records, and a broker takes each number of an epoch once. Here a batch
has numbers that the batch of the same producer and epoch before it already had, or earlier ones. The broker had lost
what it knew of the producer and took a batch again, or bytes were copied into the log. A batch that begins at 0 is
not told: group coordinators write no other, and old producers began again there.

What the broker does: it does not notice it. Consumers get these records twice.

What to do: compare with the other replicas. If they have it too, the duplicate was taken by the leader: tell the
applications that read the topic. If not, let this replica be fetched anew.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.producers import SequenceFault
from kcheck.model.release import Release
from kcheck.model.views import PartitionView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._sequences import sequence_finding


def check(view: PartitionView, release: Release) -> Iterable[Finding]:
    """Tell the batches whose sequences are not above those before."""
    return sequence_finding(
        RULE,
        view,
        SequenceFault.REPEATED,
        "does not notice it: consumers get records twice",
        "Compare with the other replicas; if they do not have it, let this one be fetched anew.",
        release,
    )


RULE = Rule(severity=Severity.ERROR, scope=Scope.READ_PARTITION, check=check)
