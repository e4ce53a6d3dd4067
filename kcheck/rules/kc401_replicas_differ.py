"""Two replicas hold different records at the same offsets, written in the same epoch.

What is wrong: The leader of an epoch writes each offset once, and followers copy its batches byte for byte. Two
replicas have batches of the same offsets and epoch with different CRCs. Bytes and their CRC changed on a disk, or a
directory belongs to another cluster or topic. Or a replica took over an epoch without being elected.

What the broker does: It does not notice, in any release. Consumers get different records depending on the leader.

What to do: Compare the records of both replicas and decide which one is right before you remove either. Then let the
broker re-replicate the other.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.views import ReplicasView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._words import and_further, kafka
from kcheck.words import offset_range


def check(view: ReplicasView, release: Release) -> Iterable[Finding]:
    """Tell which replicas differ from the first one."""
    for difference in view.different:
        yield RULE.finding(
            difference.other,
            f"{offset_range(difference.base_offset, difference.last_offset + 1)} of epoch {difference.epoch} differ"
            f" from broker {difference.one.broker_id}{and_further(difference.batches, 'batch')}",
            effect=f"{kafka(release)} does not notice. Consumers get different records depending on the leader.",
            advice="Find out which replica is right, and let the broker re-replicate the other one.",
            data={
                "base_offset": difference.base_offset,
                "last_offset": difference.last_offset,
                "epoch": difference.epoch,
                "batches": difference.batches,
                "other_broker_id": difference.one.broker_id,
            },
        )


RULE = Rule(severity=Severity.ERROR, scope=Scope.REPLICAS, check=check)
