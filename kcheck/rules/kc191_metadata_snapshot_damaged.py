"""A snapshot of KRaft's metadata is damaged.

What is wrong: a `.checkpoint` in `__cluster_metadata-0` holds the metadata of the cluster up to an offset, in batches
that each have a CRC. Here a CRC does not match, bytes are no batch, or the records that begin and end every snapshot
are not there: it was cut.

What the broker does: 3.8 and later read the newest snapshot at every start. A CRC that does not match ends it, as do
bytes that begin no batch. Of one that was cut they take what is there: topics, configurations and access rules are
missing then, or the start stands still at the first record behind that needs them, and that of a controller ends. Up to
3.7 all that depends on what stands in the log. Older snapshots are only kept. `bootstrap.checkpoint` at the top of a
log dir is read at every start from 3.3 on, without a look at the CRC: a start ends where a record in it cannot be read,
or none names a metadata.version.

What to do: keep a copy of the whole directory. If the other controllers are well, start this one with an empty
directory, formatted anew, and it fetches everything. Copy a `bootstrap.checkpoint` from another node of the cluster.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.names import FileKind
from kcheck.model.release import Release
from kcheck.model.views import FileView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._words import at, defect_rows, first_of, kafka


def check(view: FileView, release: Release) -> Iterable[Finding]:
    """Find a metadata snapshot with a defect."""
    defects = view.parsed.defects
    if not defects:
        return
    if view.name == FileKind.BOOTSTRAP:
        effect = f"{kafka(release)} does not start, if it cannot read it or finds no metadata.version in it."
        advice = "Copy the file from another node of the cluster."
    else:
        effect = f"If it is the newest, {kafka(release)} does not start, or takes a part of the metadata for all."
        advice = "Keep a copy of the directory. If the other controllers are well, let this one fetch everything anew."
    yield RULE.finding(
        at(view, defects[0]),
        first_of(defects),
        effect=effect,
        advice=advice,
        data={"defect_count": len(defects), "defects": defect_rows(defects)},
    )


RULE = Rule(severity=Severity.ERROR, scope=Scope.FILE, check=check, kinds=("metadata-snapshot",))
