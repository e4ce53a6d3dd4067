"""A `.log` has more bytes than a broker opens.

What is wrong: a `.log` has 2147483647 bytes at most. No broker writes more: something was appended by hand, two files
were joined, or a tool or a file system has given it another length.

What the broker does: from 2.1 on its start ends, after a clean stop too, and every start after it. Up to 2.0 it counts
the bytes in 32 bits (FileRecords): where that gives a negative number the start ends as well; from 4294967296 bytes on
it takes the file for one of as many bytes as are left over, and goes on behind these.

What to do: stop the broker and keep a copy. Zeros behind the last batch can be cut off. Of anything else let the
replica be fetched anew.
"""

from collections.abc import Iterable

from kcheck.core.segments import LOG_SIZE_MAX, seen_log_size
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
        told = oversized_log(segment.size, release)
        if told is None:
            continue
        severity, effect = told
        yield RULE.finding(
            view.where._replace(file=log_name(segment.base_offset)),
            f"it has {segment.size} bytes, and a .log has {LOG_SIZE_MAX} at most",
            effect=effect,
            advice=f"{KEEP_A_COPY} {REFETCH}",
            severity=severity,
            data={"size": segment.size, "seen_size": seen_log_size(segment.size, release)},
        )


RULE = Rule(
    id="KC230",
    name="log-too-large",
    severity=Severity.FATAL,
    scope=Scope.PARTITION,
    check=check,
    page=__doc__,
)
