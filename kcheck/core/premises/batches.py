"""The premise that everything a broker serves can be read. A starting broker does not look at most batches."""

from collections.abc import Iterator
from itertools import groupby

from kcheck.core.premises.facts import BrokerFacts, LogFacts
from kcheck.core.premises.judged import EVERY_DISK, not_seen, proven, refuted
from kcheck.core.premises.log_ranges import where_it_leads
from kcheck.core.premises.premise import Premise, PremiseCost, PremiseKind
from kcheck.core.premises.presence import is_alone, only_follows
from kcheck.core.start.partitioner import COORDINATED
from kcheck.model.names import CONSUMER_OFFSETS, RECOVERY_POINT, TopicPartition
from kcheck.model.premises import JudgedPremise, PremiseEvidence
from kcheck.words import agree, counted, listed, offset_range, partition_name

READABLE, OWN_BATCHES, LOOKUPS, STOPPED_END = "P307", "P308", "P310", "P312"
"""The ids of four premises (readable batches, segments of their log, working lookups, proper log ends)."""
ABORTED, AT_HOME = "P840", "P841"
"""The premises that consumers get no aborted records, and that coordinators find their groups."""
APPENDED = "P351"
"""The premise that a broker appends after the last batch of each log."""
OWN_KEYS = "P313"
"""The premise that the records of a log are of its partition."""
SNAPSHOT_THERE = "P315"
"""The premise that each log end has the producer snapshot of a clean stop."""

_FEW = 2
"""Maximum number of logs of a small log dir that may belong to others."""


def readable(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for batches that a broker keeps when it starts, but that no consumer or follower accepts.

    If another replica of the ISR may lead, the elections decide whether this one is read.
    """
    damaged = [(log, records) for log in facts.logs if log.batches for records in log.batches.unreadable]
    for log, (start, end, why) in damaged:
        name = partition_name(*log.partition)
        sentence = f"{name}: {offset_range(start, end)} cannot be read ({why})"
        evidence = PremiseEvidence(f"{log.log_dir}/{name}", f"{offset_range(start, end)}: {why}")
        yield where_it_leads(
            premise, facts, log, sentence, evidence, "where it leads, consumers and followers stop there",
            alone="no other broker has a replica with them",
        )  # fmt: skip
    partly = sum(not log.batches.is_complete for log in facts.logs if log.batches is not None)
    if partly:
        sentence = f"not all batches of {counted(partly, 'log')} were read; kcheck check --depth crc reads all"
        yield not_seen(premise, facts, sentence, None)
    elif not damaged and any(log.batches is not None for log in facts.logs):
        yield proven(premise, facts, PremiseEvidence(facts.logs[0].log_dir, "the batches of all logs were read"))


def own_batches(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for segments that other files of the log contradict, because another `.log` was copied over them."""
    for log in facts.logs:
        for span in () if log.batches is None else log.batches.foreign:
            name = partition_name(*log.partition)
            sentence = f"{name}: {offset_range(*span)} contradict their time index or the next segment"
            evidence = PremiseEvidence(
                f"{log.log_dir}/{name}", "an entry is newer than its batch, or two segments differ at the same offsets"
            )
            yield where_it_leads(
                premise, facts, log, sentence, evidence, "the segment may be of another log, and its own records lost",
                follows="its own records may be lost",
            )  # fmt: skip


def lookups(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for entries of offset indexes that lead a read past its batch."""
    for log in facts.logs:
        for span in () if log.batches is None else log.batches.skipped:
            name = partition_name(*log.partition)
            sentence = f"{name}: the offset index leads reads of {offset_range(*span)} to another place"
            evidence = PremiseEvidence(f"{log.log_dir}/{name}", "an entry of a .index names a later or no batch")
            yield where_it_leads(
                premise, facts, log, sentence, evidence,
                "consumers and followers skip them, or stop there; kcheck repair rebuilds the index",
                follows="kcheck repair rebuilds the index",
            )  # fmt: skip


def aborted(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for aborted transactions that a transaction index does not list.

    Only the recovery of a segment makes the entries again (LogSegment.recover 0.11 to 4.3.1).
    """
    for log in (log for log in facts.logs if log.batches is not None and log.batches.unlisted):
        assert log.batches is not None
        spans, name = log.batches.unlisted, partition_name(*log.partition)
        inside = offset_range(min(start for start, _ in spans), max(end for _, end in spans))
        sentence = f"{name}: the transaction indexes lack {counted(len(spans), 'aborted transaction')} ({inside})"
        evidence = PremiseEvidence(f"{log.log_dir}/{name}", f"no entry in a .txnindex for {inside}")
        yield where_it_leads(
            premise, facts, log, sentence, evidence,
            "read_committed consumers get the aborted records; kcheck repair rebuilds the indexes",
            follows="kcheck repair rebuilds the indexes",
        )  # fmt: skip


def appended(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for logs with other bytes after their last batch, which a broker keeps after a clean stop.

    A leader and a follower append to the file (LogSegment.append, FileRecords.append). Readers stop at these bytes.
    """
    for log in (log for log in facts.logs if log.batches is not None and log.batches.tail is not None):
        assert log.batches is not None
        name = partition_name(*log.partition)
        sentence = f"{name}: the bytes after the log end {log.end} are no batch ({log.batches.tail}), and {facts.name}"
        sentence += " appends new records after them. No consumer or follower can read these"
        evidence = PremiseEvidence(f"{log.log_dir}/{name}", f"after offset {log.end}: {log.batches.tail}")
        yield refuted(premise, facts, sentence, evidence, log_dir=log.log_dir, partition=name)


def stopped_end(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for logs that are longer than the recovery point of a clean shutdown.

    A clean shutdown flushes complete logs. If most logs of a log dir are longer, the checkpoint or the marker of the
    clean shutdown is of another time.
    """
    closed = [log for log in facts.logs if log.closed_at is not None]
    by_log_dir = groupby(sorted(closed, key=_place), lambda log: log.log_dir)
    for log_dir, logs in ((log_dir, [*logs]) for log_dir, logs in by_log_dir):
        longer = [(log, log.closed_at) for log in logs if log.closed_at and log.closed_at < log.end]
        if len(longer) > max(_FEW, len(logs) // 2):
            continue
        for log, end in longer:
            name = partition_name(*log.partition)
            sentence = f"{name}: the log ends at offset {log.end}, but ended at {end} when the broker stopped"
            evidence = PremiseEvidence(f"{log_dir}/{RECOVERY_POINT}", f"offset {end} after a clean stop")
            sentence += ": the directory may belong to another partition or another time"
            if is_alone(log.partition, facts):
                yield refuted(premise, facts, sentence, evidence, log_dir=log_dir, partition=name)
            else:
                provide = None if only_follows(log.partition, facts, in_the_end=True) else EVERY_DISK
                yield not_seen(premise, facts, sentence, provide, evidence)


def snapshot_there(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for logs that may lack records, because a clean stop left no producer snapshot at their end."""
    clean = {log_dir.path for log_dir in facts.log_dirs if log_dir.clean}
    for log in (log for log in facts.logs if log.lacks_snapshot and log.log_dir in clean):
        if any(records.known_by is not None for records in log.missing):
            continue  # Another file shows how many are missing.
        name = partition_name(*log.partition)
        sentence = f"{name} ends at {log.end}, but the broker stopped cleanly and left no producer snapshot there"
        sentence += ": the end of the log may be missing"
        evidence = PremiseEvidence(f"{log.log_dir}/{name}", f"no producer snapshot of offset {log.end}")
        provide: str | None = f"{EVERY_DISK}; or --allow {premise.id} if only snapshots were removed"
        if only_follows(log.partition, facts, in_the_end=False):
            sentence, provide = f"{sentence}. The replica is not elected now, and fetches that from the leader", None
        yield not_seen(premise, facts, sentence, provide, evidence)._replace(partition=name)


def own_keys(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for logs whose keys belong to another partition, because directories were exchanged or renamed.

    Brokers choose the partitions of groups and transactions, so their keys are a proof. For other topics a producer may
    have another method.
    """
    for log in facts.logs:
        if log.keys_of is None:
            continue
        (topic, _), (other, keys), name = log.partition, log.keys_of, partition_name(*log.partition)
        sentence = f"{name}: the keys belong to {partition_name(topic, other)}"
        evidence = PremiseEvidence(
            f"{log.log_dir}/{name}",
            f"{counted(keys, 'different key', 'different keys')} of partition {other}, and no other",
        )
        if topic in COORDINATED:
            yield where_it_leads(
                premise, facts, log, sentence, evidence, "as leader the coordinator does not find its groups",
                follows="a copy of the leader's records may be lost", waits=False,
            )  # fmt: skip
            continue
        sentence += f": the directory may belong to partition {other}"
        provide = f"{EVERY_DISK}; or --allow {premise.id} if producers choose partitions in another way"
        follows = only_follows(log.partition, facts, in_the_end=True)
        row = not_seen(premise, facts, sentence, None if follows else provide, evidence)
        yield row._replace(partition=name)


def at_home(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for groups and transactional ids that belong to another partition, because their topic has more now.

    A group coordinator of 3.9 and earlier finds the groups of all partitions of its broker (GroupMetadataManager).
    """
    for log in (log for log in facts.logs if log.homeless):
        topic, name = log.partition.topic, partition_name(*log.partition)
        count = len(log.homeless)
        names = counted(count, "group" if topic == CONSUMER_OFFSETS else "transactional id")
        belong = agree(count, "belongs", "belong")
        sentence = f"{name}: {names} ({listed(log.homeless, most=3)}) {belong} to other partitions, because the topic"
        sentence += " has more now"
        evidence = PremiseEvidence(f"{log.log_dir}/{name}", f"{names} of other partitions")
        if topic == CONSUMER_OFFSETS and not facts.release.coordinates_by_partition:
            provide = f"--allow {premise.id} if one broker leads all partitions of {topic}"
            yield not_seen(premise, facts, f"{sentence}. Their offsets may not be found", provide, evidence)
            continue
        yield where_it_leads(
            premise, facts, log, sentence, evidence, "their new coordinators do not find them",
            follows="the leader has the same records", waits=False,
        )  # fmt: skip


def _place(log: LogFacts) -> tuple[str, TopicPartition]:
    return log.log_dir, log.partition


TABLE = (
    Premise(
        READABLE, PremiseKind.PRESENCE, "Consumers and followers can read every batch.",
        "The CRC of every batch matches, and the offsets ascend. Of a broker, 16 MiB and 1,000 segments are read.",
        "A batch whose CRC, size or offsets are wrong. Not seen in a replica that is not elected.",
        "The broker serves the batch. Consumers end with CorruptRecordException, followers stop before it.",
        "Let another replica lead; kcheck repair --against moves the directory aside, and the broker fetches it again.",
        "DefaultRecordBatch.ensureValid 0.11 to 4.3.1; AbstractFetcherThread", readable, ends_start=False,
        rules=("KC141", "KC142"), cost=PremiseCost.HOLE,
    ),
    Premise(
        OWN_BATCHES, PremiseKind.PRESENCE, "Each segment has the batches that its log had there.",
        "The last entry of its time index has the timestamp of its batch. A segment that overlaps the next one has the"
        " same batches there. P307 says how much is read.",
        "The batch is older, or two segments differ at the same offsets. Not seen in a replica that is not elected.",
        "The broker serves the batches. They may come from another partition, if its .log was copied there.",
        "Compare the segment with another replica or a backup first. kcheck repair only rebuilds the time index.",
        "TimeIndex.maybeAppend, LogSegment.append 0.10.1 to 4.3.1", own_batches, ends_start=False,
        rules=("KC162", "KC221"), cost=PremiseCost.UNCOUNTED,
    ),
    Premise(
        LOOKUPS, PremiseKind.PRESENCE, "Lookups in the offset indexes find every batch.",
        "Each entry names the batch of its offset, or an earlier one. P307 says how much is read.",
        "An entry that names a later batch, or none. Not seen in a replica that is not elected.",
        "The broker does not notice. Reads begin after the records and skip them, or fail.",
        "Run kcheck repair before the broker starts. It rebuilds the offset index.",
        "LogSegment.translateOffset, OffsetIndex.lookup 2.3 to 4.3.1", lookups, ends_start=False,
        rules=("KC151", "KC152", "KC153"), cost=PremiseCost.UNCOUNTED,
    ),
    Premise(
        ABORTED, PremiseKind.PRESENCE, "Transaction indexes list every aborted transaction.",
        "Each ABORT marker of a transaction with records has its entry. P307 says how much is read.",
        "An entry is missing, or begins too late. Not seen in a replica that is not elected.",
        "The broker does not notice. Consumers with isolation.level=read_committed get aborted records.",
        "Run kcheck repair before the broker starts. This rebuilds the transaction index.",
        "LogSegment.collectAbortedTxns, TransactionIndex 0.11 to 4.3.1", aborted, ends_start=False,
        rules=("KC172",), cost=PremiseCost.UNCOUNTED,
    ),
    Premise(
        APPENDED, PremiseKind.PRESENCE, "New records come directly after the last batch of each log.",
        "After a clean stop the last segment of each log ends with a complete batch. P307 says how much is read.",
        "Other bytes after the last batch.",
        "The broker appends after these bytes. No consumer or follower can read the new records.",
        "Before the broker starts, run kcheck repair. The repair truncates these bytes with --accept-loss.",
        "LogSegment.append, FileRecords.append 0.11 to 4.3.1", appended, ends_start=False,
        rules=("KC142", "KC143", "KC144"), cost=PremiseCost.UNCOUNTED,
    ),
    Premise(
        STOPPED_END, PremiseKind.PRESENCE, "After a clean stop each log ends at its recovery point.",
        "With .kafka_cleanshutdown, no log is longer than its offset in recovery-point-offset-checkpoint.",
        "A longer log of an only replica, if most logs of the log dir are not longer. Not seen in other replicas.",
        "The broker serves the log, which may belong to another partition or another time.",
        "Compare the directory with another replica or a backup first. If it is right: --allow P312.",
        "LogManager.shutdown, UnifiedLog.flush 0.8.1 to 4.3.1", stopped_end, ends_start=False,
        cost=PremiseCost.UNCOUNTED,
    ),
    Premise(
        OWN_KEYS, PremiseKind.PRESENCE, "Each directory has the records of its partition.",
        "Kafka's partitioner chooses this partition for one of the newest keys of the log. Not looked at"
        " without metadata, nor where a clean stop left the length of the log.",
        "__consumer_offsets or __transaction_state with groups of another partition alone. Not seen: so many keys of"
        " one other partition that this is no coincidence.",
        "The broker serves the records under the wrong number. Readers by key do not find them.",
        "With the broker stopped, give each directory its own name again. If producers choose partitions in another"
        " way: --allow P313.",
        "Utils.murmur2, DefaultPartitioner 0.9 to 3.9; BuiltInPartitioner 3.3 to 4.3.1; GroupMetadataManager,"
        " TransactionStateManager", own_keys, ends_start=False, cost=PremiseCost.UNCOUNTED, may_lack=True,
    ),
    Premise(
        AT_HOME, PremiseKind.PRESENCE, "The coordinators find every group and transactional id.",
        "The newest names in each log of __consumer_offsets and __transaction_state belong to its partition.",
        "Names of several other partitions, because the topic has more now. Not seen: groups in 3.9 and earlier, or a"
        " replica that is not elected.",
        "The coordinators of the other partitions know no offsets. Consumers begin at auto.offset.reset.",
        "Save the offsets first (kcheck export PATH --reset-file GROUP). Set them again afterwards"
        " (kafka-consumer-groups.sh --reset-offsets).",
        "GroupCoordinatorService.partitionFor, TransactionStateManager.partitionFor 0.11 to 4.3.1", at_home,
        ends_start=False, cost=PremiseCost.UNCOUNTED,
    ),
    Premise(
        SNAPSHOT_THERE, PremiseKind.PRESENCE, "After a clean stop each log end has its producer snapshot.",
        "With .kafka_cleanshutdown, each log with leader epochs has a .snapshot for the log end offset.",
        "Nothing: snapshots alone may have been removed. Not seen where a log end has none.",
        "The broker makes an empty snapshot. Without its last records, a leader makes the other replicas truncate.",
        "Let another replica lead, or compare the directory with a backup. If only snapshots were removed: --allow"
        " P315.",
        "UnifiedLog.close, ProducerStateManager.takeSnapshot 0.11 to 4.3.1", snapshot_there, ends_start=False,
        may_lack=True,
    ),
)  # fmt: skip
