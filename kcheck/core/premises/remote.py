"""Premises about the part of logs in remote storage."""

from collections.abc import Iterable, Iterator

from kcheck.core.premises.facts import BrokerFacts, LogFacts
from kcheck.core.premises.judged import not_seen, proven, refuted
from kcheck.core.premises.premise import Premise, PremiseCost, PremiseKind
from kcheck.core.premises.presence import may_lead, shows_absence
from kcheck.core.start.startup import REMOTE_STORAGE
from kcheck.core.tiered.reading import offsets_of
from kcheck.core.tiered.regular_deletion import deletion_words
from kcheck.core.tiered.reports import conflicts_words, failing_deletions
from kcheck.core.tiered.spans import offset_count
from kcheck.model.cluster import PROVIDER
from kcheck.model.entries import Offset
from kcheck.model.java import java_int
from kcheck.model.premises import JudgedPremise, PremiseEvidence
from kcheck.model.remote_log import REMOTE_LOG_METADATA, MetadataState, Spans
from kcheck.words import agree, bare_range, counted, moment, partition_name, some_of

REMOTE_ON = "P319"
REMOTE_KEPT, REMOTE_READABLE, REMOTE_METADATA, REMOTE_OBJECTS = "P811", "P812", "P813", "P814"
REMOTE_DELETES, REMOTE_RETENTION = "P821", "P822"
REMOTE_SETTINGS = "P823"
_MANAGER = "remote.log.metadata.manager.class.name"
_TOPIC_BASED = "org.apache.kafka.server.log.remote.metadata.storage.TopicBasedRemoteLogMetadataManager"
_PREFIX, _LISTENER = "remote.log.metadata.manager.impl.prefix", "remote.log.metadata.manager.listener.name"
_COUNT, _COUNT_DEFAULT = "remote.log.metadata.topic.num.partitions", "50"
_MOST = 3


def is_on(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for logs with remote segments on a broker whose settings turn remote storage off."""
    rows = [log for log in _tiered(facts) if log.remote is not None and (log.remote.segments or log.remote.is_lost)]
    if facts.config is None or not rows:
        return
    value, place = facts.setting(REMOTE_STORAGE) or "", PremiseEvidence(facts.config_path or "settings", REMOTE_STORAGE)
    if PROVIDER in value:
        yield not_seen(
            premise, facts, f"{REMOTE_STORAGE} comes from a config provider", f"-D {REMOTE_STORAGE}=true", place
        )
    elif value.lower() == "true":
        yield proven(premise, facts, place)
    else:
        names = some_of([_name(log) for log in rows], _MOST)
        verb = agree(len(rows), "has", "have")
        sentence = (
            f"{REMOTE_STORAGE} is not true, but {names} {verb} remote segments. No reader gets them from this leader"
        )
        yield refuted(premise, facts, sentence, place, *_evidence(rows[0]))


def keeps_segments(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for remote segments whose epochs are all below the first epoch of a replica."""
    known = [log for log in _tiered(facts) if log.remote is not None and log.remote.is_known]
    bad = [(log, log.remote_report.deleted_offsets) for log in known if log.remote_report.deleted]
    for log, deleted in bad:
        sentence = (
            f"{_name(log)} loads; once it leads, Kafka deletes at most"
            f" {counted(log.remote_report.deleted_count, 'remote segment')} ({_offsets(deleted)})"
        )
        yield refuted(premise, facts, sentence, *_evidence(log), log_dir=log.log_dir, partition=_name(log))
    absent = facts.absent_remote if shows_absence(facts) else {}
    empty = [row for row in absent.items() if row[1].runs and may_lead(row[0], facts)]
    for partition, remote in empty:
        sentence = (
            f"{partition_name(*partition)} starts empty. Then Kafka deletes at most"
            f" {counted(sum(run.segments for run in remote.runs), 'remote segment')}"
            f" ({_offsets(offsets_of(remote.runs))}), and no reader gets these records"
        )
        evidence = PremiseEvidence(remote.metadata_name, "the replica has no directory")
        yield refuted(premise, facts, sentence, evidence, partition=partition_name(*partition))
    if known and not bad and not empty:
        yield proven(premise, facts, PremiseEvidence(known[0].log_dir, _counted(known)))


def reads_all(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for offsets from the log start on that the replica does not serve."""
    known = [log for log in _tiered(facts) if log.remote is not None and log.remote.is_known]
    bad = [log for log in known if log.remote_report.gaps or log.remote_report.unreadable]
    for log in bad:
        gaps, unreadable = log.remote_report.gaps, log.remote_report.unreadable
        parts = [f"{_offsets(gaps)} neither local nor remote"] if gaps else []
        parts += [f"{_offsets(unreadable)} not readable while it leads"] if unreadable else []
        sentence = f"{_name(log)} loads with {' and '.join(parts)}"
        yield refuted(premise, facts, sentence, *_evidence(log), log_dir=log.log_dir, partition=_name(log))
    if known and not bad:
        yield proven(premise, facts, PremiseEvidence(known[0].log_dir, _counted(known)))


def has_metadata(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for remote parts of logs without their records in `__remote_log_metadata`."""
    rows, lost = [*_tiered(facts)], 0
    for log in rows:
        for start, end in log.remote_report.without_metadata:
            lost += 1
            sentence = (
                f"{_name(log)}: this start raises the log start from {start} to {end} and leaves"
                f" {counted(end - start, 'record')} in the store"
            )
            yield refuted(premise, facts, sentence, *_evidence(log), log_dir=log.log_dir, partition=_name(log))
    for log in rows:
        if log.remote is not None and log.remote.is_cut:
            lost += 1
            sentence = (
                f"{_name(log)}: {log.remote.metadata_name} ends below its high watermark. Newer segments are lost"
            )
            yield refuted(premise, facts, sentence, *_evidence(log), log_dir=log.log_dir, partition=_name(log))
    conflicts = conflicts_words(log.remote for log in rows if log.remote is not None)
    for conflict in conflicts:
        provide = "only the log dirs of the broker that leads the partition"
        yield not_seen(premise, facts, f"{conflict}, so its remote segments are not known", provide)
    hidden = [log for log in rows if log.remote is not None and log.remote.state is MetadataState.NOT_GIVEN]
    if hidden:
        names = some_of([_name(log) for log in hidden], _MOST)
        provide = "the log dirs of the brokers with __remote_log_metadata"
        yield not_seen(premise, facts, f"the remote segments of {names} are not known", provide)
    elif rows and not lost and not conflicts:
        yield proven(premise, facts, PremiseEvidence(rows[0].log_dir, _counted(rows)))


def has_objects(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Say that no log dir shows the objects of remote segments."""
    count = sum(run.segments for log in _tiered(facts) if log.remote is not None for run in log.remote.runs)
    if count:
        sentence = f"{counted(count, 'remote segment')}: the store was not read; kcheck tiered --store PLACE reads it"
        yield not_seen(premise, facts, sentence, None)


def ends_deletions(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for segments that the store refuses to delete, in logs with a limit of their size.

    RLMExpirationTask.cleanupExpiredRemoteLogSegments 3.7 to 4.3.1 ends at the first failure. The other segments stay
    finished below the new log start. So the next run counts them again, and names newer ones.
    """
    rows = [log for log in _tiered(facts) if log.remote is not None and log.remote.is_known]
    if not facts.release.failing_remote_deletes_move_log_start or not rows:
        return
    has_failed = False
    for log in rows:
        remote = log.remote
        if remote is None or (remote.retention.bytes or 0) < 0:
            continue
        failing, end = failing_deletions(remote), max((run.end_offset for run in remote.runs), default=Offset(0))
        if failing and end:
            has_failed = True
            tries = max(row.deletions for row in failing)
            sentence = (
                f"{_name(log)}: the store refused {counted(tries, 'try')} to delete"
                f" {counted(len(failing), 'remote segment')}. Meanwhile retention moves the log start too far, to at"
                f" most {end}"
            )
            yield refuted(premise, facts, sentence, *_evidence(log), log_dir=log.log_dir, partition=_name(log))
    if not has_failed:
        yield proven(premise, facts, PremiseEvidence(REMOTE_LOG_METADATA, _counted(rows)))


def takes_regularly(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Name the regular deletions in remote storage, which are no accident."""
    rows = [(log, log.regular) for log in _tiered(facts) if log.regular is not None]
    taken = [(log, row) for log, row in rows if row.most is not None and row.most > row.start]
    dated = [row.first_ms for _, row in rows if row.first_ms is not None]
    local = [row.local_first_ms for _, row in rows if row.local_first_ms is not None]
    unknown = [log for log, row in rows if row.most is None or not row.is_dated]
    sentences = list[str]()
    if taken:
        places = some_of([f"{_name(log)} {deletion_words(row)}" for log, row in taken], _MOST)
        who = "the broker" if facts.broker_id is None else f"broker {facts.broker_id}"
        sentences.append(f"once {who} leads, retention.bytes deletes {places}. That is regular")
    if dated:
        count = counted(len(dated), "partition")
        sentences.append(
            f"from {moment(min(dated))} on retention.ms deletes remote segments of {count}. That is regular"
        )
    if local:
        count = counted(len(local), "partition")
        sentences.append(
            f"from {moment(min(local))} on local.retention.ms deletes segments of {count} on disk. Remote storage keeps"
            " these"
        )
    if unknown:
        names = some_of([_name(log) for log in unknown], _MOST)
        sentences.append(f"what retention deletes of {names} is not known without server.properties")
    for sentence in sentences:
        yield not_seen(premise, facts, sentence, None)
    if rows and not sentences:
        yield proven(premise, facts, PremiseEvidence(rows[0][0].log_dir, _counted(log for log, _ in rows)))


def finds_metadata(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for settings with which the broker does not use `__remote_log_metadata`.

    TopicBasedRemoteLogMetadataManager 3.6 to 4.3.1 wants the number of partitions of its settings. Without servers it
    makes no clients. In 4.3 both end the broker.
    """
    topic = None if facts.image is None else facts.image.topics.get(REMOTE_LOG_METADATA)
    is_usual = (facts.setting(_MANAGER) or _TOPIC_BASED) == _TOPIC_BASED
    if facts.config is None or not is_usual or (facts.setting(REMOTE_STORAGE) or "").lower() != "true":
        return
    prefix = facts.setting(_PREFIX) or "rlmm.config."
    name = f"{prefix}{_COUNT}"
    value = facts.setting(name) or _COUNT_DEFAULT
    places = (
        _LISTENER,
        *(f"{prefix}remote.log.metadata.{kind}.bootstrap.servers" for kind in ("common.client", "admin")),
    )
    evidence = PremiseEvidence(facts.config_path or "settings", name)
    is_right = True
    if topic is not None and topic.partitions and PROVIDER not in value and java_int(value) != topic.partition_count:
        is_right = False
        is_default = facts.setting(name) is None
        sentence = (
            f"{name} is {value}{' by default' if is_default else ''}, but {REMOTE_LOG_METADATA} has"
            f" {counted(topic.partition_count, 'partition')}. Remote storage does not start, and the broker may end"
        )
        yield refuted(premise, facts, sentence, evidence)
    if not any(map(facts.setting, places)):
        is_right = False
        sentence = f"{_LISTENER} is missing. Remote storage does not start, and the broker may end"
        yield refuted(premise, facts, sentence, evidence._replace(says=_LISTENER))
    if is_right and topic is not None:
        yield proven(premise, facts, evidence)


def _tiered(facts: BrokerFacts) -> Iterator[LogFacts]:
    return (log for log in facts.logs if log.remote is not None)


def _name(log: LogFacts) -> str:
    return partition_name(*log.partition)


def _counted(logs: Iterable[LogFacts]) -> str:
    segments = sum(len(log.remote.segments) for log in logs if log.remote is not None)
    return f"{counted(segments, 'remote segment')} in __remote_log_metadata"


def _evidence(log: LogFacts) -> tuple[PremiseEvidence, ...]:
    place = REMOTE_LOG_METADATA if log.remote is None else log.remote.metadata_name
    return (PremiseEvidence(f"{log.log_dir}/{_name(log)}", f"log end {log.end}; {place}"),)


def _offsets(spans: Spans) -> str:
    noun = "offset" if offset_count(spans) == 1 else "offsets"
    return f"{noun} {some_of([bare_range(*span) for span in spans], _MOST)}"


TABLE = (
    Premise(
        REMOTE_ON, PremiseKind.REMOTE, "Remote storage is on if logs are there.",
        "server.properties has remote.log.storage.system.enable=true, or no log has remote segments.",
        "The setting is missing or false, and __remote_log_metadata has segments of a replica.",
        "The broker leads these logs from their first local segments on, without the older records.",
        "Set remote.log.storage.system.enable=true, with the settings of the plugin.",
        "LogLoader.load, UnifiedLog.isRemoteLogEnabled 3.6 to 4.3.1", is_on, ends_start=False,
        cost=PremiseCost.UNCOUNTED,
    ),
    Premise(
        REMOTE_KEPT, PremiseKind.REMOTE, "Leading deletes no remote segment.",
        "Each finished remote segment has an epoch that is not below the first one of leader-epoch-checkpoint.",
        "A finished segment that has only lower epochs. Or a replica without a directory that may lead.",
        "Once the replica leads, the broker deletes the segment in remote storage, and raises every log start.",
        "Let another replica lead. Restore the epochs first (kcheck repair --against).",
        "RemoteLogManager, RLMExpirationTask 3.6 to 4.3.1", keeps_segments, ends_start=False, rules=("KC240", "KC411"),
    ),
    Premise(
        REMOTE_READABLE, PremiseKind.REMOTE, "Every offset from the log start on can be read.",
        "Offsets below the first local segment are in finished remote segments, with the epochs that the replica has.",
        "An offset in no such segment, or below the first epoch.",
        "Consumers get OFFSET_OUT_OF_RANGE there.",
        "Let a replica lead that has them (kcheck elect).",
        "RemoteLogManager.read 3.6 to 4.3.1", reads_all, ends_start=False, rules=("KC241", "KC242"),
    ),
    Premise(
        REMOTE_METADATA, PremiseKind.REMOTE, "The metadata of remote segments is there.",
        "A given log dir has the partition of __remote_log_metadata, up to its high watermark.",
        "No broker with a replica of it has its directory, or it is empty. Not seen on brokers that are not given, or"
        " if two copies differ at one offset.",
        "The broker raises the log start to the first local segment; the objects stay in the store for ever.",
        "Restore the directories of __remote_log_metadata before any start.",
        "TopicBasedRemoteLogMetadataManager, RemoteLogManager 3.6 to 4.3.1", has_metadata, ends_start=False,
        rules=("KC245",), cost=PremiseCost.UNCOUNTED, may_lack=True,
    ),
    Premise(
        REMOTE_OBJECTS, PremiseKind.REMOTE, "The store has the objects of all remote segments.",
        "No log dir shows it. kcheck tiered --store PLACE compares the objects (KC247).",
        "kcheck tiered --store finds a finished segment without one of its objects.",
        "Consumers get UNKNOWN_SERVER_ERROR there for ever.",
        "Restore the objects from a version or a backup of the bucket.",
        "RemoteLogManager.read, RemoteStorageManager.fetchLogSegment 3.6 to 4.3.1", has_objects, ends_start=False,
        rules=("KC247",),
    ),
    Premise(
        REMOTE_DELETES, PremiseKind.REMOTE, "The store deletes the segments that retention names.",
        "__remote_log_metadata has no segment with two begins of its deletion and no end.",
        "A segment with two begins of its deletion and no end, in a log with retention.bytes.",
        "With retention.bytes each try raises the log start by more segments. A store that works again deletes them.",
        "Repair the access to the store before any broker starts. Log dirs do not show the repair.",
        "RemoteLogManager, RLMExpirationTask 3.7 to 4.3.1", ends_deletions, ends_start=False, rules=("KC244",),
        cost=PremiseCost.UNCOUNTED,
    ),
    Premise(
        REMOTE_RETENTION, PremiseKind.REMOTE, "Retention deletes no remote segment.",
        "No log with remote segments has retention.ms, or more bytes than retention.bytes.",
        "A log is larger than retention.bytes, or has retention.ms, or its settings are not known.",
        "The leader deletes the segments and raises the log start. That is regular, and no loss.",
        "Raise retention.bytes or retention.ms first to keep them.",
        "RemoteLogManager.cleanupExpiredRemoteLogSegments 3.6 to 4.3.1", takes_regularly, ends_start=False,
    ),
    Premise(
        REMOTE_SETTINGS, PremiseKind.REMOTE, "The broker can use __remote_log_metadata.",
        "The settings have the number of partitions of the topic, 50 by default, and a listener or servers.",
        "Another number of partitions in the cluster metadata. Or no listener and no servers.",
        "Nothing is copied, deleted or read in remote storage, and the broker may end.",
        "Set the number of partitions that the topic has, with the prefix rlmm.config., and the listener.",
        "TopicBasedRemoteLogMetadataManager.initializeResources 3.6 to 4.3.1", finds_metadata, ends_start=False,
        cost=PremiseCost.UNCOUNTED,
    ),
)  # fmt: skip
