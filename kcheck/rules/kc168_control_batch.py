"""A control batch holds what no broker writes: the end of a transaction, or a record of KRaft, cannot be read.

What is wrong: a control batch holds records for Kafka itself. One with a producer id ends a transaction: its one record
has a key of version and type (ABORT or COMMIT), and a value of version and coordinator epoch. One without belongs to
KRaft. Here key or value are missing, too short, or of a type that does not belong there. The CRC matches.

What the broker does, with the end of a transaction:

- A recovery after an unclean stop, and every append of a follower, decodes it. A key that is too short, or a version
  below 0, counts as a corrupt batch: the log is cut behind it, and every later segment deleted. Then the producers are
  read anew, the batch with them, and the same exception keeps the broker from starting.
- A key or value of null, or another type, keeps it from starting at once. So does a value that is too short from 4.1
  on; before, it counts as a corrupt batch.
- Consumers that read committed records alone fail at a bad key.

With a record of KRaft: a controller or broker that reads it fails. What is merely unusual, as a compressed control
batch or a type that is not known, is told, and taken by every reader.

What to do: do not let a broker start on it after an unclean stop without a copy. If another replica is in sync, let
this one be fetched anew.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.segments import FaultyRecord, RecordFault, SegmentView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._records import records_finding
from kcheck.rules._segments import KEEP_A_COPY, REFETCH
from kcheck.rules._words import kafka

_ADVICE = f"{KEEP_A_COPY} {REFETCH}"


def check(view: SegmentView, release: Release) -> Iterable[Finding]:
    """Find control batches that a reader refuses, and those that no broker writes."""
    refused, fatal = [RecordFault.CONTROL], [RecordFault.MARKER]
    (fatal if release.aborts_on_short_markers else refused).append(RecordFault.SHORT)
    who = kafka(release)

    def cut(batch: FaultyRecord) -> str:
        return _at_start(
            view,
            release,
            f"cuts the log at offset {batch.last_offset + 1}, deletes every later segment, and does not start",
        )

    def abort(_: FaultyRecord) -> str:
        return _at_start(view, release, "does not start")

    severity = Severity.FATAL if view.scanned else Severity.ERROR
    yield from records_finding(RULE, view, tuple(fatal), abort, advice=_ADVICE, severity=severity)
    yield from records_finding(RULE, view, tuple(refused), cut, advice=_ADVICE, severity=severity)
    failing = f"A controller or broker of {who} that reads it fails."
    yield from records_finding(RULE, view, (RecordFault.RAFT,), lambda _: failing, advice=_ADVICE)
    taken = f"{who} takes it as it is."
    advice = "Find out what wrote it: no broker does."
    yield from records_finding(
        RULE, view, (RecordFault.UNUSUAL,), lambda _: taken, advice=advice, severity=Severity.INFO
    )


def _at_start(view: SegmentView, release: Release, failing: str) -> str:
    """Return what becomes of it at the next start; nobody else notices it but followers."""
    who = kafka(release)
    if view.scanned is None:
        return f"After an unclean stop {who} {failing}; after a clean one it does not look. Followers cannot append it."
    if view.scanned:
        return f"{who} reads this segment at its next start, because the stop was unclean: it {failing}."
    return f"{who} does not read this segment at its next start. Followers cannot append it."


RULE = Rule(
    id="KC168",
    name="control-batch",
    severity=Severity.ERROR,
    scope=Scope.FAULTY_SEGMENT,
    check=check,
    page=__doc__,
)
