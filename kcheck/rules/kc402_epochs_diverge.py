"""The logs of two replicas diverge, because from some offset on they were written in different epochs.

What is wrong: A broker wrote records that no other one had. Then another leader was elected, uncleanly or because of an
old bug. Both logs then continued with their own records. For batches that kcheck has not read it compares the epochs of
the leader-epoch-checkpoint. For a compacted log these count only where compaction does not explain the difference.

What the broker does: When the follower asks its leader, it truncates to the offset where the logs diverge. It loses its
own records from there on. In 0.10.2 and earlier it truncates to its high watermark, and the logs may stay different
without any error.

What to do: Start and elect nothing yet. Run `kcheck recover` with the log dirs of all brokers. It names the best
leader, and `kcheck truncation` shows what each leader would lose.

See: operations/unclean-election.md
"""

from collections.abc import Iterable

from kcheck.core.replication.lineage import EpochRange, Lineage, contradict, fork, lineage_of_cache
from kcheck.model.entries import Offset
from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.views import PartitionView, ReplicasView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._words import kafka


def check(view: ReplicasView, release: Release) -> Iterable[Finding]:
    """Compare the epochs of each replica with the epochs of the first one."""
    one, *others = view.replicas
    for other in others:
        parted = _parted(one, other)
        if parted is not None:
            yield RULE.finding(
                other.where,
                f"from offset {parted} on, the epochs differ from those of broker {one.where.broker_id}",
                effect=f"{kafka(release)} truncates the follower there, and its own records from there on are lost.",
                advice="Start and elect nothing yet. kcheck recover, with the log dirs of all brokers, names the best "
                "leader.",
                data={"offset": parted, "other_broker_id": one.where.broker_id},
            )


def _parted(one: PartitionView, other: PartitionView) -> Offset | None:
    ends = one.log_end_offset, other.log_end_offset
    if ends[0] is None or ends[1] is None:
        return None
    told_by_files = one.read is None or other.read is None
    if told_by_files and (one.is_compacted or other.is_compacted):
        entries = one.leader_epochs, other.leader_epochs
        if not contradict(*entries, a_end=ends[0], b_end=ends[1]):
            return None
    return fork(_lineage(one, ends[0]), _lineage(other, ends[1]), a_end=ends[0], b_end=ends[1]).first_difference


def _lineage(view: PartitionView, end: Offset) -> Lineage:
    """Return the epochs of the batches, or of the file if batches were not read."""
    if view.read is None:
        return lineage_of_cache(
            view.leader_epochs, log_start_offset=view.log_start_offset or Offset(0), log_end_offset=end
        )
    runs = [run for segment in view.read for run in segment.epochs]
    return tuple(EpochRange(run.first_offset, Offset(run.last_offset + 1), run.epoch) for run in runs)


RULE = Rule(severity=Severity.WARNING, scope=Scope.REPLICAS, check=check, depends_on_others=True)
