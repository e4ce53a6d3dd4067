"""Premises about the logs that the broker led last."""

from collections.abc import Iterator, Sequence

from kcheck.core.premises.facts import BrokerFacts
from kcheck.core.premises.held import assigned_to, directory_id, of_states
from kcheck.core.premises.judged import not_seen, proven, refuted
from kcheck.core.premises.premise import Premise, PremiseCost, PremiseKind
from kcheck.core.premises.presence import has_newest, is_alone, refused_log_dirs
from kcheck.core.start.strays import is_not_here
from kcheck.model.names import DirectoryState, TopicPartition
from kcheck.model.premises import JudgedPremise, PremiseEvidence
from kcheck.words import agree, capital, counted, some_names, some_of

LAST_LOGS_THERE, NONE_REMOVED = "P861", "P837"
"""The premises that every log that the broker led last is here, and that no directory of one was removed."""
LOST_LOGS = (LAST_LOGS_THERE, NONE_REMOVED)
"""The premises about logs that the broker led last, and that no disk here has."""


def last_logs_there(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for the logs that the broker led last. Only they have records that no follower had fetched.

    A log is on no disk here if no log dir has a directory of the partition. Another disk may have a log if the
    metadata names a log dir that is not here. Missing log dirs (P301) come first. P302 counts the losses of only
    replicas. P367 names a log that is here under another name.
    """
    if not _shows_logs(facts):
        return
    led = _led_last(facts)
    kept, absent = _kept(facts), _absent(led, facts)
    removed = {row for rows in _removed(absent, facts).values() for row in rows}
    absent = [row for row in absent if row not in removed]
    moved = [partition for partition in led if partition in kept and _is_elsewhere(partition, facts)]
    evidence = PremiseEvidence(facts.image_path or "", f"{facts.name} led {counted(len(led), 'partition')} last")
    if absent:
        sentence = f"no log dir here has the log of {some_names(absent)}, which {facts.name} led last"
        if not facts.is_complete:
            yield not_seen(premise, facts, sentence, f"the other log dirs of {facts.name}", evidence)
        elif facts.copies and not facts.has_metadata_of_others:
            yield not_seen(premise, facts, sentence, "--metadata with a controller's log dir", evidence)
        else:
            yield refuted(premise, facts, sentence, evidence)
    if moved:
        sentence = (
            f"{facts.name} led {some_names(moved)} last in a log dir that is not here. Another log dir has a directory,"
            " but perhaps not the same log"
        )
        yield not_seen(premise, facts, sentence, f"that log dir of {facts.name}", evidence)
    if not (absent or moved or removed):
        yield proven(premise, facts, evidence)


def none_removed(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for logs that the broker led last, if their directories were removed.

    A checkpoint of the log dir lists them, and the metadata names no other log dir. So no other disk has them.
    """
    places = _removed(_absent(_led_last(facts), facts), facts) if _shows_logs(facts) else {}
    if places:
        rows = [row for own in places.values() for row in own]
        words, them = agree(len(rows), "directory of {} was", "directories of {} were"), agree(len(rows), "it", "them")
        sentence = f"the {words.format(some_names(rows))} removed from {some_of([*places])}, where checkpoints list"
        sentence += f" {them}. {capital(facts.name)} led {them} last"
        evidence = [PremiseEvidence(path, f"checkpoints list {some_names(own)}") for path, own in places.items()]
        place = next(iter(places))
        if facts.copies and not facts.has_metadata_of_others:
            provide = "--metadata with a controller's log dir"
            yield not_seen(premise, facts, sentence, provide, *evidence, log_dir=place)
        else:
            yield refuted(premise, facts, sentence, *evidence, log_dir=place)


def _shows_logs(facts: BrokerFacts) -> bool:
    """Return whether the metadata and every log dir are here."""
    is_known = facts.image is not None and facts.broker_id is not None
    return is_known and all(log_dir.is_there for log_dir in facts.log_dirs) and not any(refused_log_dirs(facts))


def _led_last(facts: BrokerFacts) -> list[TopicPartition]:
    return [partition for partition in assigned_to(facts) if has_newest(partition, facts)]


def _kept(facts: BrokerFacts) -> set[TopicPartition]:
    return of_states(facts.log_dirs, {*DirectoryState} - {DirectoryState.FUTURE})


def _absent(led: Sequence[TopicPartition], facts: BrokerFacts) -> list[TopicPartition]:
    """Return the partitions without a log here under any name, if other replicas exist."""
    kept = _kept(facts)
    renamed = {name for log in facts.logs if log.other_name is not None for name in log.other_name.holds}
    return [row for row in led if row not in kept and row not in renamed and not is_alone(row, facts)]


def _removed(absent: Sequence[TopicPartition], facts: BrokerFacts) -> dict[str, list[TopicPartition]]:
    """Return the partitions whose directories were removed, by log dir."""
    removed: dict[str, list[TopicPartition]] = {}
    for row in absent:
        known = directory_id(row, facts)
        held = (one for one in facts.log_dirs if row in one.left)
        of = next((one for one in held if not is_not_here(known, {one.directory_id})), None)
        if of is not None:
            removed.setdefault(of.path, []).append(row)
    return removed


def _is_elsewhere(partition: TopicPartition, facts: BrokerFacts) -> bool:
    """Return whether no log dir here has the id that the metadata names for the broker's replica (3.7 and later)."""
    return is_not_here(directory_id(partition, facts), facts.directory_ids)


TABLE = (
    Premise(
        NONE_REMOVED, PremiseKind.PRESENCE, "The directory of each log that the broker led last was not removed.",
        "No checkpoint of a log dir lists a partition that the broker led last, and that has no directory.",
        "A checkpoint lists one, and the metadata names no other log dir. Not seen without a controller's log dir.",
        "Records that no follower had fetched are on no disk here.",
        "Put these directories back from a backup, and ask again. Without a backup these records are lost.",
        "ReplicaManager.checkpointHighWatermarks, LogManager.checkpointLogRecoveryOffsets 0.8.2 to 4.3.1",
        none_removed, ends_start=False, cost=PremiseCost.UNCOUNTED, may_lack=True,
    ),
    Premise(
        LAST_LOGS_THERE, PremiseKind.PRESENCE, "Each log that the broker led last is here.",
        "Each partition that the broker led last has a directory in the log dir of the metadata.",
        "No log dir here has a directory of a partition that the broker led last. Not seen with only some of its log"
        " dirs, or without the log dir of the metadata.",
        "Records that no follower had fetched are on no disk here.",
        "Mount the disk that has the log, and ask again. Without that disk kcheck recover has other steps.",
        "PartitionRegistration.directories 3.7 to 4.3.1; Partition.makeLeader, ReplicaFetcherThread 0.8.2 to 4.3.1",
        last_logs_there, ends_start=False, cost=PremiseCost.UNCOUNTED, may_lack=True,
    ),
)  # fmt: skip
