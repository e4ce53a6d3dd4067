"""A controller has another directory id than the voter set, so it has no vote.

What is wrong: The voters are in the metadata log (kraft.version 1, 3.9 and later). Each has the directory.id of its log
dir. This node has the id of a voter. But its log dir was formatted again, for example on a new disk.
KC509 is about a node that was formatted with voters.

What the broker does: It starts as an observer. It copies the metadata, but neither votes nor can it be elected. The old
voter stays in the set and counts for the majority. So the quorum tolerates one failure less than it seems to.

kcheck reports this of a log dir with `__cluster_metadata-0`, and of a node whose log dirs are all empty. No other log
dir holds the metadata log.

What to do: Remove the old voter, then let the node join again (`kafka-metadata-quorum.sh remove-controller`, then
`add-controller` on the node). Keep a majority of the voters running meanwhile.

See: operations/lost-quorum.md
"""

from collections.abc import Iterable

from kcheck.core.cluster.quorum import Quorum
from kcheck.model.finding import Finding, Location, Severity
from kcheck.model.release import Release
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._words import kafka


def check(view: Quorum, release: Release) -> Iterable[Finding]:
    """Compare the directory ids of the given nodes with the voter set."""
    rival = view.rival  # KC509
    for voter in sorted(view.newest.voter_set):
        if rival is not None and rival.node_id == voter.voter_id:
            continue
        own = [node for node in view.nodes if node.node_id == voter.voter_id]
        holders = [node for node in own if node.has_metadata_log] or (own if all(node.is_empty for node in own) else [])
        if holders and all(node.directory_id not in (None, voter.directory_id) for node in holders):
            node = holders[0]
            yield RULE.finding(
                Location(broker_id=node.node_id, log_dir=node.path),
                f"node {voter.voter_id} has directory {node.directory_id}, the voter set has {voter.directory_id}: it"
                " has no vote",
                effect=f"{kafka(release)} starts it as an observer; the old voter still counts for the majority.",
                advice="kafka-metadata-quorum.sh --bootstrap-controller HOST:9093 remove-controller --controller-id"
                f" {voter.voter_id} --controller-directory-id {voter.directory_id}; then on the node:"
                " kafka-metadata-quorum.sh --command-config controller.properties --bootstrap-controller HOST:9093"
                " add-controller",
                data={
                    "node_id": voter.voter_id, "directory_id": node.directory_id,
                    "voter_directory_id": voter.directory_id,
                },
            )  # fmt: skip


RULE = Rule(severity=Severity.ERROR, scope=Scope.CLUSTER, check=check)
