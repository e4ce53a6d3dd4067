"""A log with idempotent or transactional producers has no producer snapshot.

What is wrong: A broker writes a `.snapshot` when it rolls a segment and when it shuts down cleanly. 2.7 and earlier
keep only the newest few. The log has no snapshot, although batches have producer ids. The files were removed or not
copied.

What the broker does: After a clean shutdown it does not read the log again. It forgets every producer and every open
transaction. It accepts batches again when a producer repeats them, and read_committed consumers get the records of open
transactions. After an unclean shutdown it reads the log from the beginning to find the producers.

What to do: If another replica is in sync, re-replicate this one. Otherwise stop the broker, keep a copy, and check that
every batch is intact (kcheck check --depth crc). Then remove `.kafka_cleanshutdown` of the log dir. The broker reads
the log from the beginning when it starts.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.names import FileKind, files_beside_segments, parse_file
from kcheck.model.release import Release
from kcheck.model.views import PartitionView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._partition import served
from kcheck.rules._words import kafka
from kcheck.words import counted


def check(view: PartitionView, release: Release) -> Iterable[Finding]:
    """Find a log with producers and without a snapshot. With a refused snapshot a broker reads the complete log anyway.

    When the log start reaches the log end, the broker deletes every snapshot, and there is no state to lose.
    """
    producers = view.producers
    if producers is None or not producers.known or not served(view) or not release.has_producer_state:
        return
    parsed = map(parse_file, files_beside_segments(view.files))
    if any(file.kind is FileKind.PRODUCER_SNAPSHOT and not file.suffix for file in parsed):
        return
    if view.log_start_offset == view.log_end_offset:
        return
    forgets = f"{kafka(release)} forgets them and {counted(producers.open or 0, 'open transaction')} at its next start."
    reads = (
        f"{kafka(release)} reads the whole log after an unclean shutdown; after a clean one it forgets the producers."
    )
    yield RULE.finding(
        view.where,
        f"{counted(producers.known, 'producer')} in the log, but no .snapshot",
        effect=forgets if view.clean_shutdown else reads,
        advice="Re-replicate this replica, or remove .kafka_cleanshutdown so that the broker reads the whole log.",
        severity=Severity.INFO if not view.clean_shutdown else Severity.ERROR if producers.open else Severity.WARNING,
        data={"producers": producers.known, "open": producers.open},
    )


RULE = Rule(severity=Severity.WARNING, scope=Scope.READ_PARTITION, check=check)
