"""A directory has a name that the broker reads as a partition, but would never write itself.

What is wrong: The name has leading zeros, a plus sign, or a character that no topic may have. Or its suffix differs
from a broker's. The broker loads `orders-01` as orders-1, in addition to the real one or instead of it. It loads a
ZooKeeper data directory `version-2` as partition 2 of a topic named version. It loads `orders backup-0` as a topic with
a space.

What the broker does: It loads the directory as the partition that it reads in the name. If another directory of that
partition exists, it does not start (KC304). With white space in the topic, it writes checkpoint lines with four words.
The second start from now fails on them, and the log dir goes offline.

What to do: Find out where the directory comes from. A copy or a backup belongs outside every log dir. Rename it to its
real name only if no other directory of that partition exists.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.names import broker_accepts, parse_directory, skipped_by_broker
from kcheck.model.release import Release
from kcheck.model.views import LogDirView, PartitionView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._entries import escaped_name
from kcheck.rules._words import kafka, quoted


def check(view: LogDirView, release: Release) -> Iterable[Finding]:
    """Find the names that are read in another way than they are written."""
    for partition in view.partitions:
        name = partition.where.dir or ""
        parsed = parse_directory(name)
        if parsed is None or parsed.canonical or skipped_by_broker(name, release):
            continue
        if broker_accepts(name, release) is not None:
            yield _finding(partition, name, release)


def _finding(partition: PartitionView, name: str, release: Release) -> Finding:
    loaded = escaped_name(partition.topic, partition.partition)
    written = quoted(name.encode("utf-8", "surrogateescape"))
    spaced = any(space in partition.topic for space in " \t\n\x0b\f\r")
    return RULE.finding(
        partition.where,
        f"the directory {written} is loaded as {loaded}, but no broker writes that name",
        effect=f"{kafka(release)} loads it, and writes checkpoints that its second start from now cannot read. The "
        "log dir then goes offline."
        if spaced
        else f"{kafka(release)} loads it as {loaded}; with another directory of that partition it does not start.",
        advice="Find out where the directory comes from. A copy or a backup belongs outside every log dir.",
        severity=Severity.ERROR if spaced else Severity.WARNING,
        data={"topic": partition.topic, "partition": partition.partition},
    )


RULE = Rule(severity=Severity.WARNING, scope=Scope.LOG_DIR, check=check)
