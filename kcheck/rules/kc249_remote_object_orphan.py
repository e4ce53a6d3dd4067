"""The store has objects of remote segments that no metadata names.

What is wrong: __remote_log_metadata has no record of these segments. It was lost (KC245), retention deleted it, or the
objects are of another cluster. Objects younger than an hour do not count. Only `kcheck tiered --store` looks, and only
if every partition of __remote_log_metadata is in the given log dirs, or lost.

What the broker does (3.6 and later): Nothing. It never reads or deletes them, not even when the topic is deleted.

What to do: Keep the objects of topics that exist, and restore the directories of __remote_log_metadata. They may be the
only copy of their records. Objects of topics that the cluster does not have can go, unless another cluster uses the
store. `kcheck tiered --store PLACE --orphans FILE` writes their keys for the store's own tool.
"""

from collections.abc import Iterable

from kcheck.core.tiered.store import is_of_no_topic, orphaned_objects, stored_bytes
from kcheck.model.finding import Finding, Location, Severity
from kcheck.model.release import Release
from kcheck.model.remote_log import Store
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._words import kafka
from kcheck.words import counted

_KEEP = "Keep the objects of topics that exist. They may be the only copy of records whose metadata is lost."
_DELETE = "Delete them if no other cluster uses this store (kcheck tiered --orphans FILE writes their keys)."


def check(view: Store, release: Release) -> Iterable[Finding]:
    """Look for objects of segments without metadata."""
    count = size = gone = 0
    for _, row in orphaned_objects(view):
        count, size, gone = count + 1, size + stored_bytes((row,)), gone + is_of_no_topic(view, row)
    if count:
        deleted = f"; {gone} of them of topics that the cluster does not have" if gone else ""
        yield RULE.finding(
            Location(),
            f"{view.place}: no metadata names {counted(count, 'remote segment')}, {counted(size, 'byte')}{deleted}",
            effect=f"{kafka(release)} neither reads nor deletes them.",
            advice=_KEEP if gone < count else _DELETE,
            data={"segments": count, "bytes": size, "of_no_topic": gone},
        )


RULE = Rule(severity=Severity.INFO, scope=Scope.STORE, check=check)
