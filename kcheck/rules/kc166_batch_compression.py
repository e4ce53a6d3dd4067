"""A batch cannot be decompressed, although its CRC matches.

What is wrong: The records of the batch are compressed together. The compressed data is truncated, is not in the codec
that the header names, or contradicts its own checksum. 2.0 and earlier do not know zstd.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.segments import RecordFault, SegmentView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._records import UNDECODED_PAGE, records_finding, undecoded
from kcheck.rules._segments import has_faulty_records


def check(view: SegmentView, release: Release) -> Iterable[Finding]:
    """Find the batches that cannot be decompressed."""
    return records_finding(RULE, view, (RecordFault.COMPRESSION,), undecoded(release))


RULE = Rule(
    severity=Severity.ERROR,
    scope=Scope.FAULTY_SEGMENT,
    check=check,
    when=has_faulty_records,
    shared_page=UNDECODED_PAGE,
)
