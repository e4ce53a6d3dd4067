"""The replica has lost both its leader epochs and its high watermark, so as a follower it truncates all records.

What is wrong: The log has records, but the leader-epoch-checkpoint is missing or has no entries. The
replication-offset-checkpoint has no high watermark for the partition.

What the broker does (0.11 and later): A follower without epochs truncates its log to its high watermark. A missing high
watermark counts as the log start. SO THE FOLLOWER TRUNCATES ITS LOG TO ITS START. It deletes every record of this copy,
and fetches them again if the leader has them. If this is the last good copy, its records are lost as soon as any other
replica leads.

What to do: Before you start the broker, keep a copy of the partition directory outside every log dir. If another
replica is in sync, you lose only time. If not, this replica must lead. Make sure of that before you start the others,
or rebuild the leader-epoch-checkpoint from the batch headers of all segments. Do not raise or invent a high watermark.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.names import REPLICATION_OFFSET
from kcheck.model.release import Release
from kcheck.model.views import PartitionView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._epochs import knows_no_epoch, truncates_to_log_start
from kcheck.rules._partition import segments_in_words
from kcheck.rules._words import kafka


def check(view: PartitionView, release: Release) -> Iterable[Finding]:
    """Find a log without epochs and without a high watermark."""
    if not truncates_to_log_start(view, release):
        return
    state = "is missing" if view.epochs is None else "has no entries"
    start = "its log start" if view.log_start_offset is None else f"its log start {view.log_start_offset}"
    yield RULE.finding(
        view.where,
        f"leader-epoch-checkpoint {state}, and {REPLICATION_OFFSET} has no high watermark",
        effect=knows_no_epoch(
            view,
            f"{kafka(release)} will TRUNCATE THE WHOLE LOG to {start} as soon as this replica follows another. "
            f"It loses {segments_in_words(view)} and must fetch them again.",
        ),
        advice="Before you start the broker, keep a copy of the partition directory outside every log dir. If no other "
        "replica is in sync, this one must lead, or rebuild its epochs from the batch headers first.",
        data={"log_start_offset": view.log_start_offset, "log_end_offset": view.log_end_offset, "size": view.size},
    )


RULE = Rule(severity=Severity.ERROR, scope=Scope.PARTITION, check=check, depends_on_others=True)
