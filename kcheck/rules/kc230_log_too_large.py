"""A `.log` is larger than a broker can open.

What is wrong: A `.log` has at most 2147483647 bytes. No broker writes more. Two files were joined, or a tool or a file
system changed the length.

What the broker does: 2.1 and later never start with it, not even after a clean shutdown. In 2.0 and earlier it counts
the bytes in 32 bits (FileRecords). If that gives a negative number, it fails to start as well. From 4294967296 bytes on
the count wraps around. The broker reads and appends as if the file had only the remaining bytes.

What to do: Stop the broker and keep a copy. You can truncate zeros after the last batch. For anything else, let the
broker re-replicate this replica.
"""

from collections.abc import Iterable

from kcheck.core.start.segments import LOG_SIZE_MAX, seen_log_size
from kcheck.model.finding import Finding, Severity
from kcheck.model.names import log_name
from kcheck.model.release import Release
from kcheck.model.views import PartitionView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._segments import KEEP_A_COPY, REFETCH, oversized_log


def check(view: PartitionView, release: Release) -> Iterable[Finding]:
    """Find the segments that are too large."""
    if view.size <= LOG_SIZE_MAX:
        return
    for segment in view.segments:
        oversized = oversized_log(segment.size, release)
        if oversized is None:
            continue
        severity, effect = oversized
        yield RULE.finding(
            view.where._replace(file=log_name(segment.base_offset)),
            f"the file has {segment.size} bytes; a .log has at most {LOG_SIZE_MAX}",
            effect=effect,
            advice=f"{KEEP_A_COPY} {REFETCH}",
            severity=severity,
            data={"size": segment.size, "seen_size": seen_log_size(segment.size, release)},
        )


RULE = Rule(severity=Severity.FATAL, scope=Scope.PARTITION, check=check)
