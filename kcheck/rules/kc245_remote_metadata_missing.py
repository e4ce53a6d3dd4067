"""The metadata of remote segments is lost.

What is wrong: The log start is below the first local segment, so the older records are in remote storage. But no broker
with a replica of their partition of __remote_log_metadata has its records. The directory is missing or empty, or it
ends below its checkpointed high watermark.

What the broker does (3.6 and later): Within seconds after it starts, it raises the log start to the first local
segment. It truncates the leader epochs. It logs no error. The objects stay in the store for ever, also after the topic
is deleted. If only the end of that partition is lost, the broker keeps the log start. The offsets of newer remote
segments cannot be read.

What to do: Keep the brokers stopped. Restore the directories of __remote_log_metadata from a disk or a backup that has
them. Or make them from the manifests of the Aiven plugin: `kcheck tiered --store PLACE --rebuild DIR`. Afterwards the
objects can still be read.
"""

from collections.abc import Iterable

from kcheck.model.finding import Effect, Finding, Severity
from kcheck.model.release import Release
from kcheck.model.remote_log import MetadataState
from kcheck.model.views import PartitionView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._remote import is_tiered, metadata_words, report_of, span_rows, spans_words
from kcheck.rules._words import kafka
from kcheck.words import counted


def check(view: PartitionView, release: Release) -> Iterable[Finding]:
    """Look for a remote part without metadata."""
    report, remote = report_of(view, release), view.remote
    if remote is None:
        return
    is_short = remote.state is MetadataState.SHORT
    state = "ends below its high watermark" if is_short else "is missing or empty"
    if remote.is_cut and report.gaps:
        yield RULE.finding(
            view.where,
            f"{metadata_words(view)} {state}, without the newest remote segments of {view.where.dir}",
            effect=Effect(f"{kafka(release)} keeps the log start, and does not find {spans_words(report.gaps)}.", ()),
            advice="Keep the brokers stopped. Restore the directories of __remote_log_metadata.",
            data={"gaps": span_rows(report.gaps), "metadata_partition": remote.metadata_partition},
        )
    for start, end in report.without_metadata:
        yield RULE.finding(
            view.where,
            f"{metadata_words(view)} {state}: the metadata of the remote segments of {view.where.dir} is lost",
            effect=Effect(
                f"This start raises the log start from {start} to {end}. {kafka(release)} leaves "
                f"{counted(end - start, 'record')} in the store.",
                (),
            ),
            advice="Keep the brokers stopped. Restore the directories of __remote_log_metadata.",
            data={"log_start_offset": start, "local_start": end, "metadata_partition": remote.metadata_partition},
        )


RULE = Rule(severity=Severity.FATAL, scope=Scope.PARTITION, check=check, when=is_tiered)
