"""Brokers do not get a segment deleted in remote storage.

What is wrong: __remote_log_metadata has the begin of one deletion several times, and no end. The store refuses deletes.
One try is a deletion under way, and no finding.

What the broker does (3.6 and later): It tries again at each run of its task. With retention.bytes each run in 3.7 and
later counts the segment again. Each run names one segment more, and moves the log start by it. Records that retention
should keep are then below the log start, and stay there. Only 3.7 forgets this log start when the broker starts.

In 3.7 and later a limit by retention.bytes or log.retention.bytes makes this an error. Otherwise this is a warning.
kcheck reads both in the metadata of the cluster, and in the server.properties next to the log dirs.

What to do: Repair the access to the store now. Until then set retention.bytes=-1 and retention.ms=-1 for the topic.
"""

from collections.abc import Iterable

from kcheck.core.tiered.reports import failing_deletions
from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.views import PartitionView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._remote import is_tiered
from kcheck.rules._words import DATA_MAX, kafka
from kcheck.words import agree, counted


def check(view: PartitionView, release: Release) -> Iterable[Finding]:
    """Look for segments whose deletion began several times."""
    failing = () if view.remote is None else failing_deletions(view.remote)
    if view.remote is not None and failing:
        tries = max(segment.deletions for segment in failing)
        count, size = len(failing), view.remote.retention.bytes
        is_moving = release.failing_remote_deletes_move_log_start
        is_limited = is_moving and size is not None and size >= 0
        limit = f"retention.bytes={size}" if is_limited else "retention.bytes"
        moves = f" With {limit} each try moves the log start further." if is_moving else ""
        yield RULE.finding(
            view.where,
            f"{counted(count, 'remote segment')} {agree(count, 'is', 'are')} not deleted after {tries} tries",
            effect=f"{kafka(release)} tries again.{moves}",
            severity=Severity.ERROR if is_limited else None,
            advice="Repair the access to the store. Until then set retention.bytes=-1 and retention.ms=-1.",
            data={
                "segments": count,
                "tries": tries,
                "segment_ids": tuple(row.segment_id for row in failing[:DATA_MAX]),
            },
        )


RULE = Rule(severity=Severity.WARNING, scope=Scope.PARTITION, check=check, when=is_tiered)
