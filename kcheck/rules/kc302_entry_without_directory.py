"""A checkpoint lists partitions that have no directory in this log dir.

What is wrong: Usually nothing. A partition was deleted or moved to another log dir, and the broker has not written the
file since. A log dir that lost its last partition keeps its high watermarks for ever. But if the directory should be
there, it was removed.

What the broker does:

- recovery-point, log-start and replication-offset-checkpoint: In every release it ignores these entries, and omits them
  when it next writes the file.
- cleaner-offset-checkpoint: The entry stays as long as another log dir of this broker has the partition. In 4.0 and
  earlier it can hide the right value of that log dir. In 4.1 and later every cleaner thread dies if that log dir lists
  the partition too (KC307 compares all log dirs).

What to do: Nothing, if you know that the partition was deleted or moved. You can always remove the line from
cleaner-offset-checkpoint while the broker is stopped. Lower the count in line 2 by one.
"""

from array import array
from collections.abc import Iterable, Sequence

from kcheck.model.finding import Finding, Severity
from kcheck.model.names import CLEANER_OFFSET
from kcheck.model.release import Release
from kcheck.model.views import FileView, LogDirView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._entries import escaped_name, offset_entries, on_line, readable
from kcheck.rules._words import DATA_MAX, kafka
from kcheck.words import counted, listed


def check(view: LogDirView, release: Release) -> Iterable[Finding]:
    """Compare each offset checkpoint with the directories."""
    present = {(partition.topic, partition.partition) for partition in view.partitions}
    for name in sorted(view.files):
        file = view.files[name]
        offsets = offset_entries(file)
        named = enumerate(zip(offsets.topics, offsets.partitions, strict=True)) if readable(file) else ()
        absent = array("q", (index for index, partition in named if partition not in present))
        if absent:
            yield _finding(file, absent, release)


def _finding(file: FileView, absent: Sequence[int], release: Release) -> Finding:
    offsets = offset_entries(file)
    entries = [offsets[index] for index in absent[:DATA_MAX]]
    names = listed((escaped_name(offsets.topics[index], offsets.partitions[index]) for index in absent), len(absent))
    return RULE.finding(
        on_line(file, absent[0]),
        f"{file.name} has {counted(len(absent), 'entry')} without a directory in this log dir: {names}",
        effect=f"{kafka(release)} {_effect(file.name, release)}.",
        advice="Nothing, if you know that the partition was deleted or moved. Otherwise look for its directory."
        + (" You can remove a line from this file while the broker is stopped." if file.name == CLEANER_OFFSET else ""),
        data={
            "entries": tuple(
                {"topic": entry.topic, "partition": entry.partition, "offset": entry.offset} for entry in entries
            )
        },
    )


def _effect(name: str, release: Release) -> str:
    if name != CLEANER_OFFSET:
        return "ignores them, and drops them when it next writes the file"
    if not release.cleaner_dies_of_duplicates:
        return "may use them instead of the right value, if the partition is in another log dir of this broker"
    return "loses every cleaner thread if another log dir of this broker has such a partition and lists it"


RULE = Rule(severity=Severity.INFO, scope=Scope.LOG_DIR, check=check)
