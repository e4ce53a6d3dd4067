"""An offset checkpoint holds a negative offset.

What is wrong: The line is well formed, but no broker writes a negative offset. The file was edited or corrupted.

What the broker does, in every release, is harmless, because it moves the value back into the log:

- recovery-point-offset-checkpoint: After an unclean shutdown it scans all segments of the partition.
- log-start-offset-checkpoint: The log starts at its first segment, so records that DeleteRecords removed become
  readable again.
- replication-offset-checkpoint: In 2.4 and later the high watermark starts at the log start. Before, it stays negative
  until the replica has fetched or led.
- cleaner-offset-checkpoint: It cleans the log from the beginning, and logs a warning.

What to do: Stop the broker, and keep a copy of the file outside every log dir. Then remove the line, and lower the
count in line 2 by one. Remove a line from replication-offset-checkpoint only if the leader-epoch-checkpoint of that
partition has entries.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.names import CLEANER_OFFSET, LOG_START, RECOVERY_POINT, REPLICATION_OFFSET
from kcheck.model.release import Release
from kcheck.model.views import FileView
from kcheck.rules._checkpoints import OFFSET_CHECKPOINT_KIND
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._entries import escaped_name, line_of, offset_entries, on_line, readable
from kcheck.rules._words import DATA_MAX, and_further, kafka

EFFECTS = {
    RECOVERY_POINT: "scans every segment of the partition after an unclean shutdown",
    LOG_START: "starts the log at its first segment; records that DeleteRecords removed become readable again",
    REPLICATION_OFFSET: "starts with the high watermark at the log start",
    CLEANER_OFFSET: "cleans the log from its start",
}


def check(view: FileView, release: Release) -> Iterable[Finding]:
    """Find the entries below 0."""
    negative = [index for index, offset in enumerate(view.parsed.value.offsets) if offset < 0]
    if not negative or not readable(view):
        return
    entries = offset_entries(view)
    first = entries[negative[0]]
    name = escaped_name(first.topic, first.partition)
    keeps = view.name == REPLICATION_OFFSET and not release.high_watermark_floor_is_log_start
    does = "keeps a negative high watermark until the replica leads or fetches" if keeps else EFFECTS.get(view.name)
    yield RULE.finding(
        on_line(view, negative[0]),
        f"line {line_of(negative[0])}: {name} has the offset {first.offset}{and_further(len(negative), 'entry')}",
        effect=f"{kafka(release)} {does or 'uses it unchanged'}.",
        advice="Stop the broker, keep a copy of the file outside every log dir, remove the line, and lower the count "
        f"in line 2 by one.{_only_if(view.name)}",
        data={
            "entries": tuple(
                {"topic": entries[i].topic, "partition": entries[i].partition, "offset": entries[i].offset}
                for i in negative[:DATA_MAX]
            )
        },
    )


def _only_if(name: str) -> str:
    if name != REPLICATION_OFFSET:
        return ""
    return " Remove it only if the leader-epoch-checkpoint of the partition has entries; otherwise write its log start."


RULE = Rule(severity=Severity.WARNING, scope=Scope.FILE, check=check, kinds=(OFFSET_CHECKPOINT_KIND,))
