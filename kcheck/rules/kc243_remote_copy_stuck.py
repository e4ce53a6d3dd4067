"""Brokers do not get a segment copied to remote storage.

What is wrong: __remote_log_metadata has five unfinished tries of one segment. Or an unfinished copy began an hour
before the last record. The store refuses writes, or the plugin hangs.

What the broker does (3.6 and later): It tries again, and keeps the segments on disk, whatever local.retention.* allows.
The disk fills.

What to do: Look for the exception of RemoteLogManager in server.log, and repair the access to the store. Watch the free
space of the log dirs.
"""

from collections.abc import Iterable

from kcheck.core.tiered.reports import stuck_copy
from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.views import PartitionView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._remote import is_tiered
from kcheck.rules._words import kafka
from kcheck.words import counted, time_words


def check(view: PartitionView, release: Release) -> Iterable[Finding]:
    """Look for a segment that is begun again and again."""
    stuck = None if view.remote is None else stuck_copy(view.remote)
    if stuck is not None:
        waiting = sum(row.size for row in view.segments[:-1] if row.base_offset >= stuck.start_offset)
        yield RULE.finding(
            view.where,
            f"the segment at offset {stuck.start_offset} is not copied to remote storage: "
            f"{counted(stuck.tries, 'try', 'tries')} since {time_words(stuck.first_ms)}",
            effect=f"{kafka(release)} keeps {counted(waiting, 'byte')} of closed segments on disk until the copy ends.",
            advice="Look for the exception of RemoteLogManager in server.log, and repair the access to the store.",
            data={"start_offset": stuck.start_offset, "tries": stuck.tries, "since": stuck.first_ms, "bytes": waiting},
        )


RULE = Rule(severity=Severity.WARNING, scope=Scope.PARTITION, check=check, when=is_tiered)
