"""A file in a partition directory is none of Kafka's.

What is wrong: a broker knows the files of a partition by their names. Here one has another name: a copy, a backup,
notes, or a segment file whose name is no offset of 20 digits.

What the broker does: it leaves files alone whose ending it does not know. A segment file whose name begins with no
number makes its start fail, as does a `.checkpoint` in the metadata log without offset and epoch in its name, and
without a number a `.cleaned` of any file from 2.0 on, and a `.swap`: up to 2.8 of a segment file, from 3.0 on of any.
Where the name of a `.log` is a number of fewer digits, it makes an empty segment of that offset beside it; as the last
segment that one ends the log there, and what is produced gets offsets that others have. An index of such a name goes.

What to do: move the file out of the log dir, with the broker stopped.
"""

from collections.abc import Iterable

from kcheck.core.leftovers import ends_start
from kcheck.model.finding import Finding, Severity
from kcheck.model.names import (
    CLEANED,
    DELETED,
    SNAPSHOT_ENDINGS,
    SWAP,
    TEMPORARY,
    FileKind,
    KafkaFile,
    files_beside_segments,
    log_name,
    parse_file,
    parse_metadata_snapshot,
)
from kcheck.model.release import Release
from kcheck.model.views import PartitionView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._partition import served
from kcheck.rules._words import escaped, kafka

_TOLD = (DELETED, TEMPORARY, CLEANED)
"""KC226 tells what becomes of these."""


def check(view: PartitionView, release: Release) -> Iterable[Finding]:
    """Find the files that no broker wrote under their name, where segments were looked at."""
    if not served(view):
        return
    for name in files_beside_segments(view.files):
        found = parse_file(name)
        as_snapshot = view.is_metadata_log and release.has_kraft and name.endswith(SNAPSHOT_ENDINGS)
        fails = ends_start(name, release) or (as_snapshot and parse_metadata_snapshot(name) is None)
        told = found.suffix in _TOLD or (found.suffix == SWAP and found.kind is not FileKind.LOG)
        if not fails and (found.canonical or told):
            continue
        severity, effect = (Severity.FATAL, "fails at its next start") if fails else _effect(view, found)
        yield RULE.finding(
            view.where._replace(file=name),
            f"{escaped(name)} is no file of a partition",
            effect=f"{kafka(release)} {effect}.",
            advice="Move it out of the log dir, with the broker stopped.",
            severity=severity,
            data={"kind": str(found.kind), "offset": found.offset},
        )


def _effect(view: PartitionView, found: KafkaFile) -> tuple[Severity, str]:
    """Return what a broker makes of a file that does not end its start."""
    if found.offset is not None and found.kind is FileKind.LOG:
        return Severity.ERROR, "makes an empty segment of that offset"
    if found.offset is not None and found.kind is FileKind.PRODUCER_SNAPSHOT:
        return Severity.WARNING, "takes it for the producer snapshot of that offset"
    alone = found.offset is not None and log_name(found.offset) not in view.files
    return Severity.INFO, "deletes it at its next start" if alone else "leaves it alone"


RULE = Rule(
    id="KC225",
    name="stray-file",
    severity=Severity.INFO,
    scope=Scope.READ_PARTITION,
    check=check,
    page=__doc__,
)
