"""The store has objects of remote segments that no metadata names.

What is wrong: __remote_log_metadata has no record of these segments. It was lost (KC245), retention cut it, or the
objects are of another cluster. Objects younger than an hour do not count. Only `kcheck tiered --store` looks, and only
if every partition of __remote_log_metadata is in the given log dirs, or lost.

What the broker does, in every release with remote storage (3.6 and later): nothing. It never reads or deletes them, not
even when the topic is deleted.

What to do: if the metadata was lost, keep the objects, and restore the directories of __remote_log_metadata. Otherwise
delete the objects in the store.
"""

from collections.abc import Iterable

from kcheck.core.tiered.store import orphaned_objects, stored_bytes
from kcheck.model.finding import Finding, Location, Severity
from kcheck.model.release import Release
from kcheck.model.remote_log import Store
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._words import kafka
from kcheck.words import counted


def check(view: Store, release: Release) -> Iterable[Finding]:
    """Look for objects of segments without metadata."""
    orphans = orphaned_objects(view)
    if orphans:
        size = stored_bytes(orphans)
        yield RULE.finding(
            Location(),
            f"{view.place}: no metadata names {counted(len(orphans), 'remote segment')}, {counted(size, 'byte')}",
            effect=f"{kafka(release)} neither reads nor deletes them.",
            advice="Keep them if the metadata was lost. Otherwise delete the objects in the store.",
            data={"segments": len(orphans), "bytes": size},
        )


RULE = Rule(severity=Severity.INFO, scope=Scope.STORE, check=check)
