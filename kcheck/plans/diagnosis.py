"""The findings of log dirs, joined with the other inputs of a plan."""

from collections.abc import Iterable, Mapping
from itertools import chain

from kcheck.core.cluster.copies import newest_copy
from kcheck.core.cluster.owner import owner_of, replicas_in
from kcheck.core.cluster.topic_ids import TopicIdHistory
from kcheck.core.premises.identity import GENERATED_ID
from kcheck.disk.paths import join
from kcheck.errors import UsageError
from kcheck.jobs.workers import Workers
from kcheck.model.cluster import ClusterImage, is_reserved
from kcheck.model.depth import Depth
from kcheck.model.finding import Finding
from kcheck.model.names import (
    META_PROPERTIES,
    OFFSET_CHECKPOINTS,
    PARTITION_METADATA,
    DirectoryState,
    PartitionDirectory,
)
from kcheck.model.views import LogDir, PartitionView
from kcheck.plans.edited_log_dir import EditedLogDir
from kcheck.plans.edited_partition import EditedPartition
from kcheck.repairs import Owner
from kcheck.startup.options import StartOptions
from kcheck.survey.segment_scan import SegmentScan
from kcheck.survey.survey import Survey, whole_log_dir
from kcheck.verbs.next_starts import NextStarts
from kcheck.verbs.premises import refuted_findings, start_premises
from kcheck.views.log_dir import LogDirs
from kcheck.views.settings_files import are_all_log_dirs
from kcheck.views.targets import Target, broker_of


def diagnose(
    targets: Iterable[Target], options: StartOptions, collected: list[Finding], log_dirs: LogDirs
) -> list[EditedLogDir]:
    """Return the log dirs with every finding of `check --depth records` about them; `collected` gets them too."""
    targets = tuple(targets)
    surveyed: list[tuple[Target, LogDir, list[PartitionView]]] = []
    with Workers(1) as workers:
        scan = SegmentScan(Depth.RECORDS, options.release, workers)
        starts = NextStarts(targets, lambda: options, log_dirs, named=bool(options.metadata))
        survey = Survey(
            wanted=options.wanted, release=options.release, deepen=scan.partitions, log_dirs=log_dirs,
            settle=starts.settled_by(workers), place=starts.placed,
        )  # fmt: skip
        for target in targets:
            log_dir, views = survey.log_dir(target)
            surveyed.append((target, log_dir, list(views)))
        survey.compare()
    collected.extend(survey.collected)
    edited_log_dirs = [_edited(*opened, options, survey.collected) for opened in surveyed]
    if len({edited.real for edited in edited_log_dirs}) < len(edited_log_dirs):
        raise UsageError("a log dir is named twice")
    ids = _topic_ids(edited_log_dirs)
    histories = _histories(edited_log_dirs, options)
    named: dict[object, list[Target]] = {}
    for target, edited in zip(targets, edited_log_dirs, strict=True):
        named.setdefault(edited.broker, []).append(target)
    for edited in edited_log_dirs:
        edited.siblings = tuple(
            other for other in edited_log_dirs if other is not edited and other.broker == edited.broker
        )
        edited.is_with_all_siblings = _registered_no_other((edited, *edited.siblings), options) or are_all_log_dirs(
            named[edited.broker], options.config
        )
        edited.owner = _owner((edited, *edited.siblings), options)
        edited.image, path = _deciding(options, edited.view.cluster_id)
        stated = {} if edited.image is None else edited.image.topics_by_id
        edited.topic_ids = _with_cluster(ids, {topic.name: {topic_id: path} for topic_id, topic in stated.items()})
        edited.topic_id_histories = histories
        if edited.owner is not None and META_PROPERTIES not in edited.view.files:
            judged = chain.from_iterable(start_premises(named[edited.broker], options, log_dirs).values())
            generated = (premise for premise in judged if premise.id == GENERATED_ID)
            edited.findings += tuple(refuted_findings(generated, [edited.view.where], options.release))
    return edited_log_dirs


def _registered_no_other(log_dirs: Iterable[EditedLogDir], options: StartOptions) -> bool:
    """Return whether the broker of these log dirs registered no other one (3.7 and later)."""
    views = [log_dir.view for log_dir in log_dirs]
    newest = newest_copy(options.copies.get(views[0].cluster_id or "", ()))
    broker = None if newest is None else newest.image.brokers.get(views[0].where.broker_id or 0)
    registered = () if broker is None else tuple(number for number in broker.log_dirs if not is_reserved(number))
    return bool(registered) and {*registered} <= {view.directory_id for view in views}


def _owner(log_dirs: Iterable[EditedLogDir], options: StartOptions) -> Owner | None:
    """Return the broker that ZooKeeper assigns exactly the replicas in these log dirs; None if it does not tell."""
    if options.zookeeper is None:
        return None
    views = [view for log_dir in log_dirs for view in log_dir.view.partitions]
    here = replicas_in(PartitionDirectory(view.topic, view.partition, view.state, canonical=True) for view in views)
    path, metadata = options.zookeeper.path, options.zookeeper.metadata
    broker_id = owner_of(here, metadata.image)
    return None if broker_id is None else Owner(broker_id, metadata.cluster_id, len(here), path)


def require_evidence(target: Target) -> None:
    """Raise UsageError for a log dir in a bundle that lacks what a plan needs."""
    if not target.tree.is_bundle:
        return
    from kcheck.disk.bundle import BundleTree  # only for a bundle

    bundle = target.tree
    assert isinstance(bundle, BundleTree)
    if not bundle.has_digests:
        raise UsageError(
            f"{bundle.path} has no digests, which a plan needs: capture without --no-digests and pseudonyms"
        )
    if not any(bundle.exists(join(target.path, name)) for name in (META_PROPERTIES, *OFFSET_CHECKPOINTS)):
        raise UsageError(f"{bundle.path} has partition directories without their log dir: capture the log dir")


def _edited(
    target: Target, log_dir: LogDir, views: list[PartitionView], options: StartOptions, findings: list[Finding]
) -> EditedLogDir:
    log_dir_view = whole_log_dir(log_dir, [view._replace(epochs=None, segments=(), last_batch=None) for view in views])
    path = log_dir_view.where.log_dir
    own = sorted((finding for finding in findings if finding.where.log_dir == path), key=Finding.sort_key)
    by_dir: dict[str | None, list[Finding]] = {view.where.dir: [] for view in views}
    others: list[Finding] = []
    for finding in own:
        by_dir.get(finding.where.dir, others).append(finding)
    edited = EditedLogDir(target.tree, log_dir, log_dir_view, broker_of(target, log_dir_view), options, tuple(others))
    edited.real = target.tree.real(edited.path)
    edited.partitions = tuple(EditedPartition(edited, view, tuple(by_dir[view.where.dir])) for view in views)
    return edited


def _topic_ids(log_dirs: list[EditedLogDir]) -> dict[str, dict[str, str]]:
    """Return by topic which ids partition.metadata names, with the path of one file that does."""
    paths_by_id: dict[str, dict[str, str]] = {}
    for log_dir in log_dirs:
        for view in log_dir.view.partitions:
            named = view.topic_id is not None and view.state is DirectoryState.CURRENT
            sound = view.metadata is not None and not view.metadata.parsed.defects
            if named and sound:
                path = f"{view.where.log_dir}/{view.where.dir}/{PARTITION_METADATA}"
                paths_by_id.setdefault(view.topic, {}).setdefault(str(view.topic_id), path)
    return paths_by_id


def _deciding(options: StartOptions, cluster_id: str | None) -> tuple[ClusterImage | None, str]:
    """Return the metadata of a cluster and its path, from the newest copy or ZooKeeper; None without any."""
    newest, zookeeper = newest_copy(options.copies.get(cluster_id or "", ())), options.zookeeper
    if newest is not None:
        return newest.image, newest.path
    if zookeeper is not None and zookeeper.metadata.cluster_id in (cluster_id, None):
        return zookeeper.metadata.image, zookeeper.path
    return None, ""


def _histories(log_dirs: Iterable[EditedLogDir], options: StartOptions) -> Mapping[str, TopicIdHistory]:
    """Return the histories in a ZooKeeper server's files for topics that have another id on disk."""
    findings = (finding for log_dir in log_dirs for part in log_dir.partitions for finding in part.findings)
    topics = sorted({finding.where.topic or "" for finding in findings if finding.id == "KC235"})
    zookeeper = options.zookeeper
    if zookeeper is None or not zookeeper.names_all or not topics:
        return {}
    from kcheck.views.zookeeper_topics import topic_id_histories  # imports the readers of ZooKeeper

    return topic_id_histories(zookeeper.path, zookeeper.metadata.chroot, topics)


def _with_cluster(
    paths_by_id: dict[str, dict[str, str]], stated: dict[str, dict[str, str]]
) -> Mapping[str, Mapping[str, str]]:
    """Return the same with the ids that the cluster states."""
    return stated | {topic: stated.get(topic, {}) | paths for topic, paths in paths_by_id.items()}
