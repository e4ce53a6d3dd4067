"""A compressed wrapper of magic 0 or 1 begins at or below an offset that is already in the log (KAFKA-3919).

What is wrong: up to message format 0.10 a wrapper holds several messages, and its header has the offset of the last
one. Here the first message in it is not above the last offset before the wrapper. A follower that truncated its log
inside a wrapper fetches the whole wrapper again, and up to 0.10.2 every follower truncates to its high watermark.

What the broker does: up to 1.1 an index entry has the first offset of a wrapper. A broker that rebuilds the indexes of
the segment, as after an unclean shutdown, refuses an entry that is not above the one before it. While it opens the
segments, the start then fails with InvalidOffsetException, each time again; during the recovery of the log it empties
the segment. Whether the wrapper gets an entry depends on index.interval.bytes. After a clean shutdown it does not
notice. From 2.0 on an entry has the last offset, and no broker notices. Consumers get each offset once.

What to do: after a clean shutdown nothing fails yet; take the records from another replica before the next start.
Otherwise cut the log before the wrapper, and give up the records in it that are not in the log before it, or move the
partition directory out of the log dir and let the broker re-replicate it. Rebuilding the indexes does not help.
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
    unnoticed = f"{kafka(release)} does not notice it: consumers get each offset once."
    return records_finding(
        RULE,
        view,
        (RecordFault.OVERLAP,),
        lambda _: unnoticed if release.splits_segments else _refused(release),
        advice=f"{KEEP_A_COPY} {REFETCH} Otherwise cut the log before the wrapper: kcheck repair. Do not remove or "
        "rebuild the indexes: the broker fails on such a wrapper while it builds them.",
        severity=Severity.INFO if release.splits_segments else Severity.ERROR,
    )


def _refused(release: Release) -> str:
    return (
        f"{kafka(release)} fails to start (InvalidOffsetException) when it rebuilds the indexes of this segment, as "
        "after an unclean shutdown, if the wrapper gets an index entry. Otherwise it does not notice."
    )


RULE = Rule(severity=Severity.ERROR, scope=Scope.FAULTY_SEGMENT, check=check, when=has_faulty_records)
