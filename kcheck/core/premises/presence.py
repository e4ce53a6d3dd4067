"""Premises about the presence of log dirs, partitions and metadata."""

from collections import Counter
from collections.abc import Iterator

from kcheck.core.election.election import BrokerStart, Standing, eligible, registered, seats_of, standing
from kcheck.core.election.fencing import fencing_order
from kcheck.core.premises.facts import BrokerFacts, LogDirFacts
from kcheck.core.premises.held import absent_partitions, assigned_to, directory_id, held_partitions, of_states
from kcheck.core.premises.judged import EVERY_DISK, not_seen, proven, refuted
from kcheck.core.premises.mounts import new_disks
from kcheck.core.premises.premise import Premise, PremiseCost, PremiseKind
from kcheck.core.start.startup import Mode
from kcheck.core.start.strays import registers_cleanly
from kcheck.model.cluster import STATIC
from kcheck.model.names import CLUSTER_METADATA, LIVE, META_PROPERTIES, TopicPartition
from kcheck.model.premises import JudgedPremise, PremiseEvidence, PremiseStatus
from kcheck.words import agree, capital, counted, shell_word, some_names, some_of

_TOPICS_SHOWN = 5
LOG_DIRS_THERE, PARTITIONS_THERE = "P301", "P302"
"""The premises that every log dir, and every assigned partition, is there."""
SETTINGS_LIST_THEM = "P317"
"""The premise that the settings contain the log dirs."""
TOPICS_THERE = "P309"
"""The premise that ZooKeeper has the topics of the log dirs."""
LOG_DIRS_NAMED = "P311"
"""The premise that the settings name every log dir with partitions."""


def log_dirs(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for log dirs that the settings name, or that the broker registered, and that are missing or not given."""
    missing = [log_dir for log_dir in facts.log_dirs if not log_dir.is_there]
    for path, resolved, entry in ((log_dir.path, log_dir.resolved, log_dir.listed) for log_dir in missing):
        evidence = PremiseEvidence(facts.config_path or path, f"log.dirs contains {entry or path}")
        if _makes_it(facts):
            yield proven(premise, facts, evidence)._replace(log_dir=path)
            continue
        leads = f"; the path is relative, and leads to {resolved}" if resolved is not None else ""
        sentence = f"log dir {path} is missing{_partitions_there(facts)}{leads}"
        yield refuted(premise, facts, sentence, evidence, log_dir=path)
    unformatted = [*_unformatted(facts)]
    refused = [*refused_log_dirs(facts)]
    for path in refused:
        other = next(log_dir.path for log_dir in facts.log_dirs if log_dir.identity is not None)
        sentence = f"{path} has no readable {META_PROPERTIES}; readable in {other}"
        yield refuted(premise, facts, sentence, PremiseEvidence(path, f"no {META_PROPERTIES}"), log_dir=path)
    left_out = [
        log_dir.path
        for log_dir in facts.log_dirs
        if log_dir.is_there and _is_left_out(log_dir) and log_dir.path not in refused
    ]
    for path in left_out:
        named = shell_word(path) if facts.broker_id is None else f"{facts.broker_id}={shell_word(path)}"
        evidence = PremiseEvidence(facts.config_path or path, f"log.dirs contains {path}")
        sentence = f"{facts.name} has another log dir, {path}, which is not given"
        yield not_seen(premise, facts, sentence, f"{named} too", evidence, log_dir=path)
    if not left_out and not missing and not unformatted:
        yield from _registered(premise, facts)


def _makes_it(facts: BrokerFacts) -> bool:
    """Return whether the broker makes missing log dirs without harm, as no assigned partition was there.

    LogManager.createAndValidateLogDirs 1.0 to 3.9. KRaft wants formatted log dirs.
    """
    is_known = facts.image is not None and facts.broker_id is not None and facts.mode is Mode.ZOOKEEPER
    others = any(log_dir.is_there for log_dir in facts.log_dirs)
    return is_known and others and facts.release.has_offline_log_dirs and not absent_partitions(facts)


def _unformatted(facts: BrokerFacts) -> Iterator[str]:
    """Yield the log dirs without a meta.properties that counts."""
    for log_dir in facts.log_dirs:
        if log_dir.is_there and log_dir.is_readable and log_dir.identity is None:
            yield log_dir.path


def refused_log_dirs(facts: BrokerFacts) -> Iterator[str]:
    """Yield the log dirs that a KRaft broker refuses, because only others have a meta.properties."""
    if facts.mode is Mode.KRAFT and any(log_dir.identity is not None for log_dir in facts.log_dirs):
        yield from _unformatted(facts)


def lacks_log_dirs(judged: JudgedPremise) -> bool:
    """Return whether a broker has, or may have, log dirs that are not given."""
    return judged.id == LOG_DIRS_THERE and judged.status is PremiseStatus.NOT_SEEN


def is_made(judged: JudgedPremise) -> bool:
    """Return whether a log dir is missing, and the broker makes an empty one without a loss."""
    return judged.id == LOG_DIRS_THERE and judged.status is PremiseStatus.PROVEN and judged.log_dir is not None


def _is_left_out(log_dir: LogDirFacts) -> bool:
    """Return whether the broker loads a log dir that the answer does not contain."""
    return log_dir.is_named and not log_dir.is_given


def _registered(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Compare the directory ids of the registration with the ids of the log dirs."""
    newest, broker = facts.newest, facts.registration
    if newest is None or broker is None or not broker.log_dirs:
        yield from _unplaced(premise, facts)
        return
    known = facts.registered_ids
    evidence = PremiseEvidence(newest.path, f"broker {facts.broker_id} registered {len(known)} log dirs")
    gone = known - facts.directory_ids
    if not gone:
        yield proven(premise, facts, evidence)
    elif facts.config is None:
        sentence = f"{facts.name} registered {len(known)} log dirs, and {len(gone)} of them"
        sentence += f" {agree(len(gone), 'is', 'are')} not given"
        yield not_seen(premise, facts, f"{sentence}{_partitions_there(facts)}", _others(facts), evidence)


def _others(facts: BrokerFacts) -> str:
    """Return the evidence for the other log dirs of a broker, in words."""
    return f"the other log dirs of {facts.name}, or a server.properties that lists all of them"


def _unplaced(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for assigned partitions without a directory, if nothing lists the log dirs of the broker."""
    if facts.config is not None or facts.is_complete:
        return
    absent = [partition for partition in absent_partitions(facts) if not _was_never_in_sync(partition, facts)]
    if absent:
        sentence = f"whether every log dir of {facts.name} is given is not known, because {some_names(absent)}"
        given = some_of([log_dir.path for log_dir in facts.log_dirs])
        sentence += f" {agree(len(absent), 'has', 'have')} no directory in {given}"
        evidence = PremiseEvidence(facts.image_path or "", f"{len(absent)} assigned partitions have no directory")
        yield not_seen(premise, facts, sentence, _others(facts), evidence)


def log_dirs_named(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for partitions in log dirs outside of the settings. The broker makes them again, empty.

    The controllers elect no replica whose log dir is not registered. A move by hand can leave one
    (ReplicationControlManager.LeaderAcceptor 3.7 to 4.3.1).
    """
    if facts.config_path is None or facts.elsewhere:
        return
    value = facts.setting("log.dirs") or facts.setting("log.dir")
    evidence = PremiseEvidence(facts.config_path, f"log.dirs = {value}")
    left_out = {row.path: names for row in facts.log_dirs if not row.is_named and (names := _only_in(row, facts))}
    for path, names in left_out.items():
        alone = some_names(sorted(names))
        sentence = f"log.dirs in {facts.config_path} does not contain {path}, which alone has {alone}"
        yield refuted(premise, facts, sentence, evidence, log_dir=path)
    moved = {
        row.path: placed for row in facts.log_dirs if row.path not in left_out and (placed := _placed_in(row, facts))
    }
    for path, placed in moved.items():
        sentence = (
            f"log.dirs in {facts.config_path} does not contain {path}, where the metadata has {some_names(placed)}. The"
            " controllers elect no replica there"
        )
        yield refuted(premise, facts, sentence, evidence, log_dir=path)
    if not left_out and not moved:
        count = counted(sum(row.is_named for row in facts.log_dirs), "log dir")
        yield proven(premise, facts, PremiseEvidence(facts.config_path, f"log.dirs contains {count}"))


def settings_list_them(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for relative log dirs of another directory, and for settings near log dirs that list only missing ones.

    The log dirs were copied or mounted at another path, or the broker does not use them.
    """
    if facts.begins_in is not None or facts.begins_too is not None:
        folder = facts.begins_in or "this directory"
        sentence = f"log.dirs is relative, and leads to {folder} only if {facts.name} is started there"
        if facts.begins_too is not None:
            sentence += f"; {facts.begins_too} has such log dirs too"
        provide = "absolute paths in log.dirs, or ask in that directory"
        yield not_seen(premise, facts, sentence, provide, PremiseEvidence(folder, "log.dirs is relative"))
    if not facts.elsewhere or facts.config_path is None:
        return
    value = ",".join(facts.elsewhere)
    given = some_of([log_dir.path for log_dir in facts.log_dirs])
    sentence = f"{facts.config_path} lists {value}, and not {given}: whether {facts.name} uses them is not known"
    provide = "a server.properties whose log.dirs lists them"
    yield not_seen(premise, facts, sentence, provide, PremiseEvidence(facts.config_path, f"log.dirs = {value}"))


def _partitions_there(facts: BrokerFacts) -> str:
    """Return how many assigned partitions have no directory, in words; empty if that is not known."""
    absent = absent_partitions(facts)
    if not absent:
        return ""
    noun = "partition was" if len(absent) == 1 else "partitions were"
    return f"; {len(absent)} assigned {noun} there"


def _placed_in(log_dir: LogDirFacts, facts: BrokerFacts) -> list[TopicPartition]:
    """Return the partitions that the broker alone can lead, and that belong to a log dir outside of log.dirs."""
    number = None if log_dir.is_named or not log_dir.is_there else log_dir.directory_id
    placed = (row for row in assigned_to(facts) if number is not None and directory_id(row, facts) == number)
    return [row for row in placed if has_newest(row, facts)]


def _only_in(log_dir: LogDirFacts, facts: BrokerFacts) -> set[TopicPartition]:
    """Return the partitions of the broker, as far as is known, that one of its log dirs alone has."""
    others = held_partitions([row for row in facts.log_dirs if row is not log_dir], facts)
    own = {partition for partition in of_states([log_dir], LIVE) - others if partition.topic != CLUSTER_METADATA}
    return own if facts.image is None else own & {*assigned_to(facts)}


def partitions_there(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for assigned partitions without a directory. The broker makes them again, empty, and may lead them.

    The broker reports the log dir of the new replicas. Then the controller can elect it
    (ReplicationControlManager.handleAssignReplicasToDirs 3.7 to 4.3.1).
    """
    if facts.image is None or not shows_absence(facts):
        return
    absent = absent_partitions(facts)
    evidence = PremiseEvidence(facts.image_path or "", f"{len(absent)} assigned partitions have no directory")
    if not absent:
        yield proven(premise, facts, evidence)
        return
    leading = [partition for partition in absent if may_lead(partition, facts)]
    alone = [partition for partition in absent if is_alone(partition, facts)]
    if alone:
        why = f"because no directory is here and no other broker has a replica{new_disks(facts)}"
        sentence = f"{some_names(alone)} would start empty, {why}"
        yield refuted(premise, facts, sentence, evidence)
    others = [partition for partition in leading if partition not in alone]
    if others:
        sentence = (
            f"{some_names(others)} may lead here without a directory. {capital(facts.name)} makes an empty log, and the"
            f" other replicas would delete their records{new_disks(facts)}"
        )
        yield refuted(premise, facts, sentence, evidence)
    if alone or others:
        return
    expected = [partition for partition in absent if not _was_never_in_sync(partition, facts)]
    if not expected:
        yield proven(premise, facts, evidence)
    else:
        has = "has" if len(expected) == 1 else "have"
        names = some_names(expected)
        sentence = f"{names} {has} no directory here; whether another broker has the records is not known"
        yield not_seen(premise, facts, sentence, EVERY_DISK, evidence)


def has_newest(partition: TopicPartition, facts: BrokerFacts) -> bool:
    """Return whether the broker led a partition last, or alone can be elected cleanly."""
    assert facts.image is not None
    known = facts.image.topics[partition.topic].partitions[partition.partition]
    return facts.broker_id in {known.leader, known.last_leader} or eligible(seats_of(known)) == (facts.broker_id,)


def _was_never_in_sync(partition: TopicPartition, facts: BrokerFacts) -> bool:
    """Return whether the broker was down when the partition was created, and has never been in the ISR.

    The first ISR has all replicas that are there (ReplicationControlManager 3.3 to 4.3.1, PartitionStateMachine 0.8.2
    to 3.9). The partition epoch counts the changes since. The broker had no record that the ISR lacks.
    """
    assert facts.image is not None
    registration = facts.image.topics[partition.topic].partitions[partition.partition]
    return registration.partition_epoch == 0 and facts.broker_id not in registration.isr


def may_lead(partition: TopicPartition, facts: BrokerFacts) -> bool:
    """Return whether the controller can elect the broker after it has registered."""
    place, start = _place(partition, facts)
    seats = registered(place.seats, start, place.rules)
    return start.broker_id in (eligible(seats) or seats.last_known)


def _place(partition: TopicPartition, facts: BrokerFacts) -> tuple[Standing, BrokerStart]:
    """Return the facts for the elections of a partition, and the broker's registration."""
    assert facts.image is not None
    assert facts.broker_id is not None
    topic = facts.image.topics[partition.topic]
    broker = facts.image.brokers.get(facts.broker_id)
    clean = all(
        registers_cleanly(
            clean=log_dir.clean,
            shutdown_epoch=log_dir.shutdown_epoch,
            broker_epoch=None if broker is None else broker.epoch,
        )
        for log_dir in facts.log_dirs
    )
    place = standing(
        facts.image._replace(configs={**facts.image.configs, STATIC: facts.election_settings}),
        topic,
        topic.partitions[partition.partition],
        fencing_order(facts.image.brokers, facts.release),
        facts.release,
        kraft=facts.mode is Mode.KRAFT,
    )
    return place, BrokerStart(facts.broker_id, clean)


def only_follows(partition: TopicPartition, facts: BrokerFacts, *, in_the_end: bool) -> bool:
    """Return whether the broker follows another replica after it has started, and continues to; False without metadata.

    A follower fetches records that it lacks at its end, but no others. So the leader `in_the_end` counts, which is the
    preferred replica. It gets the lead by itself or by an election of the operator.
    """
    topic = None if facts.image is None else facts.image.topics.get(partition.topic)
    registration = None if topic is None else topic.partitions.get(partition.partition)
    if registration is None or facts.broker_id is None or facts.broker_id not in registration.replicas:
        return False
    if facts.broker_id in registration.isr:
        return False  # In which order brokers are fenced, or register, is a race.
    place, _ = _place(partition, facts)
    gets_lead = in_the_end and registration.replicas[0] == facts.broker_id
    return not (place.rules.unclean or gets_lead or may_lead(partition, facts))


def shows_absence(facts: BrokerFacts) -> bool:
    """Return whether a partition without a directory here has none on any log dir of the broker."""
    is_known = facts.image is not None and facts.broker_id is not None and facts.has_all
    return is_known and all(log_dir.is_there and log_dir.is_readable for log_dir in facts.log_dirs)


def is_alone(partition: TopicPartition, facts: BrokerFacts) -> bool:
    """Return whether the broker has the only replica of a partition, by the metadata."""
    topic = None if facts.image is None else facts.image.topics.get(partition.topic)
    registration = None if topic is None else topic.partitions.get(partition.partition)
    return registration is not None and registration.replicas == (facts.broker_id,)


def topics_in_zookeeper(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for partitions while ZooKeeper has no topic, because it was emptied, or is another one."""
    directories = of_states(facts.log_dirs, LIVE)
    if facts.mode is not Mode.ZOOKEEPER or facts.image is None or not directories:
        return
    if facts.image.topics:
        yield proven(premise, facts, PremiseEvidence(facts.image_path or "", f"{len(facts.image.topics)} topics"))
        return
    counts = Counter(topic for topic, _ in sorted(directories))
    topics = [f"{topic} ({counted(count, 'partition')})" for topic, count in counts.items()]
    more = f" and {len(topics) - _TOPICS_SHOWN} more" if len(topics) > _TOPICS_SHOWN else ""
    sentence = (
        f"ZooKeeper has no topic: the {counted(len(directories), 'directory')} here are orphans, of"
        f" {', '.join(topics[:_TOPICS_SHOWN])}{more}. Nothing serves them"
    )
    yield refuted(premise, facts, sentence, PremiseEvidence(facts.image_path or "", "no topic"))


TABLE = (
    Premise(
        LOG_DIRS_THERE, PremiseKind.PRESENCE, "Every log dir of the broker is there, and is given.",
        "Each directory in log.dirs exists, is formatted and is given; each registered directory id was found.",
        "A log dir is missing, or has no readable meta.properties. Not seen: a log dir that is not given. Without"
        " server.properties that is a registered directory id that no given log dir has. Without these ids it is an"
        " assigned partition without a directory. With ZooKeeper a missing log dir counts where"
        " assigned partitions are absent or not known.",
        "KRaft: the process ends, or starts without the partitions of that log dir. A ZooKeeper broker makes the"
        " log dir, and empty replicas.",
        "Mount the disk (see findmnt), and name every log dir. If the disk is lost, see kcheck help dead-disk.",
        "KafkaRaftServer.initializeLogDirs 3.3 to 4.3.1; LogManager.createAndValidateLogDirs", log_dirs,
        cost=PremiseCost.UNCOUNTED, may_lack=True,
    ),
    Premise(
        PARTITIONS_THERE, PremiseKind.PRESENCE, "Every partition assigned to the broker has a directory.",
        "Each assigned partition has a directory here, or has never had this replica in its ISR.",
        "A partition without a directory that the broker may lead, or that only it has. Not seen where other brokers "
        "may have its records.",
        "The broker makes the partition again, empty; if it leads, the other replicas delete their records.",
        "Put the directory back first, if a disk has one. If other brokers have replicas, start those brokers first."
        " kcheck recover with the log dirs of all brokers has the steps.",
        "ReplicaManager.applyDelta, LogManager.getOrCreateLog 3.3 to 4.3.1; ReplicaManager.becomeLeaderOrFollower",
        partitions_there, ends_start=False, is_counted=True,
    ),
    Premise(
        TOPICS_THERE, PremiseKind.PRESENCE, "ZooKeeper has the topics of the log dirs.",
        "ZooKeeper's data directory has topics.",
        "ZooKeeper has no topic, but the log dirs have partitions. It was emptied, or is another one.",
        "The broker starts and serves no partition.",
        "Restore ZooKeeper's data. If that is lost, run kcheck recover metadata --zookeeper with the disks of all"
        " brokers. Do not create the topics by hand. New topics begin at leader epoch 0, and followers never come into"
        " sync.",
        "ZkPartitionStateMachine, KafkaController 0.8.2 to 3.9.2", topics_in_zookeeper, ends_start=False,
        cost=PremiseCost.METADATA,
    ),
    Premise(
        LOG_DIRS_NAMED, PremiseKind.PRESENCE, "log.dirs contains every log dir with partitions of the broker.",
        "No given log dir that log.dirs does not contain has a partition that the others lack.",
        "Only a log dir that log.dirs does not contain has a partition of the broker. Or the metadata has a partition"
        " there that no other broker can lead.",
        "The broker starts without them, and makes them again, empty. Or the partition gets no leader.",
        "Add the log dir to log.dirs before the broker starts (kcheck recover).",
        "LogManager.loadLogs, getOrCreateLog 1.1 to 4.3.1; ReplicationControlManager.handleAssignReplicasToDirs",
        log_dirs_named, ends_start=False, takes_offline=True, is_counted=True,
    ),
    Premise(
        SETTINGS_LIST_THEM, PremiseKind.PRESENCE, "The settings next to the log dirs contain them.",
        "server.properties next to the log dirs lists one of them, or is missing.",
        "Nothing. Not seen: log.dirs is relative, and begins elsewhere. Or a file with the node's id lists only missing"
        " log dirs. They have other names, or this machine is the broker's by its listeners or key stores.",
        "The broker uses other log dirs or ends.",
        "Correct log.dirs, in a copy of the settings too, and name that server.properties.",
        "LogManager.createAndValidateLogDirs 0.8 to 4.3.1; KafkaRaftServer.initializeLogDirs 3.3 to 4.3.1",
        settings_list_them, ends_start=False, cost=PremiseCost.UNCOUNTED, may_lack=True,
    ),
)  # fmt: skip
