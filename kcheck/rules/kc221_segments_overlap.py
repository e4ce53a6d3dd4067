"""Two segments of a log have the same offsets.

What is wrong: A segment must end below the base offset of the next one. One segment reaches into the next one. The
files of two copies were mixed, or a log was truncated and written again below an old segment.

What the broker does: It does not notice. Consumers get different records depending on where they start. They get some
twice, and some never.

What to do: Do not let this replica lead while another one is in sync. Let the broker re-replicate it. If it is the only
replica, keep a copy of every file. The leader epochs of the batches show which segment belongs to the log.
"""

from collections.abc import Iterable
from itertools import pairwise

from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.views import PartitionView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._segments import KEEP_A_COPY, REFETCH
from kcheck.rules._words import kafka
from kcheck.words import offset_range


def check(view: PartitionView, release: Release) -> Iterable[Finding]:
    """Compare the end of each segment with the base offset of the next."""
    for one, other in pairwise(view.read or ()):
        if one.batches and one.end_offset > other.base_offset:
            shared = offset_range(other.base_offset, one.end_offset)
            yield RULE.finding(
                other.where,
                f"the previous segment {one.base_offset} overlaps this one: {shared}",
                effect=f"{kafka(release)} does not notice. Consumers get some of these records twice, some never.",
                advice=f"{KEEP_A_COPY} {REFETCH}",
                data={"base_offset": other.base_offset, "before": one.base_offset, "end_offset": one.end_offset},
            )


RULE = Rule(severity=Severity.ERROR, scope=Scope.READ_PARTITION, check=check)
