"""The newest metadata has a voter set that no majority of the controllers names.

What is wrong: The controllers elect their leader among the voters. With kraft.version 0 each node has them from its own
configuration (`controller.quorum.voters`), and here the configurations differ. With kraft.version 1 (3.9 and later)
they are in the metadata log. Only a minority of the controllers' copies has the newest set. The change was not
replicated yet, or copies are old.

What the broker does:

- kraft.version 0: each controller counts votes by its own list. Two lists can have two majorities, so two leaders can
  be elected, and committed metadata can be lost.
- kraft.version 1: a change of the voters that no majority has got may be undone by the next leader.

What to do: With kraft.version 0 give all nodes the same `controller.quorum.voters` before you start them. With
kraft.version 1 start the controllers of both sets, and compare with `kafka-metadata-quorum.sh describe`.

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
    """Count the controllers whose newest copy names the voters of the newest copy of all."""
    copies = [standing.copy for standing in view.copies]
    voters, ids = _voters(view.newest), frozenset(voter for copy in copies for voter in _voters(copy))
    by_node: dict[int, MetadataCopy] = {}
    for copy in sorted(copies, key=lambda copy: (copy.epoch, copy.end)):
        if copy.node_id is not None and copy.node_id in ids and _voters(copy):
            by_node[copy.node_id] = copy
    agreeing = [node for node, copy in by_node.items() if _voters(copy) == voters]
    if not voters or not by_node or 2 * len(agreeing) > len(by_node) or view.rival is not None:  # KC509
        return
    configured = view.newest.elected is not None and view.newest.elected.voters is not None
    others = [f"{listed(sorted(_voters(copy)))} (controller {node})" for node, copy in sorted(by_node.items())]
    yield RULE.finding(
        place_of(view.newest),
        f"the newest metadata lists the voters {listed(sorted(voters))}, as {len(agreeing)} of {len(by_node)} "
        f"controllers do; they name {listed(others)}",
        effect=f"Controllers of {kafka(release)} count votes by their own list, so two leaders can be elected."
        if configured
        else f"The next leader of {kafka(release)} may undo this change of the voters.",
        advice="Give all nodes the same controller.quorum.voters before you start them."
        if configured
        else "Start the controllers of both sets, and compare with kafka-metadata-quorum.sh describe.",
        severity=Severity.ERROR if configured else Severity.WARNING,
        data={
            "voters": tuple(sorted(voters)),
            "controllers": tuple(
                {"node_id": node, "voters": tuple(sorted(_voters(copy)))}
                for node, copy in sorted(by_node.items())[:DATA_MAX]
            ),
        },
    )


def _voters(copy: MetadataCopy) -> frozenset[int]:
    """Return the voters of a node, from its configuration as its last election saved it, or from its log."""
    configured = None if copy.elected is None else copy.elected.voters
    return copy.voters if configured is None else frozenset(configured)


RULE = Rule(severity=Severity.ERROR, scope=Scope.CLUSTER, check=check)
