"""A file in a partition directory is none of Kafka's.

What is wrong: a broker knows the files of a partition by their names. Here one has another name: a copy, a backup,
notes, or a segment file whose name is no offset of 20 digits.

What the broker does: it leaves files alone whose ending it does not know. A segment file whose name begins with no
number makes its start fail, as does a `.checkpoint` in the metadata log without offset and epoch in its name. Where the
name of a `.log` is a number of fewer digits, it makes an empty segment of that offset beside it; as the last segment
that one ends the log there, and what is produced gets offsets that others have.

What to do: move the file out of the log dir, with the broker stopped.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.names import (
    DELETED,
    SNAPSHOT_ENDINGS,
    TEMPORARY,
    FileKind,
    files_beside_segments,
    parse_file,
    parse_metadata_snapshot,
)
from kcheck.model.release import Release
from kcheck.model.views import PartitionView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._partition import served
from kcheck.rules._words import escaped, kafka


def check(view: PartitionView, release: Release) -> Iterable[Finding]:
    """Find the files that no broker wrote under their name, where segments were looked at."""
    if not served(view):
        return
    for name in files_beside_segments(view.files):
        found = parse_file(name)
        as_snapshot = view.is_metadata_log and release.version >= (3,) and name.endswith(SNAPSHOT_ENDINGS)
        nameless = as_snapshot and parse_metadata_snapshot(name) is None
        if not nameless and (found.canonical or found.suffix in (DELETED, TEMPORARY)):
            continue
        severity, effect = Severity.INFO, "leaves it alone"
        if nameless or found.kind is not FileKind.OTHER:
            known = found.offset is not None
            severity = Severity.ERROR if known else Severity.FATAL
            effect = "makes an empty segment of that offset" if known else "fails at its next start"
        yield RULE.finding(
            view.where._replace(file=name),
            f"{escaped(name)} is no file of a partition",
            effect=f"{kafka(release)} {effect}.",
            advice="Move it out of the log dir, with the broker stopped.",
            severity=severity,
            data={"kind": str(found.kind), "offset": found.offset},
        )


RULE = Rule(
    id="KC225",
    name="stray-file",
    severity=Severity.INFO,
    scope=Scope.READ_PARTITION,
    check=check,
    page=__doc__,
)
