"""Premises about the records that retention by time deletes after the broker has started."""

from collections.abc import Iterator
from typing import NamedTuple

from kcheck.core.premises.facts import BrokerFacts, LogFacts
from kcheck.core.premises.judged import not_seen, refuted
from kcheck.core.premises.premise import Premise, PremiseCost, PremiseKind
from kcheck.core.start.startup import Mode
from kcheck.core.start.topic_settings import has_remote_storage, is_deleted, retention_ms, setting_of, stated_retention
from kcheck.model.behaviour import is_between
from kcheck.model.cluster import RETENTION_BYTES, RETENTION_MS
from kcheck.model.java import java_int
from kcheck.model.names import CONSUMER_OFFSETS
from kcheck.model.premises import JudgedPremise, PremiseEvidence
from kcheck.model.remote_log import Retention
from kcheck.words import counted, offset_range, partition_name, shell_word

_INTERVAL, _INTERVAL_DEFAULT = "log.retention.check.interval.ms", 300_000
_OFFSETS, _OFFSETS_LEAST = "offsets.retention.minutes", 60
DATED = "P802"
"""The premise that no time index dates its segment before its records."""


def is_dated(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for segments that retention treats as old, though their records are not.

    A segment has the age of the last entry of its time index (LogSegment.maxTimestampSoFar). Retention deletes from the
    oldest segment up to the first young enough one (UnifiedLog.deletableSegments), also the active segment. An entry
    that is only older counts if the retention time had passed when the newest record was written.
    """
    misdated = ((log.partition, log.log_dir, records) for log in facts.logs for records in log.misdated)
    for partition, log_dir, (start, end, timestamp, is_head, newest) in misdated:
        kept = retention_ms(facts.image, partition.topic, facts.broker_id, facts.config)
        if kept is None or (newest is not None and newest - timestamp <= kept):
            continue
        name = partition_name(*partition)
        when = "at its first check" if is_head else "once the segments before them have expired"
        sentence = (
            f"{name}: the time index dates {offset_range(start, end)} by timestamp {timestamp}, but the records are"
            f" newer. Retention deletes them {when}; kcheck repair rebuilds the time index"
        )
        evidence = PremiseEvidence(f"{log_dir}/{name}", f"the last entry of a .timeindex has timestamp {timestamp}")
        yield refuted(premise, facts, sentence, evidence, log_dir=log_dir, partition=name)


def is_kept(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for segments that retention would have deleted before the broker stopped, or deletes now.

    Controllers write to the metadata all the time. So the broker's own copy shows when the broker stopped. The newest
    of all copies shows a later time. The last registration or the clean stop shows that time with ZooKeeper.
    """
    ran = (*(row.stopped_at for row in facts.log_dirs), facts.registered_at)
    own = (copy.timestamp for copy in facts.copies if copy.node_id == facts.broker_id)
    stopped = max(filter(None, (*ran, *own)), default=0)
    later = max((copy.timestamp or 0 for copy in facts.copies), default=0)
    kept, aged = [*_expired(facts, stopped)], [*_expired(facts, later)]
    if stopped and kept:
        sentence = (
            f"{_words(kept)}, and the stopped broker had older segments. The first check of retention deletes them"
        )
        yield refuted(premise, facts, f"{sentence}{_way(facts, kept[0][0], RETENTION_MS)}", _evidence(kept[0][0]))
    elif stopped and aged:
        sentence = f"{_words(aged)}. Segments are older by now, and the first check of retention deletes them"
        sentence += _way(facts, aged[0][0], RETENTION_MS)
        yield not_seen(premise, facts, sentence, None, _evidence(aged[0][0]))
    if large := [*_too_large(facts)]:
        row, size = large[0]
        more = f" and {counted(len(large) - 1, 'more log')}" if len(large) > 1 else ""
        sentence = (
            f"retention keeps {size} bytes of {partition_name(*row.log.partition)}{more}, and most segments are beyond"
        )
        sentence += f" that. The first check of retention deletes them{_way(facts, row, RETENTION_BYTES)}"
        yield refuted(premise, facts, sentence, _evidence(row))
    minutes = java_int(facts.setting(_OFFSETS) or "")
    offsets = next((log for log in facts.logs if log.partition.topic == CONSUMER_OFFSETS), None)
    if minutes is not None and minutes < _OFFSETS_LEAST and offsets is not None:
        evidence = PremiseEvidence(facts.config_path or "", f"{_OFFSETS}={minutes}")
        sentence = f"{_OFFSETS}={minutes}: a group without members loses its committed offsets if all are older"
        provide = f"settings with {_OFFSETS} of {_OFFSETS_LEAST} or more"
        yield not_seen(premise, facts, sentence, provide, evidence)


class _Limited(NamedTuple):
    """A log with a retention, and with right dates."""

    log: LogFacts
    retention: Retention
    oldest: int | None
    """The time of the first segment, in ms since 1970; None if retention.ms expires none."""
    is_too_large: bool
    """True if retention by size deletes the larger part. The oldest segments go while the others are large enough."""


def _limited(facts: BrokerFacts) -> Iterator[_Limited]:
    """Yield the logs with a retention that deletes segments, on disk or in remote storage."""
    for log in facts.logs if facts.image is not None else ():
        assert facts.image is not None
        topic = log.partition.topic
        retention = stated_retention(facts.image, topic, facts.broker_id, facts.config or {})
        if log.regular is not None:
            first = log.regular.first_ms
            oldest = None if first is None or retention.ms is None else first - retention.ms
            taken = log.regular.least - log.regular.start
            yield _Limited(log, retention, oldest, is_too_large=2 * taken > log.end - log.regular.start)
        elif (
            log.oldest is not None
            and not log.misdated
            and has_remote_storage(facts.image, topic) is False
            and is_deleted(facts.image, topic, facts.broker_id, facts.config)
        ):
            yield _Limited(log, retention, log.oldest, is_too_large=_is_too_large(log, retention.bytes))


def _expired(facts: BrokerFacts, now: int) -> Iterator[tuple[_Limited, int]]:
    """Yield the logs whose first segment is too old at a time, with the retention in milliseconds.

    The last check of retention before that was within two intervals. Settings of the broker that keep records for less
    than that are no work of a running broker.
    """
    interval = java_int((facts.setting(_INTERVAL) or "").strip()) or _INTERVAL_DEFAULT
    for row in _limited(facts):
        kept = row.retention.ms
        if kept is None or kept < 0 or row.oldest is None or facts.image is None:
            continue
        is_of_topic = RETENTION_MS in facts.image.configs.get(("topic", row.log.partition.topic), {})
        if now - row.oldest > kept + (2 * interval if is_of_topic or kept > 2 * interval else 0):
            yield row, kept


def _too_large(facts: BrokerFacts) -> Iterator[tuple[_Limited, int]]:
    """Yield the logs of which retention by size deletes the larger part, with the size.

    A running broker leaves no such log, except of a topic that grows very fast.
    """
    for row in _limited(facts):
        if row.is_too_large and row.retention.bytes is not None:
            yield row, row.retention.bytes


def _is_too_large(log: LogFacts, kept: int | None) -> bool:
    left = total = sum(log.sizes)
    for size in log.sizes if kept is not None and kept >= 0 else ():
        if left - size < (kept or 0):
            break
        left -= size
    return 2 * left < total


def _words(expired: list[tuple[_Limited, int]]) -> str:
    row, kept = expired[0]
    more = f" and {counted(len(expired) - 1, 'more log')}" if len(expired) > 1 else ""
    return f"retention keeps records of {partition_name(*row.log.partition)}{more} for {kept} ms"


def _way(facts: BrokerFacts, row: _Limited, name: str) -> str:
    """Return the place of a retention in the metadata, and how to change it; empty if it is elsewhere.

    ConfigCommand 1.1 to 4.3.1.
    """
    found = setting_of(facts.image, row.log.partition.topic, name, facts.broker_id, facts.config)
    if found is None or found.place is None:
        return ""
    kind, entity = found.place
    of_topic, release = kind == "topic", facts.release
    whose = f"{kind} {entity}" if entity else "all brokers"
    named = f"--entity-name {shell_word(entity)}" if entity else "--entity-default"
    words = f". {found.name} of {whose} is in the metadata, and in no file"
    if facts.mode is Mode.ZOOKEEPER and (not of_topic or not is_between(release, "3.0", None)):
        alone, place = "ZooKeeper", "--zookeeper"
    elif facts.mode is Mode.KRAFT and is_between(release, "3.7", None):
        alone, place = "the controllers", "--bootstrap-controller"
    else:
        return f"{words}. No tool changes it before a broker runs"
    way = f"bin/kafka-configs.sh {place} HOST:PORT --alter --entity-type {kind}s {named} --add-config {found.name}=N"
    return f"{words}. Start {alone} alone, and run {way}"


def _evidence(row: _Limited) -> PremiseEvidence:
    log = row.log
    return PremiseEvidence(f"{log.log_dir}/{partition_name(*log.partition)}", f"the first segment is of {row.oldest}")


TABLE = (
    Premise(
        "P324", PremiseKind.RETENTION, "Retention keeps what the stopped broker had.",
        "The broker's last record of the metadata shows when the broker stopped, with ZooKeeper .kafka_cleanshutdown"
        " or its registration. No first segment was too old then, on disk or in remote storage. No log is twice as"
        " large as retention.bytes.",
        "A first segment that was too old for two intervals of the check. The retention is shorter than before, or the"
        " segments are of a backup. Not seen: segments that are too old by now, or offsets.retention.minutes below 60.",
        "The first check of retention deletes the segments.",
        "Restore log.retention.ms or log.retention.bytes. kcheck preflight --allow P324 accepts the loss.",
        "Log.deletableSegments, LogManager.cleanupLogs 0.10.1 to 2.8; UnifiedLog.deletableSegments 3.0 to 4.3.1,"
        " RemoteLogManager.cleanupExpiredRemoteLogSegments 3.6 to 4.3.1",
        is_kept, ends_start=False, cost=PremiseCost.REMOVED,
    ),
    Premise(
        DATED, PremiseKind.RETENTION, "No time index dates its segment before its records.",
        "The last entry of each time index is not 0 and not older than an earlier one. It is not older than the "
        "newest record by more than retention.ms. P307 says how much is read.",
        "An older entry, or 0, of a segment with newer records that the broker does not recover. Only in a topic that "
        "retention.ms expires.",
        "The first check of retention deletes the segment, the active one too, if all before it are as old.",
        "Run kcheck repair before the broker starts. It rebuilds the time index.",
        "LogSegment.maxTimestampSoFar, Log.deletableSegments 0.10.1 to 2.8; UnifiedLog.deletableSegments to 4.3.1",
        is_dated, ends_start=False, rules=("KC155", "KC161", "KC162"), cost=PremiseCost.REMOVED,
    ),
)  # fmt: skip
