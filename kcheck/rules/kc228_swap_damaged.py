"""A compaction result that is waiting to replace segments is corrupt.

What is wrong: A `.log.swap` is complete when the broker gives it this name. A batch in it has invalid framing or a
wrong CRC, or the file ends inside a batch.

What the broker does when it starts: 3.0 and later remove the segments between the first and the last `.swap`. They
rename the `.swap` without checking its batches, so the records of those segments are lost. 2.8 and earlier first scan
the `.swap` and truncate it at the first corrupt batch. Then it replaces the segments that hold its remaining offsets.

What to do: Do not start the broker. Keep a copy of the directory. If another replica is in sync, let the broker
re-replicate this one. Otherwise, check the segments to be replaced. If they are intact, move all `.swap` files of the
directory outside every log dir. The broker compacts again.
"""

from collections.abc import Iterable

from kcheck.model.finding import Claimed, Finding, Severity
from kcheck.model.release import Release
from kcheck.model.segments import BatchFault
from kcheck.model.views import PartitionView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._partition import says, served
from kcheck.rules._segments import KEEP_A_COPY
from kcheck.rules._words import kafka
from kcheck.rules.kc226_leftover_file import next_start


def check(view: PartitionView, release: Release) -> Iterable[Finding]:
    """Find the swaps that the next start puts in place, with corrupt or incomplete batches."""
    if not served(view):
        return
    for swap in view.swaps:
        crc = next((fault.position for fault in swap.faults if fault.fault is BatchFault.CRC), None)
        if (crc is None and swap.valid_size == swap.size) or swap.where.file not in next_start(view, release).renamed:
            continue
        position = swap.valid_size if crc is None else crc
        renames = release.finishes_swaps_by_renaming
        does = "renames it without checking its batches" if renames else "cuts it there"
        yield RULE.finding(
            swap.where._replace(position=position),
            f"position {position}: {'no valid batch' if crc is None else 'a batch with a wrong CRC'}",
            effect=says(f"{kafka(release)} {does}, and removes the segments that it replaces.", Claimed.LOADS),
            advice=f"{KEEP_A_COPY} If the segments are intact, move all .swap files outside every log dir.",
            data={"valid_size": swap.valid_size, "size": swap.size, "end_offset": swap.end_offset},
        )


RULE = Rule(severity=Severity.ERROR, scope=Scope.READ_PARTITION, check=check)
