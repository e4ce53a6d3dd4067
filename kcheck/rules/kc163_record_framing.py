"""The records of a batch cannot be read, though its CRC matches.

What is wrong: a batch holds as many records as its header names, each as long as its own length tells, with fields
that fill it. Here a length leads out of the batch, fields do not end where their record does, records are missing, or
bytes stand behind the last one. The CRC covers all that: the batch was made wrong, or was changed with its CRC.

Where a batch names no record, or bytes stand behind the last whole message in a wrapper of magic 0 or 1, no reader
fails: all pass over these bytes, and whoever wrote something there has lost it.
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
    """Find the batches whose records do not fill them."""
    yield from records_finding(RULE, view, (RecordFault.FRAMING,), undecoded(release))
    passed = f"{kafka(release)} passes over these bytes: nobody gets what stands there."
    yield from records_finding(RULE, view, (RecordFault.PASSED,), lambda _: passed)


RULE = Rule(
    severity=Severity.ERROR,
    scope=Scope.FAULTY_SEGMENT,
    check=check,
    when=has_faulty_records,
    shared_page=UNDECODED_PAGE,
)
