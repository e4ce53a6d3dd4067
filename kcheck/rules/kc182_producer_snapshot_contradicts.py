"""A producer snapshot says something else than the batches below its offset.

What is wrong: a `.snapshot` holds what the broker knew of each producer when the log ended at the offset in its name.
Here it names an offset that is not below that one; or the log has a later batch or a later epoch of the producer, or
another sequence number; or no batch where it names one; or it takes a transaction for open that was ended, or does not
know one that is open. Nothing is said where the cleaner took batches or what a marker said, or where the producer may
have expired.

What the broker does: it believes the snapshot, because its CRC matches. Duplicates get in, or producers are refused;
consumers that read committed records alone stop at a transaction that it takes for open, and get the records of one
that it does not know. After a clean stop it loads the newest snapshot alone. After an unclean one it begins at an older
one, and reads the batches behind it.

What to do: find out where the file comes from: a copy of another replica or of another time. Stop the broker, keep a
copy, and remove the snapshot, as long as an older one that is right is left; or let the replica be fetched anew.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.producers import FaultyProducer, SnapshotFault, SnapshotView
from kcheck.model.release import Release
from kcheck.model.views import PartitionView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._partition import served
from kcheck.rules._words import DATA_MAX, and_further, kafka

SAYING = {
    SnapshotFault.BEYOND: "names offset {stated} of producer {producer}, which is not below its own",
    SnapshotFault.EPOCH: "gives producer {producer} epoch {stated}, its last batch below has epoch {seen}",
    SnapshotFault.OLDER: "ends producer {producer} at offset {stated}, it has a batch that ends at {seen}",
    SnapshotFault.SEQUENCE: "ends producer {producer} with sequence {stated}, the batch ends with {seen}",
    SnapshotFault.ABSENT: "ends producer {producer} at offset {stated}, where no batch of it ends",
    SnapshotFault.ENDED: "has a transaction of producer {producer} open since {stated}, which was ended at {seen}",
    SnapshotFault.LACKS: "does not know the transaction of producer {producer} that is open since {seen}",
}

REFUSED = "duplicates get in, or producers are refused"
EFFECTS = {
    SnapshotFault.ENDED: "consumers that read committed records alone stop there for good",
    SnapshotFault.LACKS: "consumers that read committed records alone get those of the open transaction",
}


def check(view: PartitionView, release: Release) -> Iterable[Finding]:
    """Tell for each snapshot what the batches contradict."""
    if view.producers is None or not served(view):
        return
    for snapshot in view.producers.snapshots:
        if snapshot.faults:
            yield _finding(snapshot, release)


def _finding(snapshot: SnapshotView, release: Release) -> Finding:
    count = sum(snapshot.counts.values())
    loaded = f"loads it at its next start and believes it: {EFFECTS.get(snapshot.faults[0].fault, REFUSED)}"
    return RULE.finding(
        snapshot.where,
        f"it {_said(snapshot.faults[0])}{and_further(count, 'contradiction')}",
        effect=f"{kafka(release)} {loaded}."
        if snapshot.newest
        else f"{kafka(release)} believes it where a start after an unclean stop begins there; a newer one is left.",
        advice="Keep a copy, and remove it with the broker stopped, as long as an older one is left.",
        severity=Severity.ERROR if snapshot.newest else Severity.WARNING,
        data={
            "count": count,
            "newest": snapshot.newest,
            "producers": tuple(faulty._asdict() for faulty in snapshot.faults[:DATA_MAX]),
        },
    )


def _said(faulty: FaultyProducer) -> str:
    return SAYING[faulty.fault].format(producer=faulty.producer_id, stated=faulty.stated, seen=faulty.seen)


RULE = Rule(severity=Severity.ERROR, scope=Scope.READ_PARTITION, check=check)
