"""A message of magic 0 or 1, or the content of its compressed wrapper, is unreadable or contradicts itself.

What is wrong: In message format 0.10 and earlier each entry is one message, or a wrapper whose value holds compressed
messages. A key or value points out of its message. Or a message in a wrapper has a wrong CRC, is itself compressed, or
is not above the previous one. Or the last message has another offset than its wrapper. The CRC of the entry matches.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.segments import RecordFault, SegmentView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._records import UNDECODED_PAGE, records_finding, undecoded
from kcheck.rules._segments import has_faulty_records


def check(view: SegmentView, release: Release) -> Iterable[Finding]:
    """Find the entries of magic 0 and 1 that cannot be read."""
    return records_finding(RULE, view, (RecordFault.MESSAGE,), undecoded(release))


RULE = Rule(
    severity=Severity.ERROR,
    scope=Scope.FAULTY_SEGMENT,
    check=check,
    when=has_faulty_records,
    shared_page=UNDECODED_PAGE,
)
