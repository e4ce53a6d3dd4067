"""The records of a batch cannot be read, although its CRC matches.

What is wrong: A batch holds as many records as its header states. Each record is as long as its own length states, and
its fields fill it. A length points out of the batch, or the fields do not end where their record does. Or records are
missing, or bytes follow the last one. The CRC covers all of this. The producer created the batch like this, or it was
changed together with its CRC.

Two kinds hide from every reader. One is a batch whose header states no records. The other is bytes after the last
complete message in a wrapper of magic 0 or 1. All readers skip these bytes, so their content is lost.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.segments import RecordFault, SegmentView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._records import UNDECODED_PAGE, records_finding, undecoded
from kcheck.rules._segments import has_faulty_records
from kcheck.rules._words import kafka


def check(view: SegmentView, release: Release) -> Iterable[Finding]:
    """Find the batches whose records do not fill them exactly."""
    yield from records_finding(RULE, view, (RecordFault.FRAMING,), undecoded(release))
    skipped = f"{kafka(release)} skips these bytes, and no consumer gets them."
    yield from records_finding(RULE, view, (RecordFault.PASSED,), lambda _: skipped)


RULE = Rule(
    severity=Severity.ERROR,
    scope=Scope.FAULTY_SEGMENT,
    check=check,
    when=has_faulty_records,
    shared_page=UNDECODED_PAGE,
)
