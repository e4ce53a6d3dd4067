"""Two log dirs with metadata of one cluster claim the same node id.

What is wrong: `node.id` names one broker or controller of a cluster. The metadata log is in two log dirs with one node
id and different directory ids. Two machines were set up with the same node id. Or one node has the metadata log in two
of its log dirs.

What the broker does:

- Two brokers: The controller registers the first one. It refuses the other while the first one runs
  (DuplicateBrokerRegistrationException).
- Two controllers, kraft.version 0: the others cannot tell them apart. Both vote with one voice, so two leaders can be
  elected, and committed metadata can be lost.
- Two controllers, kraft.version 1 (3.9 and later): Only the one whose directory id is in the voter set votes.
- One node with the metadata log in two log dirs: It does not start.

What to do: Find out which of the two the cluster knows, and do not start the other one. Format it again with a node id
of its own.

See: operations/lost-quorum.md
"""

from collections.abc import Iterable

from kcheck.core.cluster.copies import MetadataCopy
from kcheck.core.cluster.quorum import Quorum
from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.rules._cluster import place_of
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._words import DATA_MAX, kafka
from kcheck.words import listed


def check(view: Quorum, release: Release) -> Iterable[Finding]:
    """Find the node ids of which there are copies in log dirs with different ids."""
    by_node: dict[int, dict[str, MetadataCopy]] = {}
    for standing in view.copies:
        copy = standing.copy
        if copy.node_id is not None and copy.directory_id is not None:
            by_node.setdefault(copy.node_id, {}).setdefault(copy.directory_id, copy)
    for node_id, copies in sorted(by_node.items()):
        if len(copies) > 1:
            votes = node_id in view.voters
            paths = [copy.path for copy in copies.values()]
            yield RULE.finding(
                place_of([*copies.values()][-1]),
                f"{len(copies)} log dirs with different directory ids claim node id {node_id}: {listed(paths)}",
                effect=f"{kafka(release)} cannot tell the {'controllers' if votes else 'brokers'} apart"
                + (": two leaders can be elected." if votes else ", and registers only one of them."),
                advice="Find out which of them the cluster knows, and do not start the other one.",
                data={"node_id": node_id, "directory_ids": tuple(copies)[:DATA_MAX], "voter": votes},
            )


RULE = Rule(severity=Severity.ERROR, scope=Scope.CLUSTER, check=check)
