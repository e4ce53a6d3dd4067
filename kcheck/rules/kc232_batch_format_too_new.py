"""A log has batches of magic 2, which a broker of 0.10 cannot read.

What is wrong: 0.11 introduced magic 2. A broker of a newer release wrote here, or the log was copied from one. You
cannot downgrade this log.

What the broker does: After a clean shutdown it starts, but consumers and followers fail at the batch. The broker reads
the bytes as an old message, whose CRC never matches. So log recovery truncates the log there and deletes every later
segment (LogSegment.recover 0.10.2.2).

What to do: Do not start that release on the log dir. Start 0.11 or newer, or remove the replica and let it re-replicate
from a broker of the old release.
"""

from collections.abc import Iterable

from kcheck.model.entries import Offset
from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.segments import SegmentView
from kcheck.model.views import PartitionView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._partition import served
from kcheck.rules._segments import KEEP_A_COPY, cut_or_unnoticed
from kcheck.rules._words import kafka


def check(view: PartitionView, release: Release) -> Iterable[Finding]:
    """Tell the first of each log."""
    if release.reads_batches or not served(view):
        return
    for segment in view.read or ():
        offset = _first(segment)
        if offset is not None:
            yield RULE.finding(
                segment.where,
                f"the batch at offset {offset} has magic 2; {kafka(release)} reads only 0 and 1",
                effect=cut_or_unnoticed(segment, release, "consumers and followers fail there", offset),
                advice=f"{KEEP_A_COPY} Start a broker of 0.11 or newer on this log dir.",
                data={"base_offset": offset},
            )
            return


def _first(view: SegmentView) -> Offset | None:
    offsets = [run.first_offset for run in view.epochs[:1]]
    if view.epochless is not None:
        offsets.append(view.epochless.base_offset)
    return min(offsets, default=None)


RULE = Rule(severity=Severity.ERROR, scope=Scope.READ_PARTITION, check=check)
