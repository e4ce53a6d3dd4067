"""What a node of KRaft knows of the last election is damaged.

What is wrong: `quorum-state` in `__cluster_metadata-0` holds the leader, its epoch and the vote of the node, as one
JSON object. Here an entry is missing or makes no sense, or the file is cut.

What the broker does: it does not start. From 3.0 to 3.7 a file that is no JSON object at all is deleted, and what it
said is forgotten.

What to do: keep a copy of the file. A broker that is no controller learns the leader anew: remove the file. A
controller that forgets its vote may vote twice in one epoch: if the other controllers are well, start it with an empty
directory of metadata, formatted anew, and it fetches everything.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.views import FileView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._words import kafka


def check(view: FileView, release: Release) -> Iterable[Finding]:
    """Find a quorum-state that the node refuses or forgets."""
    assert view.reads is not None
    forgotten = view.reads.value
    why = view.reads.error or forgotten
    if why is None:
        return
    yield RULE.finding(
        view.where,
        why,
        severity=Severity.WARNING if forgotten else Severity.FATAL,
        effect=f"{kafka(release)} {'removes it, and forgets what it said' if forgotten else 'does not start'}.",
        advice="Keep a copy of the file. Remove it only if the node is no controller; a controller must not forget its "
        "vote: if the others are well, let it fetch everything anew.",
        data={"error": why},
    )


RULE = Rule(severity=Severity.FATAL, scope=Scope.FILE, check=check, kinds=("quorum-state",))
