"""A log dir with records has no replication-offset-checkpoint or no recovery-point-offset-checkpoint.

What is wrong: A broker creates both files when it starts, before it writes a record. So in a log dir with records they
exist. One file was removed, or was not copied with the rest.

What the broker does: It creates an empty file and reads no entries from it.

- replication-offset-checkpoint: Each partition starts with its high watermark at the log start. Consumers get no record
  above it until the followers have fetched again. A follower without leader epochs truncates to its log start (KC216).
- recovery-point-offset-checkpoint: After a clean shutdown this is harmless, because the broker scans nothing. After an
  unclean shutdown it scans every segment of every partition, which can take hours.

What to do: Look for a backup of replication-offset-checkpoint from the time of the shutdown. Copy it back before the
broker starts. Never invent a high watermark. A recovery-point-offset-checkpoint needs no backup.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.names import RECOVERY_POINT, REPLICATION_OFFSET
from kcheck.model.release import Release
from kcheck.model.views import LogDirView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._partition import has_data, served
from kcheck.rules._words import kafka
from kcheck.words import counted


def check(view: LogDirView, release: Release) -> Iterable[Finding]:
    """Find the missing checkpoints of a log dir with records; the metadata log has an entry in neither.

    KC301 reports a directory of that name.
    """
    absent = {REPLICATION_OFFSET, RECOVERY_POINT} - view.files.keys() - view.unread.keys() - {*view.unparseable}
    if not absent:
        return
    count = sum(
        served(partition) and has_data(partition) and not partition.is_metadata_log for partition in view.partitions
    )
    if not count:
        return
    records = f"{counted(count, 'partition')} with records"
    if REPLICATION_OFFSET in absent:
        yield RULE.finding(
            view.where._replace(file=REPLICATION_OFFSET),
            f"{REPLICATION_OFFSET} is missing, in a log dir of {records}",
            effect=f"{kafka(release)} reads no entries. Each partition starts with its high watermark at its log "
            "start.",
            advice="If you have a backup from the time of the shutdown, copy it back before the broker starts. Never "
            "invent a high watermark.",
            data={"partitions": count},
        )
    if RECOVERY_POINT in absent:
        scans = "scans nothing, because the shutdown was clean, and writes the file again"
        if not view.clean_shutdown:
            scans = "scans every segment of every partition, because the shutdown was unclean"
        yield RULE.finding(
            view.where._replace(file=RECOVERY_POINT),
            f"{RECOVERY_POINT} is missing, in a log dir of {records}",
            effect=f"{kafka(release)} {scans}.",
            advice="Nothing.",
            severity=Severity.INFO,
            data={"partitions": count},
        )


RULE = Rule(severity=Severity.WARNING, scope=Scope.LOG_DIR, check=check)
