"""The output of a compaction that waits to replace segments is damaged.

What is wrong: a `.log.swap` is whole when the broker gives it this name. Here a batch in it is not framed as one, its
CRC does not match, or the file ends inside of one.

What the broker does at its next start: from 3.0 on it removes the segments between the first and the last `.swap`, and
renames it without a look at its batches: what they hold is gone. Up to 2.8 it reads it through and cuts it at the
damage first, then puts it in the place of the segments that hold the offsets that are left.

What to do: do not start the broker. Keep a copy of the directory. If another replica is in sync, let this one be
fetched anew; otherwise, if the segments that it replaces are still there and whole, move all `.swap` files of the
directory out of the log dir: the broker compacts again.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.segments import BatchFault
from kcheck.model.views import PartitionView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._partition import served
from kcheck.rules._segments import KEEP_A_COPY
from kcheck.rules._words import kafka
from kcheck.rules.kc226_leftover_file import next_start


def check(view: PartitionView, release: Release) -> Iterable[Finding]:
    """Find the swaps that the next start puts in place, with batches that are not whole."""
    if not served(view):
        return
    for swap in view.swaps:
        crc = next((fault.position for fault in swap.faults if fault.fault is BatchFault.CRC), None)
        if (crc is None and swap.valid_size == swap.size) or swap.where.file not in next_start(view, release).renamed:
            continue
        position = swap.valid_size if crc is None else crc
        renames = release.finishes_swaps_by_renaming
        does = "renames it without a look at its batches" if renames else "cuts it there"
        yield RULE.finding(
            swap.where._replace(position=position),
            f"position {position}: {'no whole batch' if crc is None else 'a batch whose CRC does not match'}",
            effect=f"{kafka(release)} {does}, and removes the segments that it replaces.",
            advice=f"{KEEP_A_COPY} Then move every .swap file aside if the segments are still there and whole.",
            data={"valid_size": swap.valid_size, "size": swap.size, "end_offset": swap.end_offset},
        )


RULE = Rule(severity=Severity.ERROR, scope=Scope.READ_PARTITION, check=check)
