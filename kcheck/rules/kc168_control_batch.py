"""A control batch has unreadable content, as the end of a transaction or as a KRaft record.

What is wrong: A control batch holds records for Kafka itself. One with a producer id ends a transaction. Its only
record has a key (version and type, ABORT or COMMIT) and a value (version and coordinator epoch). One without a producer
id belongs to KRaft. The key or value is missing, too short, or of the wrong type. The CRC matches.

What the broker does with the end of a transaction:

- Recovery after an unclean shutdown, and every append of a follower, decodes it. A key that is too short, or a version
  below 0, counts as a corrupt batch. The broker truncates the log after it and deletes every later segment. Then it
  reads the producers again, including this batch. The same exception follows, and the broker does not start.
- With a null key or value, or another type, the broker does not start at all. In 4.1 and later the same goes for a
  value that is too short. Earlier releases treat it as a corrupt batch.
- A read_committed consumer fails at an invalid key.

With a KRaft record, a controller or broker that reads it fails. kcheck also reports unusual batches that every reader
accepts, such as a compressed one or an unknown type.

What to do: After an unclean shutdown, do not let a broker start on it without a copy. If another replica is in sync,
re-replicate this one.
"""

from collections.abc import Iterable

from kcheck.model.finding import Claimed, Effect, Finding, Severity
from kcheck.model.release import Release
from kcheck.model.segments import FaultyRecord, RecordFault, SegmentView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._partition import says
from kcheck.rules._records import records_finding
from kcheck.rules._segments import KEEP_A_COPY, REFETCH, has_faulty_records, keeps
from kcheck.rules._words import kafka

_ADVICE = f"{KEEP_A_COPY} {REFETCH}"


def check(view: SegmentView, release: Release) -> Iterable[Finding]:
    """Find control batches that a reader refuses, or that no broker writes."""
    refused, fatal = [RecordFault.CONTROL], [RecordFault.MARKER]
    (fatal if release.aborts_on_short_markers else refused).append(RecordFault.SHORT)
    who = kafka(release)

    def cut(batch: FaultyRecord) -> str | Effect:
        return _at_start(
            view,
            release,
            f"truncates the log to offset {batch.last_offset + 1}, deletes every later segment, and does not start",
        )

    def abort(_: FaultyRecord) -> str | Effect:
        return _at_start(view, release, "does not start")

    severity = Severity.FATAL if view.scanned else Severity.ERROR
    yield from records_finding(RULE, view, tuple(fatal), abort, advice=_ADVICE, severity=severity)
    yield from records_finding(RULE, view, tuple(refused), cut, advice=_ADVICE, severity=severity)
    failing = f"A controller or broker of {who} that reads it fails."
    yield from records_finding(RULE, view, (RecordFault.RAFT,), lambda _: failing, advice=_ADVICE)
    accepted = f"{who} accepts it as it is."
    advice = "Find out which program wrote it. No broker does."
    yield from records_finding(
        RULE, view, (RecordFault.UNUSUAL,), lambda _: accepted, advice=advice, severity=Severity.INFO
    )


def _at_start(view: SegmentView, release: Release, failing: str) -> str | Effect:
    """Return the effect at the next start; otherwise only followers notice it."""
    who = kafka(release)
    if view.scanned is None:
        skipped = "after a clean one it does not check. Followers cannot append it."
        return f"After an unclean shutdown {who} {failing}; {skipped}"
    if view.scanned:
        words = f"{who} recovers this segment when it starts, because the shutdown was unclean. It {failing}."
        return says(words, Claimed.ABORTS)
    return keeps(f"{who} does not check this segment when it starts. Followers cannot append it.", view)


RULE = Rule(severity=Severity.ERROR, scope=Scope.FAULTY_SEGMENT, check=check, when=has_faulty_records)
