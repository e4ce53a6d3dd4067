"""Two segments of a log hold the same offsets.

What is wrong: a segment ends below the base offset of the next one. Here it reaches into it: files of two copies were
put together, or a log was cut and written again under an old segment.

What the broker does: it does not notice it. Which records a reader gets depends on where it begins: some twice, some
never.

What to do: do not let this replica lead while another one is in sync. Let it be fetched anew. If it is the only one,
keep a copy of all: the leader epochs of the batches tell which of the two belongs to the log.
"""

from collections.abc import Iterable
from itertools import pairwise

from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.views import PartitionView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._partition import offset_range
from kcheck.rules._segments import KEEP_A_COPY, REFETCH
from kcheck.rules._words import kafka


def check(view: PartitionView, release: Release) -> Iterable[Finding]:
    """Compare the end of each segment with the base offset of the next."""
    for one, other in pairwise(view.read or ()):
        if one.batches and one.end_offset > other.base_offset:
            shared = offset_range(other.base_offset, one.end_offset)
            yield RULE.finding(
                other.where,
                f"the segment before it, {one.base_offset}, reaches into it: {shared}",
                effect=f"{kafka(release)} does not notice it: readers get some of these records twice, some never.",
                advice=f"{KEEP_A_COPY} {REFETCH}",
                data={"base_offset": other.base_offset, "before": one.base_offset, "end_offset": one.end_offset},
            )


RULE = Rule(severity=Severity.ERROR, scope=Scope.READ_PARTITION, check=check)
