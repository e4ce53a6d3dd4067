"""A log ends below its end in the earlier run.

What is wrong: The log of a replica is shorter than in the earlier run, or begins earlier. The topic is the same one.
Retention and compaction never lower a log end. An old copy of the disk or of the directory was put back, or files were
removed. A follower also truncates its log when a new leader lacks its last records. Only `kcheck fleet scan` looks. The
earlier run is as for KC505. The finding stays until the log end is back.

What the broker does: Kafka serves the shorter log if this replica leads, and other replicas delete their records. A
leader then assigns the same offsets to other records.

What to do: Find out who changed the directory before you start the broker. If an old copy was put back, find the newest
disk. Ask `kcheck recover` with the log dirs of all brokers.

See: operations/old-copy.md
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.lost import RunView, WentBack
from kcheck.model.release import Release
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._words import kafka


def check(view: RunView, release: Release) -> Iterable[Finding]:
    """Report a replica that is older than in an earlier run."""
    if not isinstance(view, WentBack):
        return
    is_shorter = view.end < view.was_end
    message = f"the log begins at {view.start}, and began at {view.was_start} in run {view.source}"
    effect = f"{kafka(release)} serves records that were deleted."
    if is_shorter:
        message = f"the log end went back from {view.was_end} in run {view.source} to {view.end}"
        effect = (
            f"Records up to offset {view.was_end - 1} are missing here. If this replica leads, others delete theirs."
        )
    yield RULE.finding(
        view.where,
        message,
        effect=effect,
        advice="Find out who changed this directory before you start the broker. Find the newest disk.",
        severity=Severity.ERROR if is_shorter else Severity.WARNING,
        data={
            "source": view.source, "log_start_offset": view.start, "log_end_offset": view.end,
            "was_log_start_offset": view.was_start, "was_log_end_offset": view.was_end, "topic_id": view.topic_id,
        },
    )  # fmt: skip


RULE = Rule(severity=Severity.ERROR, scope=Scope.RUN, check=check, depends_on_others=True)
