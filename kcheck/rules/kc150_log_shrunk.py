"""A segment became shorter while it was read.

What is wrong: probably nothing. A broker that runs truncates logs as a follower, and deletes old segments. What was
read of this segment is not one state of it.

What the broker does: it goes on.

What to do: stop the broker, or check a snapshot of the disk, if you want to know what stands there.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.segments import End, SegmentView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._segments import ends_early


def check(view: SegmentView, release: Release) -> Iterable[Finding]:
    """Find a segment that had fewer bytes than it had when it was opened."""
    del release
    if view.end is not End.SHRUNK:
        return
    yield RULE.finding(
        view.where._replace(position=view.valid_size),
        f"it became shorter than {view.size} bytes while it was read: somebody writes here",
        effect="This says nothing about the broker.",
        advice="Stop the broker, or check a snapshot of the disk.",
        data={"size": view.size, "valid_size": view.valid_size},
    )


RULE = Rule(severity=Severity.INFO, scope=Scope.FAULTY_SEGMENT, check=check, when=ends_early)
