"""A checkpoint file is empty, and the broker reads it as "no entries" without a warning.

What is wrong: Often nothing. A broker creates each checkpoint as a file of 0 bytes and writes it later. A file of 0
bytes is normal in a new log dir and in a partition without data. It is normal for cleaner-offset-checkpoint until the
first compaction. A full disk, a power failure or a careless `>file` also leaves 0 bytes. The broker cannot tell the
difference. No broker writes a file with only a version line, so this kind of file was truncated.

What the broker does: It reads no entries and logs nothing.

- recovery-point-offset-checkpoint: After an unclean shutdown the broker scans every segment of every partition.
- log-start-offset-checkpoint: Each log starts at its first segment. Consumers can read records again that DeleteRecords
  removed.
- replication-offset-checkpoint: Each partition starts with its high watermark at the log start. A follower without
  leader epochs then truncates to its log start (KC216).
- cleaner-offset-checkpoint: The cleaner cleans each compacted log once more from the beginning.
- leader-epoch-checkpoint: The replica has no leader epochs (KC204).

What to do: Nothing, if the log dir is new or the file was always empty. Otherwise compare with a backup before the
broker starts, because its next write replaces the file.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.names import CLEANER_OFFSET, LEADER_EPOCHS, LOG_START, RECOVERY_POINT, REPLICATION_OFFSET
from kcheck.model.release import Release
from kcheck.model.views import FileView
from kcheck.rules._checkpoints import CHECKPOINT_KINDS, LEADER_EPOCH_KIND
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._entries import holds_nothing, readable
from kcheck.rules._words import kafka
from kcheck.words import counted

EFFECTS = {
    RECOVERY_POINT: "after an unclean shutdown it scans every segment of every partition",
    LOG_START: "each log starts at its first segment, so consumers can read records again that DeleteRecords removed",
    REPLICATION_OFFSET: "each partition starts with its high watermark at the log start",
    CLEANER_OFFSET: "the cleaner cleans each compacted log once more from the beginning",
    LEADER_EPOCHS: "the replica knows no leader epoch",
}


def check(view: FileView, release: Release) -> Iterable[Finding]:
    """Find the checkpoint that has 0 bytes or only a version line."""
    if not readable(view) or not holds_nothing(view):
        return
    if view.kind == LEADER_EPOCH_KIND and not release.epoch_cache:
        return
    if view.size == 0 and view.where.partition is not None:
        return  # A partition that never had data has this file; KC204 checks whether there is data.
    never_written = view.size > 0
    cut = ": a version line without a count" if never_written else ""
    then = EFFECTS.get(view.name)
    yield RULE.finding(
        view.where,
        f"{view.name} has {counted(view.size, 'byte')}{cut}",
        effect=f"{kafka(release)} reads it as no entries, without a warning" + (f": {then}." if then else "."),
        advice="No broker writes only a version line, so the file was truncated. Compare with a backup before the "
        "broker starts."
        if never_written
        else "Nothing, if the log dir is new or the file was always empty. Otherwise find a backup before the broker "
        "starts and rewrites the file.",
        severity=Severity.WARNING if never_written else Severity.INFO,
        data={"size": view.size},
    )


RULE = Rule(severity=Severity.INFO, scope=Scope.FILE, check=check, kinds=CHECKPOINT_KINDS, depends_on_others=True)
