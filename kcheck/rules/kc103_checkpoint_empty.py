"""A checkpoint holds nothing, and the broker takes that for "no entries" without any warning.

What is wrong: often nothing. A broker creates each checkpoint as a file of 0 bytes and writes it later; a file of 0
bytes is normal in a new log dir, for cleaner-offset-checkpoint as long as nothing was compacted, and for a partition
without data. But a file of 0 bytes is also what a full disk or a power failure leaves behind, and what a careless `>
file` makes; the broker cannot tell. A file with only a version line was never written by a broker: something cut it.

What the broker does, in every release: it reads no entries, and says nothing about it.

- recovery-point-offset-checkpoint: after an unclean stop every segment of every partition is scanned.
- log-start-offset-checkpoint: each log starts at its first segment; records that DeleteRecords removed can be read
  again.
- replication-offset-checkpoint: each partition starts with its high watermark at the log start. A follower without
  leader epochs then truncates to its log start (KC216).
- cleaner-offset-checkpoint: each compacted log is cleaned from its start once more.
- leader-epoch-checkpoint: the replica knows no leader epoch (KC204).

What to do: nothing where the log dir is new or the file always was empty. Otherwise compare with a backup before the
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
from kcheck.rules._words import counted, kafka

EFFECTS = {
    RECOVERY_POINT: "after an unclean stop every segment of every partition is scanned",
    LOG_START: "each log starts at its first segment, so records that DeleteRecords removed can be read again",
    REPLICATION_OFFSET: "each partition starts with its high watermark at the log start",
    CLEANER_OFFSET: "each compacted log is cleaned from its start once more",
    LEADER_EPOCHS: "the replica knows no leader epoch",
}


def check(view: FileView, release: Release) -> Iterable[Finding]:
    """Find the checkpoint of 0 bytes, or with a version line alone."""
    if not readable(view) or not holds_nothing(view):
        return
    if view.kind == LEADER_EPOCH_KIND and not release.epoch_cache:
        return
    if view.size == 0 and view.where.partition is not None:
        return  # A partition that never had data has this file; KC204 looks whether there is data.
    never_written = view.size > 0
    cut = ": a version line and no count" if never_written else ""
    then = EFFECTS.get(view.name)
    yield RULE.finding(
        view.where,
        f"{view.name} has {counted(view.size, 'byte')}{cut}",
        effect=f"{kafka(release)} reads it as no entries, without any warning" + (f": {then}." if then else "."),
        advice="No broker writes a version line alone: something cut the file. Compare with a backup before the start."
        if never_written
        else "Nothing, if the log dir is new or the file has always been empty. Otherwise look for a backup before the "
        "broker starts and writes the file anew.",
        severity=Severity.WARNING if never_written else Severity.INFO,
        data={"size": view.size},
    )


RULE = Rule(severity=Severity.INFO, scope=Scope.FILE, check=check, kinds=CHECKPOINT_KINDS)
