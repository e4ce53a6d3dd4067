"""Judges the premises of the next starts, once for each broker, for every verb with a prediction."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from kcheck.core.premises.clusters import NodeCluster, contested_cluster
from kcheck.core.premises.facts import KeylessLog, LogFacts
from kcheck.core.premises.metadata import with_refetched
from kcheck.core.premises.premise import PremiseKind
from kcheck.core.premises.presence import LOG_DIRS_THERE, is_made
from kcheck.core.premises.resources import written_at_least
from kcheck.core.premises.table import BY_ID, judged_together, why_not_started, why_offline
from kcheck.core.start.predictions import LogDirPrediction
from kcheck.core.start.startup import Outcome
from kcheck.disk.paths import join
from kcheck.documents.premises import may_not_serve
from kcheck.model.cluster import ClusterImage
from kcheck.model.finding import Finding, Location, Severity
from kcheck.model.premises import JudgedPremise, PremiseStatus
from kcheck.model.release import Release
from kcheck.model.report import PartitionFilter
from kcheck.rules import kc315_premise_refuted
from kcheck.startup.log_dir_outcome import with_offline
from kcheck.startup.log_manager import combined_starts
from kcheck.startup.options import StartOptions
from kcheck.survey.recheck import has_left
from kcheck.verbs.batch_reads import with_batches
from kcheck.verbs.log_facts import as_follower, log_facts, looks_into_segments, with_remote
from kcheck.views.broker_facts import broker_facts
from kcheck.views.log_dir import LogDirs
from kcheck.views.metadata_paths import nodes_without_metadata
from kcheck.views.remote_logs import RemoteLogs, remote_logs
from kcheck.views.targets import Target, TargetKind, broker_of


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
    judged_log_dirs, every = judge(targets, combined, options, log_dirs, one_cluster=one_cluster, reads_keys=reads_keys)
    missing = missing_log_dirs(targets, every)
    collected[:] = [finding for finding in collected if finding.where.log_dir not in missing]
    return judged_log_dirs, every


def missing_log_dirs(targets: Iterable[Target], premises: Iterable[JudgedPremise]) -> set[str]:
    """Return the log dirs of the targets that do not exist. A premise reports them, and no other finding."""
    named = {judgement.log_dir for judgement in premises if judgement.id == LOG_DIRS_THERE}
    return {target.path for target in targets if target.path in named and not target.tree.exists(target.path)}


def judge(
    targets: Iterable[Target],
    combined: Sequence[LogDirPrediction],
    options: StartOptions,
    log_dirs: LogDirs,
    *,
    one_cluster: bool = False,
    reads_keys: bool = False,
) -> tuple[tuple[LogDirPrediction, ...], tuple[JudgedPremise, ...]]:
    """Return combined starts as the premises let them be, and the premises."""
    targets = tuple(targets)
    known = [() if row.view is None else options.copies.get(row.view.cluster_id or "", ()) for row in combined]
    combined = with_batches(targets, [*map(with_refetched, combined, known)])
    by_broker = start_premises(targets, options, log_dirs, combined, one_cluster=one_cluster, reads_keys=reads_keys)
    return as_judged(combined, by_broker), tuple(chain.from_iterable(by_broker.values()))


def start_premises(
    targets: Iterable[Target],
    options: StartOptions,
    log_dirs: LogDirs,
    starts: Sequence[LogDirPrediction] = (),
    *,
    one_cluster: bool = False,
    reads_keys: bool = False,
) -> dict[object, tuple[JudgedPremise, ...]]:
    """Return the premises of the brokers whose log dirs are among the targets, by the key of the broker.

    `starts` are the predicted ones of the targets, combined; without them nothing of a log is judged. `one_cluster`
    and `reads_keys`: as in `judged_starts`.
    """
    targets = tuple(targets)
    groups: dict[object, list[Target]] = {}
    written = dict[str, int]()
    for target, start in zip(targets, starts or (None,) * len(targets), strict=True):
        if target.kind is TargetKind.LOG_DIR:
            broker = broker_of(target, log_dirs.open(target).view) if start is None else start.broker
            groups.setdefault(broker, []).append(target)
            written[target.tree.real(target.path)] = 0 if start is None else written_at_least(start)
    options = with_cluster(targets, options, log_dirs, one_cluster=one_cluster)
    remote, without_log = None, nodes_without_metadata(targets) if any(options.copies.values()) else frozenset[int]()
    if starts and log_dirs.release.has_remote_storage:
        remote = remote_logs(targets, log_dirs, options.image_of)
    facts = {
        broker: broker_facts(
            tuple(group),
            log_dirs,
            config=options.config,
            copies=options.copies,
            zookeeper=options.zookeeper,
            clusters=options.clusters,
            lost_copies=options.lost_copies,
            without=options.without,
            added=options.added,
            planned=options.planned,
            mode=options.mode_of_cluster,
            defined=options.settings.defined,
            # The disks of several brokers are copies, or lent to a machine that is not theirs.
            written=written if len(groups) == 1 else None,
            logs=tuple(_logs(targets, starts, broker, _image_of(group, options, log_dirs), log_dirs, remote)),
            keyless_logs=tuple(_keyless(group, options, log_dirs)) if reads_keys and options.settings.cleans else None,
        )._replace(without_log=without_log)
        for broker, group in groups.items()
    }
    absent = () if remote is None else tuple(remote.absent(PartitionFilter()))
    for broker, row in facts.items() if absent else ():
        own = {replica.partition: replica.remote for replica in absent if replica.broker_id == row.broker_id}
        facts[broker] = row._replace(absent_remote=own)
    aborted = {start.broker for start in starts if start.outcome is Outcome.ABORT}
    return judged_together(facts, aborted)


def _logs(
    targets: Iterable[Target], starts: Iterable[LogDirPrediction], broker: object, image: ClusterImage | None,
    log_dirs: LogDirs, remote: RemoteLogs | None,
) -> Iterator[LogFacts]:  # fmt: skip
    """Yield what the logs of a broker show; nothing without predicted starts. `image`: its given metadata."""
    for target, start in zip(targets, starts, strict=False):
        if start.broker != broker or start.view is None:
            continue
        checkpoints = log_dirs.open(target).checkpoints
        looks = looks_into_segments(target.tree)
        for row in start.partitions:
            files = target.tree.directory(join(target.path, row.dir))
            offsets = checkpoints.of(row.directory.topic, row.directory.partition)
            log = log_facts(
                files, start.path, row, offsets, image, clean=start.clean, looks=looks, broker_id=start.broker_id
            )
            if log is not None:
                if row.replica_log is not None and log_dirs.release.exits_out_of_range_without_unclean_election:
                    log = log._replace(replica=as_follower(row.replica_log, offsets))
                if remote is not None:
                    log = with_remote(files, log, row, offsets, remote, start.view.cluster_id, start.broker_id)
                yield log


def as_judged(
    combined: Iterable[LogDirPrediction], by_broker: Mapping[object, tuple[JudgedPremise, ...]]
) -> tuple[LogDirPrediction, ...]:
    """Return the combined starts as the premises of their brokers, by its key, let them be."""
    aborts = {broker: why_not_started(premises) for broker, premises in by_broker.items()}
    offline = why_offline(chain.from_iterable(by_broker.values()))
    made = {row.log_dir for row in chain.from_iterable(by_broker.values()) if is_made(row)}
    return tuple(
        _not_loaded(start, why)
        if why is not None
        else start._replace(outcome=Outcome.OK, reasons=(), uncertain=None, unread=False)
        if start.path in made
        else with_offline(start, offline.get(start.path))
        for start, why in ((start, aborts.get(start.broker)) for start in combined)
    )


def refuted_findings(
    premises: Iterable[JudgedPremise], places: Sequence[Location], release: Release
) -> Iterator[Finding]:
    """Yield a finding for each refuted premise; `places` are the log dirs."""
    yield from premise_findings((row for row in premises if row.status is PremiseStatus.REFUTED), places, release)


def premise_findings(
    premises: Iterable[JudgedPremise], places: Sequence[Location], release: Release
) -> Iterator[Finding]:
    """Yield a finding for each refuted premise, and for open questions about the metadata and the settings."""
    for premise in premises:
        is_open = may_not_serve(premise) and BY_ID[premise.id].kind is not PremiseKind.PRESENCE
        if premise.status is PremiseStatus.REFUTED or is_open:
            where = _place(premise, places)
            where = where._replace(log_dir=premise.log_dir or where.log_dir, dir=premise.partition)
            yield kc315_premise_refuted.finding(where, premise, BY_ID[premise.id], release)


def unreported(premises: Iterable[JudgedPremise], findings: Iterable[Finding]) -> Iterator[JudgedPremise]:
    """Yield the premises for findings without an error of a rule about the same defect of the same directory.

    Such a rule can be milder, as the leader is not known there.
    """
    errors = (row for row in findings if row.severity.rank >= Severity.ERROR.rank)
    known = {(row.where.log_dir, row.where.dir, row.id) for row in errors}
    for premise in premises:
        places = {(premise.log_dir, premise.partition, rule) for rule in BY_ID[premise.id].rules}
        if known.isdisjoint(places):
            yield premise


def _place(premise: JudgedPremise, places: Sequence[Location]) -> Location:
    """Return a log dir of the broker of a premise, with evidence if possible, as two brokers can have one id."""
    own = [where for where in places if where.broker_id == premise.broker_id] or places
    shown = (where for row in premise.evidence for where in own if row.path.startswith(f"{where.log_dir}/"))
    return next(shown, own[0])


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


def _keyless(targets: Iterable[Target], options: StartOptions, log_dirs: LogDirs) -> Iterator[KeylessLog]:
    """Yield the logs with records that the cleaner of a broker deletes at its first run."""
    opened = ((target, log_dirs.open(target)) for target in targets if target.kind is TargetKind.LOG_DIR)
    known = [
        (target, log_dir, image)
        for target, log_dir in opened
        if (image := options.image_of(log_dir.view.cluster_id)) is not None
    ]
    if known:
        from kcheck.survey.keyless_records import KeylessRecords  # reads records: only for a known topic

        keys = KeylessRecords(options.release, options.settings.cleanup_policy)
        for target, log_dir, image in known:
            yield from keys.logs(target.tree, target.path, log_dir, image)


def _image_of(targets: Iterable[Target], options: StartOptions, log_dirs: LogDirs) -> ClusterImage | None:
    """Return the given metadata of the cluster of a broker."""
    images = (options.image_of(log_dirs.open(target).view.cluster_id) for target in targets)
    return next((image for image in images if image is not None), None)


def _not_loaded(start: LogDirPrediction, why: str) -> LogDirPrediction:
    """Return a log dir that no broker loads, so its partitions do not change."""
    reasons = (why, *(reason for reason in start.reasons if reason != why))
    return start._replace(outcome=Outcome.ABORT, reasons=reasons, uncertain=None, partitions=(), unread=False)
