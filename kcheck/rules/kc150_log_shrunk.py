"""A segment became shorter while kcheck read it.

What is wrong: Probably nothing. A running broker truncates logs as a follower, and deletes old segments. kcheck read a
mixture of two states of this segment.

What the broker does: It continues.

What to do: For a consistent result, stop the broker, or check a snapshot of the disk.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.segments import End, SegmentView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._segments import ends_early


def check(view: SegmentView, release: Release) -> Iterable[Finding]:
    """Find a segment that lost bytes after it was opened."""
    del release
    if view.end is not End.SHRUNK:
        return
    yield RULE.finding(
        view.where._replace(position=view.valid_size),
        f"became shorter than {view.size} bytes while kcheck read it, because a process is writing to it",
        effect="None, because kcheck read a changing file.",
        advice="Stop the broker, or check a snapshot of the disk.",
        data={"size": view.size, "valid_size": view.valid_size},
    )


RULE = Rule(severity=Severity.INFO, scope=Scope.FAULTY_SEGMENT, check=check, when=ends_early)
