"""A producer snapshot contradicts the batches below its offset.

What is wrong: A `.snapshot` holds the state of each producer when the log ended at its offset. The snapshot states an
offset at or above its own, or a batch that the log lacks. Or the log has a later batch, a later epoch or another
sequence number of the producer. Or the two disagree about an open transaction. kcheck reports nothing where the cleaner
removed batches or markers, or where the producer may have expired.

What the broker does: It trusts the snapshot, because its CRC matches. It accepts duplicates, or refuses producers. A
read_committed consumer stops at a transaction that only the snapshot has open. It gets the records of a transaction
that the snapshot lacks. After a clean shutdown the broker loads only the newest snapshot. After an unclean one it
begins at an older one, and reads the batches after it.

What to do: Find out where the file comes from. It may be a copy of another replica or time. Stop the broker, keep a
copy, and remove the snapshot, as long as an older correct one remains. Or re-replicate this replica.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.producers import FaultyProducer, SnapshotFault, SnapshotView
from kcheck.model.release import Release
from kcheck.model.views import PartitionView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._partition import served
from kcheck.rules._words import DATA_MAX, and_further, kafka

MESSAGES = {
    SnapshotFault.BEYOND: "states offset {stated} for producer {producer}, not below the offset of the snapshot",
    SnapshotFault.EPOCH: "states epoch {stated} for producer {producer}; its last batch below has epoch {seen}",
    SnapshotFault.OLDER: "ends producer {producer} at offset {stated}; the log has a batch of it that ends at {seen}",
    SnapshotFault.SEQUENCE: "ends producer {producer} with sequence {stated}; the batch ends with {seen}",
    SnapshotFault.ABSENT: "ends producer {producer} at offset {stated}, where no batch of it ends",
    SnapshotFault.ENDED: "has a transaction of producer {producer} open since {stated}; it ended at {seen}",
    SnapshotFault.LACKS: "lacks the transaction of producer {producer} that is open since {seen}",
}

WRONG_STATE = "it accepts duplicates or refuses producers"
EFFECTS = {
    SnapshotFault.ENDED: "read_committed consumers stop there for good",
    SnapshotFault.LACKS: "read_committed consumers get the records of the open transaction",
}


def check(view: PartitionView, release: Release) -> Iterable[Finding]:
    """Find the snapshots that contradict the batches."""
    if view.producers is None or not served(view):
        return
    for snapshot in view.producers.snapshots:
        if snapshot.faults:
            yield _finding(snapshot, release)


def _finding(snapshot: SnapshotView, release: Release) -> Finding:
    count = sum(snapshot.counts.values())
    loaded = f"loads it when it starts, and trusts it: {EFFECTS.get(snapshot.faults[0].fault, WRONG_STATE)}"
    return RULE.finding(
        snapshot.where,
        f"{_message(snapshot.faults[0])}{and_further(count, 'contradiction')}",
        effect=f"{kafka(release)} {loaded}."
        if snapshot.newest
        else f"{kafka(release)} trusts it if a start after an unclean shutdown begins there; a newer snapshot exists.",
        advice="Stop the broker, keep a copy, and remove the snapshot, as long as an older one remains.",
        severity=Severity.ERROR if snapshot.newest else Severity.WARNING,
        data={
            "count": count,
            "newest": snapshot.newest,
            "producers": tuple(faulty._asdict() for faulty in snapshot.faults[:DATA_MAX]),
        },
    )


def _message(faulty: FaultyProducer) -> str:
    return MESSAGES[faulty.fault].format(producer=faulty.producer_id, stated=faulty.stated, seen=faulty.seen)


RULE = Rule(severity=Severity.ERROR, scope=Scope.READ_PARTITION, check=check)
