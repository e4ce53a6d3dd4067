"""The partition.metadata of the KRaft metadata log names a wrong topic id, so the broker does not start.

What is wrong: `__cluster_metadata` has the same topic id in every cluster, AAAAAAAAAAAAAAAAAAAAAQ. In 3.0 and later the
partition.metadata of its log has this id. This file has another one. It was copied from a partition of another topic,
or another topic's directory was renamed.

What the broker does: With KRaft, in 3.0 and later, neither a broker nor a controller starts
(InconsistentTopicIdException).

What to do: If the log in the same directory is the KRaft metadata log (`kcheck dump` decodes its records), remove the
file. The broker writes it again. Otherwise the metadata log is somewhere else. Find it before you start anything. If no
node has it, the metadata is lost.

See: operations/lost-metadata.md
"""

from collections.abc import Iterable

from kcheck.core.start.identity import formatted_for_kraft
from kcheck.model.finding import Finding, Severity
from kcheck.model.names import METADATA_TOPIC_ID, PARTITION_METADATA
from kcheck.model.release import Release
from kcheck.model.views import LogDirView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._partition import served
from kcheck.rules._words import kafka


def check(view: LogDirView, release: Release) -> Iterable[Finding]:
    """Look at the id of the log of KRaft, in a log dir that is KRaft's."""
    if not release.has_kraft or not formatted_for_kraft(view):
        return
    for partition in view.partitions:
        of_kraft = partition.is_metadata_log and partition.partition == 0 and served(partition)
        if of_kraft and partition.topic_id not in (None, METADATA_TOPIC_ID):
            yield RULE.finding(
                partition.where._replace(file=PARTITION_METADATA),
                f"the file names topic id {partition.topic_id}; the KRaft metadata log has {METADATA_TOPIC_ID}",
                effect=f"{kafka(release)} does not start.",
                advice="If this is the KRaft metadata log, remove partition.metadata: the next start writes it again.",
                data={"topic_id": partition.topic_id},
            )


RULE = Rule(severity=Severity.FATAL, scope=Scope.LOG_DIR, check=check)
