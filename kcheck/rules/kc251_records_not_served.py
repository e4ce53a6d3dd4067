"""A -delete or -stray directory holds records that the broker does not serve.

What is wrong: Perhaps nothing. The topic was deleted, or the partition was moved to another broker or log dir. Or the
broker did not find this replica in the metadata when it started. But after a deletion by mistake, or with wrong
metadata, these can be the last copies of the records.

What the broker does:

- `-delete`: When it starts, it waits for `log.segment.delete.delay.ms`, 60 seconds by default, and removes the
  directory.
- `-stray` (3.7 and later): It leaves the directory as it is, and never removes it.

Clients cannot read these records in either case.

What to do: Nothing, if the records are not needed. Otherwise, before you start the broker, copy a `-delete` directory
outside every log dir. A `-stray` directory may be the only copy of a partition that the cluster still assigns to this
broker. Then rename it back to TOPIC-PARTITION while the broker is stopped.

See: operations/deleted-topic.md
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.names import DirectoryState
from kcheck.model.release import Release
from kcheck.model.views import PartitionView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._partition import has_data, offsets_held
from kcheck.rules._words import kafka
from kcheck.words import counted, partition_name

_STATES = (DirectoryState.DELETED, DirectoryState.STRAY)


def holds_records(view: PartitionView) -> bool:
    """Return whether the broker does not serve the directory, and it holds data."""
    return view.state in _STATES and has_data(view)


def check(view: PartitionView, release: Release) -> Iterable[Finding]:
    """Find the directory that holds records and waits for its end."""
    is_deleted = view.state is DirectoryState.DELETED
    if not holds_records(view) or not (is_deleted or release.has_stray_directories):
        return  # Without -stray directories the name is no valid one: KC301.
    if is_deleted:
        why, does = "the topic was deleted, or the replica was moved", "removes the directory after it starts:"
        does += " log.segment.delete.delay.ms later, 60 s by default"
        advice = "If you may need the records, copy the directory outside every log dir before you start the broker."
    else:
        why, does = "an earlier start set the replica aside", "does not serve the directory, and never removes it"
        advice = (
            "If no other broker has the partition, rename the directory to"
            f" {partition_name(view.topic, view.partition)} while the broker is stopped."
        )
    start, end = view.log_start_offset, view.log_end_offset
    yield RULE.finding(
        view.where,
        f"{why}, and the directory holds {counted(view.size, 'byte')} of records{offsets_held(view)}",
        effect=f"{kafka(release)} {does}.",
        advice=advice,
        data={"state": str(view.state), "from": start, "to": end, "size": view.size},
    )


RULE = Rule(severity=Severity.WARNING, scope=Scope.PARTITION, check=check, when=holds_records)
