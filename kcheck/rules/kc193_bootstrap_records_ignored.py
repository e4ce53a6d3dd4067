"""The first snapshot of the metadata log holds records that this release never reads.

What is wrong: from 4.4 on kafka-storage writes the records that a new cluster begins with into
`__cluster_metadata-0/00000000000000000000-0000000000.checkpoint`: metadata.version and other features, SCRAM
credentials. Older releases write them into `bootstrap.checkpoint`, and keep only voters and kraft.version in that
snapshot. So a newer kafka-storage formatted this directory than the release that is to start with it.

What the broker does, in 4.3 as a controller: it reads voters and kraft.version from the snapshot, and ignores the
records. If its metadata log is empty and there is no `bootstrap.checkpoint`, the new cluster begins with the newest
metadata.version that the release has, and without the SCRAM credentials: brokers or clients that need them cannot log
in. A metadata log with records is not affected: the cluster began before. 3.9 to 4.2 load the records like any other
snapshot.

What to do: if the cluster has not started yet, format the directory with the kafka-storage of the release that will
run, or start with the release of that kafka-storage.
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
        "new cluster begins with the newest metadata.version of the release, and without SCRAM credentials.",
        advice="If the cluster has not started yet, format the directory with the kafka-storage of the release that "
        "will run.",
    )


RULE = Rule(severity=Severity.WARNING, scope=Scope.FILE, check=check, kinds=("metadata-snapshot",))
