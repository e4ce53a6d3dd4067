"""The metadata of the cluster assigns this replica to another log dir of the broker.

What is wrong: In 3.7 and later the metadata of a KRaft cluster names the log dir of each replica, by directory.id. The
replica is in a log dir with another id. The directory was moved while the broker was down, or the log dir has a new
meta.properties. Or the broker stopped while it moved the replica.

What the broker does (3.7 and later): It follows the disk. It serves the replica where it is, and asks the controller to
write this log dir into the metadata. Until then the controller takes the replica for offline if the other log dir is
offline.

What to do: Nothing, if the directory was moved on purpose. Make sure that no other log dir of the broker holds the same
partition: KC304.

See: operations/moved-by-hand.md
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.views import PartitionView
from kcheck.rules._cluster import has_metadata, source_of
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._words import kafka


def check(view: PartitionView, release: Release) -> Iterable[Finding]:
    """Compare the directory.id of the log dir with the one in the metadata."""
    replica = view.in_cluster
    if replica is None or replica.directory_id is None or replica.own_directory_id is None:
        return
    if replica.directory_id != replica.own_directory_id:
        yield RULE.finding(
            view.where,
            f"the cluster assigns the replica to log dir {replica.directory_id}, this is log dir "
            f"{replica.own_directory_id}, according to {source_of(replica)}",
            effect=f"{kafka(release)} serves the replica from this log dir, and asks the controller to record that.",
            advice="None is needed if the directory was moved on purpose.",
            data={"directory_id": replica.own_directory_id, "directory_id_of_cluster": replica.directory_id},
        )


RULE = Rule(severity=Severity.INFO, scope=Scope.PARTITION, check=check, when=has_metadata, cites_metadata=True)
