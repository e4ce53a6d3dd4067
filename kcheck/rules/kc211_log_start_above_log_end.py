"""The checkpointed log start is above the log end, so the broker deletes every segment of the partition.

What is wrong: log-start-offset-checkpoint says that the log starts at an offset that the log does not reach. The tail
of the log was lost or truncated; a truncation followed by a kill within a minute is enough. Or the file was edited or
belongs to another log dir.

What the broker does:

- 2.2.1 and later DELETE EVERY SEGMENT of the partition when they start. They log "Deleting all segments because
  logEndOffset" and start an empty log at the checkpointed offset. If no other replica has the records, they are lost.
  2.7 and earlier also keep epochs and producers that no longer fit.
- From 0.11 to 2.2.0 it does not look. The log keeps its segments, but consumers cannot read their records, because the
  log start is above the log end. The broker acknowledges new records, and consumers cannot read those either until the
  log end has reached the log start.

What to do: DO NOT START THE BROKER. Keep a copy of the partition directory outside every log dir. Then remove the line
of this partition from log-start-offset-checkpoint, and lower the count in line 2 by one. That is always safe for the
records; some that DeleteRecords removed may become readable again.

See: operations/before-a-start.md
"""

from collections.abc import Iterable

from kcheck.model.finding import Claimed, Effect, Finding, Severity
from kcheck.model.names import LOG_START
from kcheck.model.release import Release
from kcheck.model.views import PartitionView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._partition import has_data, says, segments_in_words, served
from kcheck.rules._words import kafka


def check(view: PartitionView, release: Release) -> Iterable[Finding]:
    """Compare the log-start checkpoint with the log end."""
    start, end = view.log_start_checkpoint, view.log_end_offset
    if start is None or end is None or start <= end or not served(view) or not release.has_log_start_checkpoint:
        return
    yield RULE.finding(
        view.where,
        f"the log start {start} in {LOG_START} is above the log end {end}",
        effect=_effect(view, start, release),
        advice=f"Do not start the broker. Keep a copy of the partition directory. Then remove the line of this "
        f"partition from {LOG_START}, and lower its count by one."
        if has_data(view)
        else f"If the log is not meant to start there, remove the line of this partition from {LOG_START}.",
        severity=Severity.ERROR if has_data(view) else Severity.WARNING,
        data={"log_start_checkpoint": start, "log_end_offset": end, "size": view.size, "file": LOG_START},
    )


def _effect(view: PartitionView, start: int, release: Release) -> str | Effect:
    if not release.wipes_log_start_above_log_end:
        return (
            f"{kafka(release)} does not check this, and consumers can read nothing until the log end reaches {start}."
        )
    if not has_data(view):
        return f"{kafka(release)} starts the log, which has no records, at offset {start}."
    return says(
        f"{kafka(release)} will DELETE EVERY SEGMENT of this partition ({segments_in_words(view)}) when it starts. "
        f"An empty log then begins at offset {start}.",
        Claimed.WIPES,
        start,
    )


RULE = Rule(severity=Severity.ERROR, scope=Scope.PARTITION, check=check)
