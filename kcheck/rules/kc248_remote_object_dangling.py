"""The store has objects of a remote segment whose copy never finished, or that is deleted.

What is wrong: A broker was killed between an upload and its record. Or a deletion did not reach every object. Objects
younger than an hour do not count, because a copy may run. Only `kcheck tiered --store` looks. Iceberg tables of the
Aiven plugin keep deleted segments.

What the broker does (3.6 and later): Nothing. It copied the segment again under another id, and never reads or deletes
these objects.

What to do: Nothing for the log. The objects cost money. Compare the names once more, then delete them in the store.
"""

from collections.abc import Iterable

from kcheck.core.tiered.store import dangling_objects, stored_bytes
from kcheck.model.finding import Finding, Location, Severity
from kcheck.model.release import Release
from kcheck.model.remote_log import StoredLog
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._words import kafka
from kcheck.words import counted, partition_name


def check(view: StoredLog, release: Release) -> Iterable[Finding]:
    """Look for objects of segments that nothing reads."""
    sizes = [stored_bytes((row,)) for row in dangling_objects(view)]
    if sizes:
        yield RULE.finding(
            Location(topic=view.topic, partition=view.partition),
            f"{partition_name(view.topic, view.partition)}: {counted(sum(sizes), 'byte')} of "
            f"{counted(len(sizes), 'remote segment')} without a finished copy are in the store",
            effect=f"{kafka(release)} neither reads nor deletes them.",
            advice="Nothing for the log. Delete the objects in the store if they cost too much.",
            data={"segments": len(sizes), "bytes": sum(sizes)},
        )


RULE = Rule(severity=Severity.INFO, scope=Scope.STORED_LOG, check=check)
