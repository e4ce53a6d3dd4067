"""A file in a partition directory is not a Kafka file.

What is wrong: A broker knows the files of a partition by their names. This name is different. It may be a copy, a
backup, notes, or a segment file without an offset of 20 digits.

What the broker does: It ignores files whose suffix it does not know. Some names make it fail to start:

- a segment file whose name does not begin with a number;
- in the metadata log, a `.checkpoint` whose name has no offset and epoch;
- in 2.0 and later, any `.cleaned` file whose name does not begin with a number;
- a `.swap` file whose name does not begin with a number (2.8 and earlier: only of a segment file).

If the name of a `.log` is a shorter number, the broker creates an empty segment at that offset. As the last segment,
the empty one ends the log there. New records get offsets that other records already have. The broker deletes an index
with a short name.

Many files that the broker ignores are one finding, with their number and the first names.

What to do: Stop the broker and move the file outside every log dir.

See: operations/disk-full.md
"""

from collections.abc import Iterable

from kcheck.core.start.leftovers import ends_start
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
    is_stranger,
    log_name,
    parse_file,
    parse_metadata_snapshot,
)
from kcheck.model.release import Release
from kcheck.model.views import PartitionView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._partition import served
from kcheck.rules._words import DATA_MAX, escaped, kafka
from kcheck.words import listed

_OF_KC226 = (DELETED, TEMPORARY, CLEANED)
"""Names whose fate KC226 describes."""


def check(view: PartitionView, release: Release) -> Iterable[Finding]:
    """Find the files that no broker wrote under their name, where segments were looked at."""
    if not served(view):
        return
    beside = files_beside_segments(view.files)
    strangers = [name for name in beside if is_stranger(name)]
    count = len(strangers) + view.strangers
    if count > DATA_MAX:
        yield _of_many(view, strangers, count, release)
        beside = tuple(name for name in beside if not is_stranger(name))
    for name in beside:
        file = parse_file(name)
        as_snapshot = view.is_metadata_log and release.has_kraft and name.endswith(SNAPSHOT_ENDINGS)
        fails = ends_start(name, release) or (as_snapshot and parse_metadata_snapshot(name) is None)
        is_temporary = file.suffix in _OF_KC226 or (file.suffix == SWAP and file.kind is not FileKind.LOG)
        if not fails and (file.canonical or is_temporary):
            continue
        severity, effect = (Severity.FATAL, "fails at its next start") if fails else _effect(view, file)
        yield RULE.finding(
            view.where._replace(file=name),
            f"{escaped(name)} is not a Kafka file",
            effect=f"{kafka(release)} {effect}.",
            advice="Stop the broker and move the file outside every log dir.",
            severity=severity,
            data={"kind": str(file.kind), "offset": file.offset},
        )


def _of_many(view: PartitionView, names: list[str], count: int, release: Release) -> Finding:
    """Return one finding about all files that no broker looks at, as a million findings would hide all others."""
    return RULE.finding(
        view.where,
        f"{count} files are not Kafka files: {listed(names, count)}",
        effect=f"{kafka(release)} ignores them.",
        advice="Stop the broker and move the files outside every log dir.",
        data={"kind": str(FileKind.OTHER), "offset": None, "count": count, "files": tuple(names[:DATA_MAX])},
    )


def _effect(view: PartitionView, file: KafkaFile) -> tuple[Severity, str]:
    """Return the reaction of a broker to a file that does not end its next start."""
    if file.offset is not None and file.kind is FileKind.LOG:
        return Severity.ERROR, "creates an empty segment at that offset"
    if file.offset is not None and file.kind is FileKind.PRODUCER_SNAPSHOT:
        return Severity.WARNING, "reads it as the producer snapshot of that offset"
    alone = file.offset is not None and log_name(file.offset) not in view.files
    return Severity.INFO, "deletes it at its next start" if alone else "ignores it"


RULE = Rule(severity=Severity.INFO, scope=Scope.READ_PARTITION, check=check)
