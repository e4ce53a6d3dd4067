"""Judges the premises of a broker's next start, by its log dirs and its cluster's metadata.

A scan may run on another machine. So what only the host shows is not seen.
"""

import json
from collections.abc import Iterable, Iterator, Sequence

from kcheck.core.cluster.copies import MetadataCopy, newest_copy
from kcheck.core.premises.facts import BrokerFacts, KeylessLog, LogFacts
from kcheck.core.premises.identity import FORMATTED
from kcheck.core.premises.judged import not_seen
from kcheck.core.premises.metadata import METADATA_IN_REACH
from kcheck.core.premises.premise import PremiseKind
from kcheck.core.premises.remote import REMOTE_OBJECTS
from kcheck.core.premises.table import PREMISES, judged
from kcheck.core.start.startup import Mode, settings
from kcheck.core.start.topic_settings import has_remote_storage
from kcheck.disk.paths import split
from kcheck.disk.tree import tree_of
from kcheck.fleet.scan.cluster_metadata import compared_copies, compared_paths, registered_ids
from kcheck.fleet.scan.identify import Identified
from kcheck.fleet.scan.lost import is_empty
from kcheck.model.cluster import ClusterImage
from kcheck.model.names import parse_directory
from kcheck.model.premises import JudgedPremise, PremiseEvidence, PremiseStatus
from kcheck.model.release import Release
from kcheck.model.views import LogDir
from kcheck.verbs.log_facts import looks_into_segments
from kcheck.views.broker_facts import broker_facts
from kcheck.views.controller_settings import settings_of_copies
from kcheck.views.log_dir import LogDirs
from kcheck.views.settings_files import settings_beside
from kcheck.views.targets import Target, TargetKind


def broker_premises(
    opened: Sequence[tuple[Identified, LogDir]], logs: Iterable[LogFacts], release: Release, *, reads_keys: bool
) -> tuple[JudgedPremise, ...]:
    """Return the premises of the broker that all of these log dirs belong to.

    `reads_keys`: records of compacted topics are read.
    """
    metadata = next((log_dir.metadata for log_dir, _ in opened if log_dir.metadata is not None), None)
    directory_ids = {seen.view.directory_id for _, seen in opened}
    registered = registered_ids(metadata)
    are_all = bool(registered) and registered <= directory_ids
    # Empty log dirs alone can be disks that are not mounted.
    is_mounted = not all(is_empty(seen) for _, seen in opened)
    is_complete = are_all or (is_mounted and all(log_dir.is_beside_all for log_dir, _ in opened))
    targets = tuple(_target(log_dir, is_complete=is_complete) for log_dir, _ in opened)
    log_dirs = LogDirs(release)
    for target, (_, seen) in zip(targets, opened, strict=True):
        log_dirs.hold(target, seen)
    copies = compared_copies(metadata)
    facts = broker_facts(
        targets,
        log_dirs,
        config=None,
        copies={log_dir.cluster_id: copies for log_dir, _ in opened if log_dir.cluster_id and log_dir.metadata},
        zookeeper=None,
        clusters=tuple(PremiseEvidence(*cluster) for cluster in opened[0][0].clusters),
        written=None,
        logs=tuple(logs),
        keyless_logs=tuple(_keyless(opened, newest_copy(copies), release)) if reads_keys else None,
        sees_host=False,
    )
    # Nothing says that an empty directory without settings is a KRaft log dir. A finding tells that it is empty.
    is_known = is_mounted or facts.config is not None
    rows = (row for row in judged(facts) if is_known or row.id != FORMATTED)
    return (*(_as_scanned(row, facts) for row in rows), *_not_judged(facts))


def _as_scanned(premise: JudgedPremise, facts: BrokerFacts) -> JudgedPremise:
    """Return a premise in the words of a scan, which does not read ZooKeeper, with the command that does."""
    if (premise.id, premise.status, facts.mode) != (METADATA_IN_REACH, PremiseStatus.NOT_SEEN, Mode.ZOOKEEPER):
        return premise
    sentence = premise.sentence
    if facts.config is None:
        sentence += ". No server.properties is next to its log dirs, so the scan does not see if one of them is missing"
    return premise._replace(sentence=sentence, provide=f"kcheck recover {premise.provide}")


def _not_judged(facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Yield the premises about the host, about records of compacted topics if these are not read, and about a store."""
    for premise in PREMISES:
        if premise.kind in (PremiseKind.RIGHTS, PremiseKind.RESOURCES):
            sentence = f"a scan does not look at the host of {facts.name}"
            yield not_seen(premise, facts, sentence, "kcheck preflight server.properties on that host")
        elif premise.kind is PremiseKind.COMPACTION and facts.image is not None and facts.keyless_logs is None:
            yield not_seen(premise, facts, "the scan read no records of compacted topics", "fleet scan --depth records")
        elif premise.id == REMOTE_OBJECTS and facts.image is not None and _has_remote(facts.image):
            sentence = "a scan does not read the store of remote segments"
            yield not_seen(premise, facts, sentence, "kcheck tiered --store")


def _has_remote(image: ClusterImage) -> bool:
    """Return whether a topic of the cluster has a part in remote storage."""
    return any(has_remote_storage(image, topic) for topic in image.topics)


def _keyless(
    opened: Iterable[tuple[Identified, LogDir]], newest: MetadataCopy | None, release: Release
) -> Iterator[KeylessLog]:
    """Yield the logs with records that the cleaner of the broker deletes at its first run."""
    if newest is not None:
        from kcheck.survey.keyless_records import KeylessRecords  # reads records: only for a known topic

        keys = KeylessRecords(release, settings({}, release).cleanup_policy)
        for log_dir, seen in opened:
            if looks_into_segments(tree_of(log_dir.path)):
                yield from keys.logs(tree_of(log_dir.path), log_dir.path, seen, newest.image)


def _target(log_dir: Identified, *, is_complete: bool) -> Target:
    """Return a log dir as an argument; its `folder` says that all log dirs of its broker are known."""
    path = log_dir.path
    folder = split(path)[0] if is_complete else None
    return Target(TargetKind.LOG_DIR, path, log_dir.broker_id, folder=folder, tree=tree_of(path))


def settings_of(log_dirs: Iterable[Identified]) -> str:
    """Return the settings next to the log dirs of a broker and of its controllers, which its premises need."""
    own = tuple(log_dirs)
    of_controllers = (settings_of_copies(compared_paths(log_dir.metadata)) for log_dir in own[:1])
    return repr((settings_beside(_target(log_dir, is_complete=False) for log_dir in own), *of_controllers))


def premise_row(premise: JudgedPremise) -> tuple[object, ...]:
    """Return the columns of the table `premises`."""
    directory = None if premise.partition is None else parse_directory(premise.partition)
    place = (None, None) if directory is None else (directory.topic, directory.partition)
    evidence = json.dumps([row._asdict() for row in premise.evidence])
    return (
        premise.broker_id, premise.log_dir, premise.partition, *place,
        premise.id, str(premise.status), premise.sentence, evidence, premise.provide,
    )  # fmt: skip
