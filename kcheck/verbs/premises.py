"""Which premises of the next starts hold: asked once a broker, for every verb that speaks of a start."""

from collections.abc import Iterable, Iterator, Mapping

from kcheck.core.premises.clusters import NodeCluster, contested_cluster
from kcheck.core.premises.facts import LostHead, MissingRecords
from kcheck.core.premises.presence import LOG_DIRS_THERE
from kcheck.core.premises.resources import written_at_least
from kcheck.core.premises.table import judged, why_not_started, why_offline
from kcheck.core.start.predictions import LogDirPrediction
from kcheck.core.start.segments import lost_head
from kcheck.model.entries import Offset
from kcheck.model.finding import Finding
from kcheck.model.names import CLUSTER_METADATA, LOG_START, DirectoryState, TopicPartition
from kcheck.model.premises import JudgedPremise
from kcheck.startup.log_dir_outcome import with_abort, with_offline
from kcheck.startup.log_manager import StartOptions, combined_starts
from kcheck.survey.recheck import has_left
from kcheck.verbs.missing_records import missing_records
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
) -> tuple[tuple[LogDirPrediction, ...], tuple[JudgedPremise, ...]]:
    """Return the starts of the targets as the premises of their brokers let them be, and the premises.

    A log dir that is missing is a premise, so no finding about it stays in `collected`. `one_cluster`: the user says
    that all brokers are of one cluster.
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
    missing = {
        broker: tuple(missing_records(pairs, log_dirs))
        for broker in groups
        if (pairs := [pair for pair in zip(targets, combined, strict=True) if pair[1].broker == broker])
    }
    heads = {broker: tuple(_lost_heads(start for start in combined if start.broker == broker)) for broker in groups}
    premises = {
        broker: broker_premises(group, options, log_dirs, here, heads[broker], missing[broker])
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
    gone = {target.path for target in targets if target.path in named and not target.tree.exists(target.path)}
    collected[:] = [finding for finding in collected if finding.where.log_dir not in gone]
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
    lost_heads: tuple[LostHead, ...] = (), missing: tuple[MissingRecords, ...] = (),
) -> tuple[JudgedPremise, ...]:  # fmt: skip
    """Return the premises of the broker that these log dirs belong to.

    `written` are the bytes that its start adds to each log dir, by real path; None if its machine is another one.
    """
    facts = broker_facts(
        tuple(targets),
        log_dirs,
        config=options.config,
        copies=options.copies,
        zookeeper=options.zookeeper,
        clusters=options.clusters,
        written=written,
        lost_heads=lost_heads,
        missing_records=missing,
    )
    return judged(facts)


def _not_loaded(start: LogDirPrediction, why: str | None) -> LogDirPrediction:
    """Return a log dir that no broker loads: nothing becomes of its partitions."""
    return with_abort(start, why)._replace(partitions=(), unread=False)
