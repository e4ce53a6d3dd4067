"""Offsets between the log start and the first local segment are in no remote segment.

What is wrong: A log in remote storage has a gap. Its log start is below the first segment on disk. The records between
are neither on disk nor in a finished remote segment that this replica can read. A local segment was removed before its
copy finished, or a remote segment was deleted.

What the broker does (3.6 and later): It starts without a message. A consumer that reaches the gap gets
OFFSET_OUT_OF_RANGE. With auto.offset.reset=earliest it reads the records below the gap again and again. With latest it
skips everything up to the log end.

What to do: Let another replica lead that has the records (kcheck elect). If no replica has them, move consumers to the
offset after the gap (kafka-consumer-groups.sh --reset-offsets --to-offset).
"""

from collections.abc import Iterable

from kcheck.core.tiered.spans import offset_count
from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.views import PartitionView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._remote import is_tiered, report_of, span_rows, spans_words
from kcheck.rules._words import kafka
from kcheck.words import agree


def check(view: PartitionView, release: Release) -> Iterable[Finding]:
    """Look for offsets that neither the disk nor remote storage has."""
    gaps = report_of(view, release).gaps
    if gaps:
        after = gaps[-1][1]
        yield RULE.finding(
            view.where,
            f"{spans_words(gaps)} {agree(offset_count(gaps), 'is', 'are')} neither local nor remote",
            effect=f"{kafka(release)} starts without a message. Consumers get OFFSET_OUT_OF_RANGE at {gaps[0][0]}.",
            advice=f"Let a replica lead that has them. If none has, reset consumers to offset {after}.",
            data={"gaps": span_rows(gaps), "local_start": view.segments[0].base_offset},
        )


RULE = Rule(severity=Severity.ERROR, scope=Scope.PARTITION, check=check, when=is_tiered)
