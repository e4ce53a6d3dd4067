"""A directory in the log dir has a name that the broker cannot read, so the broker does not start.

What is wrong: Every directory in a log dir must be named `<topic>-<partition>`. A broker may add `-delete`, `-future`
or `-stray`. This one is not. Typical causes are `lost+found`, `.snapshot` of a storage system, and a backup directory
or a link to one. A downgrade leaves directories of newer brokers (`-future` needs 1.1, `-stray` needs 3.6.1,
`remote-log-index-cache` 3.5). A directory can also have the name of a checkpoint, of meta.properties or of
.kafka_cleanshutdown.

What the broker does: It does not start, for all log dirs. Its log contains "is not in the form of topic-partition". In
KRaft mode the failed start removes the clean-shutdown marker, so the next start scans segments.

In 2.8 and later a broker starts with a directory .kafka_cleanshutdown. An empty one counts as the marker, and the
broker removes it. One that is not empty takes the log dir offline.

What to do: Move the directory outside every log dir. If the log dir is the root of a file system, use a directory below
it. Never put backups into a log dir.

See: operations/moved-by-hand.md
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.names import (
    CLEAN_SHUTDOWN,
    META_PROPERTIES,
    OFFSET_CHECKPOINTS,
    FileKind,
    broker_accepts,
    parse_directory,
    skipped_by_broker,
)
from kcheck.model.release import Release
from kcheck.model.views import LogDirView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._words import kafka, quoted

NO_PARTITION = "is not <topic>-<partition>"

_FILES = {*OFFSET_CHECKPOINTS, META_PROPERTIES, FileKind.BOOTSTRAP}


def check(view: LogDirView, release: Release) -> Iterable[Finding]:
    """Find the directories that keep the broker from starting."""
    names = dict.fromkeys((*view.unparseable, *(partition.where.dir or "" for partition in view.partitions)))
    for name in names:
        if name == CLEAN_SHUTDOWN and release.removes_marker_first:
            yield _marker(view, release)
        elif broker_accepts(name, release) is None and not skipped_by_broker(name, release):
            newer = parse_directory(name) is not None
            yield _finding(view, name, release, "has a suffix that only newer brokers read" if newer else NO_PARTITION)


def _marker(view: LogDirView, release: Release) -> Finding:
    """Return the finding about a directory in the place of the clean shutdown marker."""
    if view.clean_shutdown:
        effect, advice = "treats it as the clean shutdown marker, and removes it", "Nothing."
    else:
        effect = "takes the log dir offline, because it cannot remove the directory"
        advice = "Move the directory outside every log dir."
    return RULE.finding(
        view.where._replace(dir=CLEAN_SHUTDOWN),
        f"{CLEAN_SHUTDOWN} is a directory" + (", an empty one" if view.clean_shutdown else " that is not empty"),
        effect=f"{kafka(release)} {effect}.",
        advice=advice,
        severity=Severity.INFO if view.clean_shutdown else Severity.FATAL,
    )


def _finding(view: LogDirView, name: str, release: Release, why: str) -> Finding:
    return RULE.finding(
        view.where._replace(dir=name),
        f"{name} is a directory"
        if name in _FILES
        else f"the directory {quoted(name.encode('utf-8', 'surrogateescape'))} {why}",
        effect=f"{kafka(release)} does not start, for all its log dirs, because of this name.",
        advice="Move the directory outside every log dir. If the log dir is the root of a file system, use a directory "
        "below it as log dir.",
    )


RULE = Rule(severity=Severity.FATAL, scope=Scope.LOG_DIR, check=check)
