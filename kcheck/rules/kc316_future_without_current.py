"""A -future directory has no current directory in any log dir of the broker, and loses its records.

What is wrong: The broker was moving the partition to another log dir. The log dir that it came from is lost, or the
directory there was removed. Only the -future copy is left. If other log dirs of the broker exist, name all of them. The
current directory may be there.

What the broker does, 1.1 and later: It makes an empty current directory. Then it truncates the -future copy to that
empty log, and puts it in its place. A second after the broker starts, every record of the copy is lost. 3.7 and later
keep the -future copy only if the metadata already assigns the replica to this log dir.

What to do: Rename the -future directory to TOPIC-PARTITION before you start the broker. kcheck repair plans that if
every batch of the copy is intact.

See: operations/dead-disk.md
"""

from collections.abc import Iterable

from kcheck.core.start.strays import is_promoted
from kcheck.model.finding import Finding, Severity
from kcheck.model.names import DirectoryState, broker_accepts
from kcheck.model.release import Release
from kcheck.model.views import LogDirView, PartitionView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._partition import has_data
from kcheck.rules._words import kafka
from kcheck.words import counted, partition_name


def check(views: tuple[LogDirView, ...], release: Release) -> Iterable[Finding]:
    """Find the -future directories without a current one."""
    partitions = [partition for view in views for partition in view.partitions]
    current = {(part.topic, part.partition) for part in partitions if part.state is DirectoryState.CURRENT}
    for future in partitions:
        if future.state is not DirectoryState.FUTURE or (future.topic, future.partition) in current:
            continue
        is_emptied = has_data(future) and not is_promoted(future, release)
        if is_emptied and broker_accepts(future.where.dir or "", release):
            yield _finding(future, release, is_sure=len(views) > 1 or all(view.is_with_all for view in views))


def _finding(future: PartitionView, release: Release, *, is_sure: bool) -> Finding:
    name = partition_name(future.topic, future.partition)
    where = "any log dir of the broker" if is_sure else "this log dir, and no other one was named"
    unless = "" if is_sure else "Unless another log dir has it, "
    return RULE.finding(
        future.where,
        f"{name} has no current directory in {where}: only this -future copy is left ({counted(future.size, 'byte')})",
        effect=f"{unless}{kafka(release)} makes an empty {name}, and truncates this copy to it. Its records are lost.",
        advice=f"Rename the directory to {name} before you start the broker.",
        severity=Severity.ERROR if is_sure else Severity.WARNING,
        data={"log_end_offset": future.log_end_offset, "size": future.size},
    )


RULE = Rule(severity=Severity.ERROR, scope=Scope.BROKER, check=check)
