"""A compressed wrapper of magic 0 or 1 begins at or below an offset already in the log (KAFKA-3919).

What is wrong: In message format 0.10 and earlier a wrapper holds several messages. Its header has the offset of the
last one. The first message in it is not above the last offset before the wrapper. A follower that truncated its log
inside a wrapper fetches all of it again. In 0.10.2 and earlier every follower truncates to its high watermark.

What the broker does: In 1.1 and earlier an index entry has the first offset of a wrapper. A broker that rebuilds the
indexes, as after an unclean shutdown, refuses an entry that does not rise. If this happens while it opens the segments,
it does not start (InvalidOffsetException), each time again. During the recovery of the log it empties the segment.
Whether the wrapper gets an entry depends on index.interval.bytes. After a clean shutdown it does not notice. In 2.0 and
later an entry has the last offset, and no broker notices. Consumers get each offset once.

What to do: After a clean shutdown nothing fails yet. Take the records from another replica before the broker starts.
Otherwise truncate the log before the wrapper; its records that are not in the log before it are lost. Or move the
partition directory outside every log dir and let the broker re-replicate it. Rebuilding the indexes does not help.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.segments import RecordFault, SegmentView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._records import records_finding
from kcheck.rules._segments import KEEP_A_COPY, REFETCH, has_faulty_records
from kcheck.rules._words import kafka


def check(view: SegmentView, release: Release) -> Iterable[Finding]:
    """Find the wrappers whose first offset is not above the offsets before them."""
    unnoticed = f"{kafka(release)} does not notice it, and consumers get each offset once."
    return records_finding(
        RULE,
        view,
        (RecordFault.OVERLAP,),
        lambda _: unnoticed if release.splits_segments else _refused(release),
        advice=f"{KEEP_A_COPY} {REFETCH} Otherwise truncate the log before the wrapper (kcheck repair). Do not remove "
        "or rebuild the indexes, because the broker fails on the wrapper while it builds them.",
        severity=Severity.INFO if release.splits_segments else Severity.ERROR,
    )


def _refused(release: Release) -> str:
    return (
        f"{kafka(release)} fails to start (InvalidOffsetException) if the wrapper gets an index entry. That can "
        "happen when it rebuilds the indexes, as after an unclean shutdown. Otherwise it does not notice."
    )


RULE = Rule(severity=Severity.ERROR, scope=Scope.FAULTY_SEGMENT, check=check, when=has_faulty_records)
