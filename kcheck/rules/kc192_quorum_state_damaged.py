"""A KRaft node's record of the last election is corrupt.

What is wrong: `quorum-state` in `__cluster_metadata-0` is one JSON object. It holds the leader, its epoch and the vote
of the node. An entry is missing or invalid, or the file is truncated.

What the broker does: It does not start. From 3.0 to 3.7 it deletes a file that is not a JSON object at all, and forgets
its content.

What to do: Keep a copy of the file. On a broker that is not a controller, remove the file. The broker finds the leader
again. A controller that forgets its vote may vote twice in one epoch. If the other controllers are healthy, start it
with an empty, newly formatted metadata directory. It fetches everything.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.views import FileView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._words import kafka


def check(view: FileView, release: Release) -> Iterable[Finding]:
    """Find a quorum-state that the node refuses or deletes."""
    assert view.reads is not None
    forgotten = view.reads.value and view.reads.value.removed_because
    why = view.reads.error or forgotten
    if why is None:
        return
    yield RULE.finding(
        view.where,
        why,
        severity=Severity.WARNING if forgotten else Severity.FATAL,
        effect=f"{kafka(release)} {'deletes the file and forgets its content' if forgotten else 'does not start'}.",
        advice="Keep a copy of the file. Remove it only if the node is not a controller. A controller must not forget "
        "its vote. If the other controllers are healthy, let this one fetch everything again.",
        data={"error": why},
    )


RULE = Rule(severity=Severity.FATAL, scope=Scope.FILE, check=check, kinds=("quorum-state",))
