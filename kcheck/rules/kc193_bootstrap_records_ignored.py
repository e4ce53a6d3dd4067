"""The first snapshot of the metadata log has records that this release never reads.

What is wrong: A new cluster begins with records that kafka-storage writes: metadata.version, other features and SCRAM
credentials. In 4.4 and later they are in `__cluster_metadata-0/00000000000000000000-0000000000.checkpoint`. Older
releases write them into `bootstrap.checkpoint`, and keep only voters and kraft.version in that snapshot. So a newer
kafka-storage formatted this directory than the release that is to start with it.

What the broker does, in 4.3 as a controller: It reads voters and kraft.version, and ignores the records. Without a
`bootstrap.checkpoint` and with an empty metadata log, the new cluster has no SCRAM credentials. Brokers or clients that
need them cannot log in. The cluster also begins with the newest metadata.version of the release. If the metadata log
has records, nothing happens, because the cluster began before. 3.9 to 4.2 load the records like any other snapshot.

What to do: If the cluster has not started yet, format the directory again. Use the kafka-storage of the release that
will run. Or start the release of the kafka-storage that formatted it.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.names import parse_metadata_snapshot
from kcheck.model.release import Release
from kcheck.model.views import FileView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._words import kafka


def check(view: FileView, release: Release) -> Iterable[Finding]:
    """Find records in the snapshot of offset 0 and epoch 0."""
    if not release.ignores_records_in_first_snapshot or not view.parsed.value.batches or view.parsed.defects:
        return
    if parse_metadata_snapshot(view.name) != (0, 0):
        return
    yield RULE.finding(
        view.where,
        "the snapshot of a formatted directory holds records of metadata",
        effect=f"{kafka(release)} ignores them. If the metadata log is empty and bootstrap.checkpoint is missing, a "
        "new cluster has no SCRAM credentials. It begins with the newest metadata.version of the release.",
        advice="If the cluster has not started yet, format the directory with the kafka-storage of the release that "
        "will run.",
    )


RULE = Rule(severity=Severity.WARNING, scope=Scope.FILE, check=check, kinds=("metadata-snapshot",))
