"""A snapshot of the KRaft metadata is corrupt.

What is wrong: A `.checkpoint` in `__cluster_metadata-0` holds the metadata of the cluster up to an offset. Each of its
batches has a CRC. A CRC does not match, or bytes are not a batch. Or the file was truncated, and the first or last
records of the snapshot are missing.

What the broker does: 3.8 and later always read the newest snapshot when they start. If a CRC does not match, or bytes
are not a batch, the broker does not start. From a truncated snapshot they load the records that exist: topics,
configurations and access rules are then missing. Or the broker hangs at the first later record that needs them; a
controller does not start. In 3.7 and earlier all this depends on the log. The broker only keeps older snapshots. 3.3
and later always read `bootstrap.checkpoint` at the top of a log dir, without checking the CRC. The broker does not
start if a record in it cannot be read, or if none gives a metadata.version.

What to do: Copy the directory first. If the other controllers are healthy, start this controller with an empty, newly
formatted directory. It fetches everything. Copy a `bootstrap.checkpoint` from another node of the cluster.
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
