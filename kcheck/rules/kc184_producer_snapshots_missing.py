"""A log with idempotent or transactional producers has no producer snapshot.

What is wrong: a broker writes a `.snapshot` when it rolls a segment (the newest few up to 2.7) and when it stops
cleanly. Here there is none, although batches name producers: the files were removed or not copied.

What the broker does: after a clean stop it does not read the log again, but forgets every producer and every open
transaction. It takes batches again that a producer repeats, and consumers that read committed records alone get those
of open transactions. After an unclean stop it reads the whole log through to find them.

What to do: if another replica is in sync, let this one be fetched anew. Otherwise, with the broker stopped, a copy
kept and every batch whole (kcheck check --depth crc), remove `.kafka_cleanshutdown` of the log dir: the next start
reads the log through.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.names import FileKind, files_beside_segments, parse_file
from kcheck.model.release import Release
from kcheck.model.views import PartitionView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._partition import served
from kcheck.rules._words import counted, kafka


def check(view: PartitionView, release: Release) -> Iterable[Finding]:
    """Find a log with producers and without a snapshot; with one that it refuses a broker reads the log through.

    Where the log start reached the log end every snapshot is deleted, and nothing is left to know.
    """
    found = view.producers
    if found is None or not found.known or not served(view) or not release.has_producer_state:
        return
    parsed = map(parse_file, files_beside_segments(view.files))
    if any(file.kind is FileKind.PRODUCER_SNAPSHOT and not file.suffix for file in parsed):
        return
    if view.log_start_offset == view.log_end_offset:
        return
    forgets = f"{kafka(release)} forgets them at its next start, and {counted(found.open or 0, 'open transaction')}."
    reads = f"{kafka(release)} reads the whole log after an unclean stop; after a clean one it forgets the producers."
    yield RULE.finding(
        view.where,
        f"{counted(found.known, 'producer')} in the log, and no .snapshot",
        effect=forgets if view.clean_shutdown else reads,
        advice="Let the replica be fetched anew, or remove .kafka_cleanshutdown so that the log is read through.",
        severity=Severity.INFO if not view.clean_shutdown else Severity.ERROR if found.open else Severity.WARNING,
        data={"producers": found.known, "open": found.open},
    )


RULE = Rule(severity=Severity.WARNING, scope=Scope.READ_PARTITION, check=check)
