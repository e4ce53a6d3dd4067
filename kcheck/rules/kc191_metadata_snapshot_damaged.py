"""A snapshot of the KRaft metadata is damaged.

What is wrong: a `.checkpoint` in `__cluster_metadata-0` holds the metadata of the cluster up to an offset, in batches
that each have a CRC. Here a CRC does not match, bytes are not a batch, or the records that begin and end every
snapshot are missing: the file was truncated.

What the broker does: 3.8 and later read the newest snapshot at every start. A CRC that does not match aborts the
start, as do bytes that are not the start of a batch. From a truncated snapshot they load the records that exist:
topics, configurations and access rules are then missing. Or the start hangs at the first later record that needs
them; a controller aborts its start there. Up to 3.7 all this depends on the log. The broker only keeps older
snapshots. From 3.3 on every start reads `bootstrap.checkpoint` at the top of a log dir without checking the CRC: the
start ends if a record in it cannot be read, or if none gives a metadata.version.

What to do: copy the whole directory. If the other controllers are healthy, start this one with an empty, newly
formatted directory, and it fetches everything. Copy a `bootstrap.checkpoint` from another node of the cluster.
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
        effect = f"{kafka(release)} does not start if it cannot read the file or finds no metadata.version in it."
        advice = "Copy the file from another node of the cluster."
    else:
        effect = f"If it is the newest, {kafka(release)} does not start, or starts with only a part of the metadata."
        advice = (
            "Keep a copy of the directory. If the other controllers are healthy, let this one fetch everything again."
        )
    yield RULE.finding(
        at(view, defects[0]),
        first_of(defects),
        effect=effect,
        advice=advice,
        data={"defect_count": len(defects), "defects": defect_rows(defects)},
    )


RULE = Rule(severity=Severity.ERROR, scope=Scope.FILE, check=check, kinds=("metadata-snapshot",))
