"""A -future directory is in the same log dir as the current directory of its partition.

What is wrong: A -future copy belongs in another log dir than the replica that it will replace. Directories were copied
or moved, or two disks were merged into one.

What the broker does:

- 3.7.1 and later with KRaft: The broker renames the copy onto the current directory. That fails
  (DirectoryNotEmptyException), and the broker does not start.
- Other releases that have -future (1.1 and later), and ZooKeeper: The broker starts. Seconds later it takes the log dir
  offline, with all partitions in it.

What to do: Move the -future directory outside every log dir. Keep it until you have seen that the current directory has
every record.
"""

from collections.abc import Iterable

from kcheck.model.finding import Effect, Finding, Severity
from kcheck.model.names import DirectoryState, broker_accepts
from kcheck.model.release import Release
from kcheck.model.views import LogDirView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._words import kafka
from kcheck.words import partition_name


def check(views: tuple[LogDirView, ...], release: Release) -> Iterable[Finding]:
    """Find the -future directories beside their current ones."""
    return (finding for view in views for finding in _in_log_dir(view, release))


def _in_log_dir(view: LogDirView, release: Release) -> Iterable[Finding]:
    current = {(part.topic, part.partition): part for part in view.partitions if part.state is DirectoryState.CURRENT}
    for future in view.partitions:
        twin = current.get((future.topic, future.partition))
        known = future.state is DirectoryState.FUTURE and broker_accepts(future.where.dir or "", release)
        if not known or twin is None:
            continue
        ends, fails = "does not start", "takes the log dir offline soon after its start"
        effect = fails if not release.promotes_future_logs else ends
        if release.promotes_future_logs and not release.is_kraft_only:
            effect = f"{ends} with KRaft, and {fails} with ZooKeeper"
        yield RULE.finding(
            future.where,
            f"the current directory of {partition_name(future.topic, future.partition)} is in the same log dir",
            # What fails is the log dir, not the start of this log.
            effect=Effect(f"{kafka(release)} {effect}: it cannot rename one directory onto the other.", ()),
            advice="Move the -future directory out of the log dir.",
            data={"log_end_offset": future.log_end_offset, "log_end_offset_of_current": twin.log_end_offset},
        )


RULE = Rule(severity=Severity.FATAL, scope=Scope.BROKER, check=check)
