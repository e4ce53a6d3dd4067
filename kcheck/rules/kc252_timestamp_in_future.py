"""A timestamp in the future keeps segments that retention would delete.

What is wrong: A record has a timestamp that is more than a day later than now. Usually a producer wrote microseconds or
nanoseconds where Kafka expects milliseconds, or the clock of its host was wrong. Nothing is corrupt. Now is the time of
the machine that runs kcheck. For a copy of a disk, or a bundle, that is not the time of the copy.

What the broker does: Retention by time starts with the oldest segment. It stops at the first one whose largest
timestamp is not older than `retention.ms`. So it keeps this segment, and every later one, until that time has come: the
disk fills up. `retention.bytes` still deletes them.

A topic that is only compacted, or has retention.ms=-1, keeps its segments in any case. kcheck does not report it if the
cluster metadata shows that.

What to do: Delete the records up to the end of the last such segment (`kafka-delete-records.sh`). Or set
`retention.bytes` for the topic (`kafka-configs.sh`). In 3.6 and later `message.timestamp.after.max.ms` makes the broker
refuse these records. In 4.0 and later its default is an hour.

See: operations/disk-full.md
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.views import PartitionView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._partition import served
from kcheck.rules._words import kafka
from kcheck.words import counted, date_words, partition_name

SLACK_MS = 24 * 3600 * 1000
"""Tolerance of timestamps in the future, as clocks differ, and the harm ends after that time."""


def check(view: PartitionView, release: Release) -> Iterable[Finding]:
    """Find the segments that retention by time keeps because of one of them (UnifiedLog.deleteOldSegments)."""
    if view.now is None or not view.read or not served(view) or view.is_metadata_log or not _expires(view):
        return
    future = [index for index, segment in enumerate(view.read) if segment.max_timestamp > view.now + SLACK_MS]
    if not future:
        return
    first, last = view.read[future[0]], view.read[future[-1]]
    kept = [segment for segment in view.segments if segment.base_offset >= first.base_offset]
    latest = max(view.read[index].max_timestamp for index in future)
    bases = [segment.base_offset for segment in view.segments if segment.base_offset > last.base_offset]
    below = bases[0] if bases else last.end_offset
    count = len(kept)
    which = (
        f"all {counted(count, 'segment')}" if count > 1 and count == len(view.segments) else counted(count, "segment")
    )
    size = sum(segment.size for segment in kept)
    yield RULE.finding(
        view.where,
        f"a record of {date_words(latest)} in the segment of offset {first.base_offset} holds back {which},"
        f" {counted(size, 'byte')}",
        effect=f"{kafka(release)} does not delete them by retention.ms until then.",
        advice=f"Delete the records below offset {below} of {partition_name(view.topic, view.partition)}"
        " (kafka-delete-records.sh), or set retention.bytes. From 3.6 on message.timestamp.after.max.ms makes brokers"
        " refuse the next such record.",
        data={
            "timestamp": latest, "segments": count, "size": size, "base_offset": first.base_offset,
            "delete_below": below,
        },
    )  # fmt: skip


def _expires(view: PartitionView) -> bool:
    """Return whether retention by time deletes segments of the topic, as far as is known."""
    return not view.is_compacted if view.in_cluster is None else view.in_cluster.expires


RULE = Rule(severity=Severity.WARNING, scope=Scope.READ_PARTITION, check=check)
