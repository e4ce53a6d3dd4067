"""Which premises of the next starts hold: asked once a broker, for every verb that speaks of a start."""

from collections.abc import Iterable, Iterator, Mapping

from kcheck.core.cluster.copies import newest_copy
from kcheck.core.premises.clusters import NodeCluster, contested_cluster
from kcheck.core.premises.facts import KeylessLog, LostHead
from kcheck.core.premises.presence import LOG_DIRS_THERE
from kcheck.core.premises.resources import written_at_least
from kcheck.core.premises.table import judged, why_not_started, why_offline
from kcheck.core.start.predictions import LogDirPrediction
from kcheck.core.start.segments import lost_head
from kcheck.model.cluster import ClusterImage
from kcheck.model.entries import Offset
from kcheck.model.finding import Finding
from kcheck.model.names import CLUSTER_METADATA, LOG_START, DirectoryState, TopicPartition
from kcheck.model.premises import JudgedPremise
from kcheck.startup.log_dir_outcome import with_abort, with_offline
from kcheck.startup.log_manager import StartOptions, combined_starts
from kcheck.survey.keyless_records import KeylessRecords
from kcheck.survey.recheck import has_left
from kcheck.views.broker_facts import broker_facts
from kcheck.views.log_dir import LogDirs
from kcheck.views.targets import Target, TargetKind


def judged_starts(
    targets: tuple[Target, ...],
    starts: list[LogDirPrediction],
    options: StartOptions,
    log_dirs: LogDirs,
    collected: list[Finding],
    *,
    one_cluster: bool = False,
    reads_keys: bool = False,
) -> tuple[tuple[LogDirPrediction, ...], tuple[JudgedPremise, ...]]:
    """Return the starts of the targets as the premises of their brokers let them be, and the premises.

    A log dir that is missing is a premise, so no finding about it stays in `collected`. `one_cluster`: the user says
    that all brokers are of one cluster. `reads_keys`: records of compacted topics are read.
    """
    combined = combined_starts(starts, options.release, has_left)
    groups: dict[object, list[Target]] = {}
    written = dict[str, int]()
    for target, start in zip(targets, combined, strict=True):
        if target.kind is TargetKind.LOG_DIR:
            groups.setdefault(start.broker, []).append(target)
            written[target.tree.real(target.path)] = written_at_least(start)
    # The disks of several brokers are copies, or lent to a machine that is not theirs.
    here = written if len(groups) == 1 else None
    options = with_cluster(targets, options, log_dirs, one_cluster=one_cluster)
    heads = {broker: tuple(_lost_heads(start for start in combined if start.broker == broker)) for broker in groups}
    premises = {
        broker: broker_premises(group, options, log_dirs, here, heads[broker], reads_keys=reads_keys)
        for broker, group in groups.items()
    }
    aborts = {broker: why_not_started(judgements) for broker, judgements in premises.items()}
    judged_log_dirs = tuple(
        _not_loaded(start, aborts[start.broker]) if aborts.get(start.broker) is not None else start
        for start in combined
    )
    every = tuple(judgement for judgements in premises.values() for judgement in judgements)
    offline = why_offline(every)
    judged_log_dirs = tuple(with_offline(start, offline.get(start.path)) for start in judged_log_dirs)
    named = {judgement.log_dir for judgement in every if judgement.id == LOG_DIRS_THERE}
    missing = {target.path for target in targets if target.path in named and not target.tree.exists(target.path)}
    collected[:] = [finding for finding in collected if finding.where.log_dir not in missing]
    return judged_log_dirs, every


def _lost_heads(starts: Iterable[LogDirPrediction]) -> Iterator[LostHead]:
    """Yield the logs of which somebody removed the first segments."""
    for start in starts:
        file = None if start.view is None else start.view.files.get(LOG_START)
        loaded = {row.directory.topic for row in start.partitions if row.log is not None}
        checkpointed = {} if file is None else file.parsed.value.by_topic(loaded)
        for directory, log in ((row.directory, row.log) for row in start.partitions):
            if log is None or directory.state is not DirectoryState.CURRENT or directory.topic == CLUSTER_METADATA:
                continue
            checkpoint = checkpointed.get(directory.topic, {}).get(directory.partition)
            first, tiered = Offset(log.bases[0]), log.log_start_offset < log.bases[0]
            head = lost_head(checkpoint, first, log.leader_epochs, clean=start.clean, tiered=tiered)
            if head is not None:
                yield LostHead(TopicPartition(directory.topic, directory.partition), start.path, *head)


def with_cluster(
    targets: Iterable[Target], options: StartOptions, log_dirs: LogDirs, *, one_cluster: bool = False
) -> StartOptions:
    """Return the options with the cluster that the targets belong to, if their disks name different ones."""
    if options.clusters:
        return options
    views = (log_dirs.open(target).view for target in targets if target.kind is TargetKind.LOG_DIR)
    nodes = [
        NodeCluster(view.where.log_dir or "", view.cluster_id, view.directory_id) for view in views if view.cluster_id
    ]
    return options._replace(clusters=contested_cluster(nodes, options.copies, one_cluster=one_cluster))


def broker_premises(
    targets: Iterable[Target], options: StartOptions, log_dirs: LogDirs, written: Mapping[str, int] | None = None,
    lost_heads: tuple[LostHead, ...] = (), *, reads_keys: bool = False,
) -> tuple[JudgedPremise, ...]:  # fmt: skip
    """Return the premises of the broker that these log dirs belong to.

    `written` are the bytes that its start adds to each log dir, by real path; None if its machine is another one.
    """
    given = tuple(targets)
    facts = broker_facts(
        given,
        log_dirs,
        config=options.config,
        copies=options.copies,
        zookeeper=options.zookeeper,
        clusters=options.clusters,
        written=written,
        lost_heads=lost_heads,
        keyless_logs=tuple(_keyless(given, options, log_dirs)) if reads_keys and options.settings.cleans else None,
    )
    return judged(facts)


def _keyless(targets: Iterable[Target], options: StartOptions, log_dirs: LogDirs) -> Iterator[KeylessLog]:
    """Yield the logs with records that the cleaner of a broker deletes at its first run."""
    keys = KeylessRecords(options.release, options.settings.cleanup_policy)
    for target in targets:
        log_dir = log_dirs.open(target)
        image = image_of(options, log_dir.view.cluster_id)
        if image is not None and target.kind is TargetKind.LOG_DIR:
            yield from keys.logs(target.tree, target.path, log_dir, image)


def image_of(options: StartOptions, cluster_id: str | None) -> ClusterImage | None:
    """Return the metadata at hand of a cluster; None without any."""
    newest = newest_copy(options.copies.get(cluster_id or "", ()))
    if newest is not None:
        return newest.image
    return None if options.zookeeper is None else options.zookeeper.metadata.image


def _not_loaded(start: LogDirPrediction, why: str | None) -> LogDirPrediction:
    """Return a log dir that no broker loads: nothing becomes of its partitions."""
    return with_abort(start, why)._replace(partitions=(), unread=False)
