"""The controller elected a leader of the partition uncleanly.

What is wrong: No replica that had every committed record was there, so the controller made another one the leader. The
records that this replica lacked are lost. When another replica fetches from it, that replica truncates its log to the
new leader's, without any error. The metadata of the cluster contains the election until a snapshot replaces its record.

What the broker does: Nothing more. In the logs that follow it, the leader epoch of the election begins at the offset
where they were truncated.

The finding is an error for a former leader or member of the ISR that has not followed yet. When its broker starts, it
deletes the records that no other replica has. It is a warning for any other replica that has not followed, and an info
for a replica that has followed. An election of the broker that led last is no finding, because it lacks nothing.

What to do: Find out which records are missing, and send them again if their source still has them. A replica that has
not come back yet may hold them. Before you start its broker, run `kcheck recover`. It names the records that would be
lost, and saves them (`--output-dir`). A copy or a `-stray` directory of a former leader can have them too.

See: operations/unclean-happened.md
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.views import PartitionView
from kcheck.rules._cluster import has_metadata, source_of
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._words import kafka
from kcheck.words import partition_name


def check(view: PartitionView, release: Release) -> Iterable[Finding]:
    """Find the last unclean election of the partition, and where its epoch begins in this log."""
    replica = view.in_cluster
    if replica is None or replica.unclean is None:
        return
    leader, epoch, offset, before, _ = replica.unclean
    starts = [entry.start_offset for entry in view.leader_epochs if entry.epoch >= epoch]
    at = f"in transaction {offset:#x}" if replica.of_zookeeper else f"at metadata offset {offset}"
    name = partition_name(view.topic, view.partition)
    cut = f" truncated {name} at {starts[0]}" if starts else f" is not known to this replica of {name} yet"
    does = f"{kafka(release)} truncates this replica where the log of broker {leader} diverges, once it follows it."
    yield RULE.finding(
        view.where,
        f"an unclean election of epoch {epoch}{cut}: broker {leader} became the leader {at},"
        f" according to {source_of(replica)}",
        effect=f"The records that broker {leader} lacked are lost, if it lacked any." if starts else does,
        advice="Send the missing records again."
        if starts
        else "Before you start this broker, run kcheck recover. It names the records that are lost, and saves them.",
        severity=Severity.INFO if starts else Severity.ERROR if view.where.broker_id in before else Severity.WARNING,
        data={"leader": leader, "epoch": epoch, "metadata_offset": offset, "cut_at": starts[0] if starts else None},
    )


RULE = Rule(
    severity=Severity.WARNING,
    scope=Scope.PARTITION,
    check=check,
    when=has_metadata,
    depends_on_others=True,
    cites_metadata=True,
)
