"""A checkpoint lists partitions that have no directory in this log dir.

What is wrong: usually nothing. A partition was deleted or moved to another log dir, and the file has not been written
since; a log dir that lost its last partition keeps its high watermarks for ever. But if the directory should be
there, somebody removed it.

What the broker does:

- recovery-point, log-start and replication-offset-checkpoint: it never looks these entries up, in any release, and
  drops them when it writes the file next.
- cleaner-offset-checkpoint: the entry stays as long as the partition exists in another log dir of this broker. Up to
  4.0 it can hide the right value of that log dir. From 4.1 on every cleaner thread dies if that log dir lists the
  partition too (KC307 looks at all log dirs together).

What to do: nothing, if you know that the partition left. In cleaner-offset-checkpoint the line can always be dropped
while the broker is stopped; the count in line 2 falls by one.
"""

from array import array
from collections.abc import Iterable, Sequence

from kcheck.model.finding import Finding, Severity
from kcheck.model.names import CLEANER_OFFSET
from kcheck.model.release import Release
from kcheck.model.views import FileView, LogDirView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._entries import offset_entries, on_line, partition_name, readable
from kcheck.rules._words import DATA_MAX, counted, kafka, listed


def check(view: LogDirView, release: Release) -> Iterable[Finding]:
    """Compare each offset checkpoint with the directories."""
    present = {(partition.topic, partition.partition) for partition in view.partitions}
    for name in sorted(view.files):
        file = view.files[name]
        found = offset_entries(file)
        named = enumerate(zip(found.topics, found.partitions, strict=True)) if readable(file) else ()
        absent = array("q", (index for index, partition in named if partition not in present))
        if absent:
            yield _finding(file, absent, release)


def _finding(file: FileView, absent: Sequence[int], release: Release) -> Finding:
    found = offset_entries(file)
    entries = [found[index] for index in absent[:DATA_MAX]]
    names = listed((partition_name(found.topics[index], found.partitions[index]) for index in absent), len(absent))
    return RULE.finding(
        on_line(file, absent[0]),
        f"{file.name} has {counted(len(absent), 'entry', 'entries')} without a directory in this log dir: {names}",
        effect=f"{kafka(release)} {_effect(file.name, release)}.",
        advice="Nothing, if you know that the partition was deleted or moved; otherwise look for its directory."
        + (" In this file the line can be dropped while the broker is stopped." if file.name == CLEANER_OFFSET else ""),
        data={
            "entries": tuple(
                {"topic": entry.topic, "partition": entry.partition, "offset": entry.offset} for entry in entries
            )
        },
    )


def _effect(name: str, release: Release) -> str:
    if name != CLEANER_OFFSET:
        return "does not look them up, and drops them when it writes the file next"
    if not release.cleaner_dies_of_duplicates:
        return "may use them in place of the value in the partition's own log dir, if this broker has it in another one"
    return "loses every cleaner thread if another log dir of this broker has and lists such a partition"


RULE = Rule(
    id="KC302",
    name="entry-without-directory",
    severity=Severity.INFO,
    scope=Scope.LOG_DIR,
    check=check,
    page=__doc__,
)
