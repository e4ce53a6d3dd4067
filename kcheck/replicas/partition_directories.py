"""The partition directories of all brokers of a command, and the brokers, as their next starts leave them."""

from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import chain

from kcheck.core.cluster.copies import MetadataCopy
from kcheck.core.election.election import BrokerStart
from kcheck.core.election.plans import CopyState, PartitionElection
from kcheck.core.election.recovery_plan import BrokerLogDir
from kcheck.core.election.start_losses import RemovedAtStart
from kcheck.core.premises.presence import LOG_DIRS_NAMED, lacks_log_dirs
from kcheck.core.start.predictions import LogDirPrediction
from kcheck.core.start.startup import Mode, Outcome
from kcheck.core.start.strays import registers_cleanly
from kcheck.disk.paths import join, split
from kcheck.disk.signals import held_back
from kcheck.errors import UsageError
from kcheck.model.cluster import ClusterImage
from kcheck.model.entries import Offset
from kcheck.model.finding import Finding
from kcheck.model.names import CONSUMER_OFFSETS, META_PROPERTIES, REPLICATION_OFFSET
from kcheck.model.premises import JudgedPremise, PremiseStatus
from kcheck.model.report import PartitionFilter
from kcheck.model.source import Files
from kcheck.model.views import LogDirView
from kcheck.replicas.aside import AsideSearch, TopicName, aside_below, aside_near
from kcheck.replicas.candidates import BrokerHere, ClusterHere, ReplicaCopy, copy_of, salvaged
from kcheck.replicas.group_offsets import CommittedOffsets, GroupOffset, committed_offsets
from kcheck.replicas.loading import ReplicaFiles, started
from kcheck.replicas.removed_at_start import removed_at_start
from kcheck.startup.options import StartOptions
from kcheck.verbs.predict import start_of, with_copies
from kcheck.verbs.premises import judged_starts
from kcheck.views.log_dir import LogDirs, open_single_partition, partitions
from kcheck.views.remote_logs import remote_logs
from kcheck.views.settings_files import names_no_other
from kcheck.views.targets import Target, TargetKind


class PartitionDirectories:
    """The partition directories of all brokers, as their next starts leave them."""

    def __init__(
        self,
        targets: tuple[Target, ...],
        options: StartOptions,
        image: ClusterImage | None,
        collected: list[Finding],
        log_dirs: LogDirs,
        *,
        aside: Iterable[str] = (),
    ) -> None:
        """Read the directories, and simulate the next start of every broker; findings go into `collected`.

        `aside` are the paths that the user names as moved aside.
        """
        self._log_dirs = log_dirs
        apart = [target for target in targets if self._is_aside(target, targets)]
        targets = tuple(target for target in targets if target not in apart)
        self._targets, self._release, self._image = targets, options.release, image
        options = with_copies(targets, options, self._log_dirs)
        self.copies: tuple[MetadataCopy, ...] = tuple(chain.from_iterable(options.copies.values()))
        self._files: dict[tuple[str, int], list[tuple[str, ReplicaFiles]]] = {}
        self.unread: tuple[int, ...]
        self.premises: tuple[JudgedPremise, ...]
        starts, self.unread = self._started(targets, options, collected)
        targets, self._targets = (targets[: len(starts)],) * 2
        with held_back() as came:
            judged, self.premises = judged_starts(
                targets, starts, options, self._log_dirs, collected, one_cluster=True, reads_keys=True
            )
        self.is_interrupted: bool = bool(came)
        self.left_out: tuple[BrokerLogDir, ...] = tuple(log_dirs_not_named(self.premises))
        predicted = list(judged)
        self.starts: dict[str, LogDirPrediction] = {
            target.path: start for target, start in zip(targets, predicted, strict=True)
        }
        """The predicted starts, by the paths of the targets."""
        self._starts = {
            (target.path, row.dir): row
            for target, start in zip(targets, predicted, strict=True)
            for row in start.partitions
        }
        with_files = [start for start in predicted if start.view is not None and start.view.files]
        self.kraft: bool = options.release.is_kraft_only or any(start.mode is Mode.KRAFT for start in with_files)
        self.brokers: dict[int, BrokerHere] = self._brokers(predicted, image)
        search = AsideSearch(self._topics(image), options.wanted, options.release)
        self._aside: dict[tuple[str, int], dict[str, ReplicaFiles]] = {}
        for files in chain(
            chain.from_iterable(self._read(target, options.wanted) for target in apart),
            chain.from_iterable(aside_below(argument, search) for argument in aside),
            aside_near(targets, self._log_dirs, search),
        ):
            self._aside.setdefault(files.key, {}).setdefault(files.tree.real(files.path), files)

    def _started(
        self, targets: tuple[Target, ...], options: StartOptions, collected: list[Finding]
    ) -> tuple[list[LogDirPrediction], tuple[int, ...]]:
        """Return the next starts of log dirs, and the brokers whose log dirs were not all read.

        These brokers are left out. KeyboardInterrupt if the log dirs of the first broker were not all read.
        """
        starts: list[LogDirPrediction] = []
        try:
            for target in targets:
                for files in self._read(target, options.wanted):
                    self._files.setdefault(files.key, []).append((target.path, files))
                starts.append(start_of(target, options, collected, self._log_dirs))
        except KeyboardInterrupt:
            brokers = [self._broker_of(target) for target in targets]
            unread = {number for number in brokers[len(starts) :] if number is not None}
            read = next((at for at, number in enumerate(brokers) if number in unread), len(starts))
            if not read:
                raise
            kept = {target.path for target in targets[:read]}
            rows = ((key, [place for place in places if place[0] in kept]) for key, places in self._files.items())
            self._files = {key: places for key, places in rows if places}
            return starts[:read], tuple(sorted({number for number in brokers[read:] if number is not None}))
        return starts, ()

    def removed(self, elections: Iterable[PartitionElection]) -> tuple[RemovedAtStart, ...]:
        """Return the records that brokers remove for good when they start."""
        return tuple(removed_at_start(elections, self._targets, self.starts))

    def disk_of(self, row: RemovedAtStart) -> Files:
        """Return the files of a log outside of bundles, before its broker starts."""
        own, name = (target for target in self._targets if not target.tree.is_bundle), split(row.path)[1]
        return next(target.tree for target in own if join(target.log_dir, name) == row.path).directory(row.path)

    @property
    def partitions(self) -> Iterable[tuple[str, int]]:
        """The partitions that have a directory."""
        return self._files.keys()

    def every(self, cluster: ClusterHere) -> list[tuple[str, int]]:
        """Return every partition that has a directory or is in the metadata, without the metadata log."""
        image = cluster.image
        named = {(topic.name, number) for topic, number, _ in image.partitions()} if image is not None else set()
        return sorted({*(row for row in self.partitions if row[0] not in cluster.deleting), *named})

    def of(self, topic: str, partition: int) -> tuple[ReplicaCopy, ...]:
        """Return the directories of a partition."""
        copies, left_out = [], {row.path for row in self.left_out}
        for path, files in self._files.get((topic, partition), ()):
            if path in left_out:
                copies.append(salvaged(files, CopyState.ASIDE, self._release))
                continue
            start = self._starts.get((path, files.view.where.dir or ""))
            copies.append(copy_of(files, start, self.brokers[files.view.where.broker_id or 0], self._release))
        asides = self._aside.get((topic, partition), {}).values()
        return (*copies, *(salvaged(files, CopyState.ASIDE, self._release) for files in asides))

    def marks(self, topic: str, partition: int) -> dict[int, Offset]:
        """Return the checkpointed high watermarks of a partition, by broker; its log may be missing."""
        by_broker: dict[int, Offset] = {}
        for target in self._targets:
            view = self._log_dirs.open(target).view
            number, file = view.where.broker_id, view.files.get(REPLICATION_OFFSET)
            mark = None if file is None else file.parsed.value.by_topic({topic}).get(topic, {}).get(partition)
            if number is not None and mark is not None:
                by_broker[number] = max(mark, by_broker.get(number, mark))
        return by_broker

    def offsets(self, topic: str, partition: int) -> tuple[GroupOffset, ...] | None:
        """Return the committed offsets of consumer groups in a partition.

        None without a replica of these offsets. None also if the partition has no known offset and some cannot be read.
        """
        if self._committed is None:
            return None
        return self._committed.by_partition.get((topic, partition), () if self._committed.is_complete else None)

    @cached_property
    def _committed(self) -> CommittedOffsets | None:
        wanted = PartitionFilter(topics=(CONSUMER_OFFSETS,))
        replicas = [files for target in self._targets for files in self._read(target, wanted) if files.view.is_replica]
        logs = (started(files, self._release).logs for files in replicas)
        return committed_offsets(logs) if replicas else None

    def _is_aside(self, target: Target, targets: Iterable[Target]) -> bool:
        """Return whether a partition directory is in no log dir, although log dirs of its broker are named too."""
        if target.kind is not TargetKind.PARTITION or self._log_dirs.open(target._replace(broker_id=None)).view.files:
            return False
        others = (other for other in targets if other.kind is TargetKind.LOG_DIR)
        return any(self._broker_of(other) == target.broker_id for other in others)

    def _broker_of(self, target: Target) -> int | None:
        return self._log_dirs.open(target).view.where.broker_id

    def _topics(self, image: ClusterImage | None) -> dict[str, TopicName]:
        """Return the topics by id, from the cluster, or without metadata from the directories here."""
        if image is not None:
            return {number: TopicName(row.name, len(row.partitions)) for number, row in image.topics_by_id.items()}
        views = (files.view for places in self._files.values() for _, files in places)
        return {view.topic_id: TopicName(view.topic, None) for view in views if view.topic_id and view.is_replica}

    def _read(self, target: Target, wanted: PartitionFilter) -> Iterator[ReplicaFiles]:
        """Yield the directories of a target; UsageError if its broker is unknown, or another one than named."""
        if target.kind is TargetKind.PARTITION:
            view, log_dir = open_single_partition(target, walk_all=False, log_dirs=self._log_dirs)
            views = [] if view is None or not wanted.has(view.topic, view.partition) else [view]
        else:
            log_dir = self._log_dirs.open(target)
            views = [*partitions(target.tree, log_dir, wanted=wanted, walk_all=False, release=self._release)]
        if log_dir.view.where.broker_id is None:
            raise UsageError(f"{target.path}: no broker id; write BROKER={target.path}")
        if self._release.has_remote_storage:
            remote = remote_logs(self._targets, self._log_dirs, lambda _: self._image)
            views = [remote.placed(view, log_dir.view.cluster_id) for view in views]
        files = log_dir.view if log_dir.view.files else None
        yield from (ReplicaFiles(target.path, view, files, target.tree) for view in views if not view.is_metadata_log)

    def _brokers(self, starts: list[LogDirPrediction], image: ClusterImage | None) -> dict[int, BrokerHere]:
        """Return the state of the brokers after they have started; a controller alone does not count.

        Without metadata a broker that does not start counts. Its replicas may be on a disk that is not here.
        """
        with_replicas = {files.view.where.broker_id for places in self._files.values() for _, files in places}
        assigned = set() if image is None else image.brokers.keys() | _replicas_in(image)
        by_broker: dict[int, list[LogDirPrediction]] = {}
        partial, own = set(), dict[int, list[Target]]()
        of_parts = {row.broker_id for row in self.premises if lacks_log_dirs(row)}
        for target, start in zip(self._targets, starts, strict=True):
            number = self._broker_of(target)
            if number is not None:
                own.setdefault(number, []).append(target)
            if (number, target.path) in self.left_out:
                continue
            may_lack = image is None and start.outcome is Outcome.ABORT
            if number is not None and (may_lack or number in with_replicas or number in assigned):
                by_broker.setdefault(number, []).append(start)
                partial |= {number} if target.kind is TargetKind.PARTITION else set()
        return {
            number: broker_here(
                number,
                log_dirs,
                image,
                is_complete=number not in partial,
                has_all=names_no_other(own[number]),
                is_part=number in of_parts,
            )
            for number, log_dirs in sorted(by_broker.items())
        }


def _replicas_in(image: ClusterImage) -> set[int]:
    """Return the brokers that the metadata assigns a replica."""
    return {number for _, _, partition in image.partitions() for number in partition.replicas}


def broker_here(
    number: int,
    starts: list[LogDirPrediction],
    image: ClusterImage | None,
    *,
    is_complete: bool,
    has_all: bool = False,
    is_part: bool = False,
) -> BrokerHere:
    """Return the state of a broker, by the predictions of its log dirs.

    With `has_all` its settings name no other log dir. The broker then makes replicas in other registered log dirs
    again. `is_part` is true if other log dirs are not given.
    """
    registration = None if image is None else image.brokers.get(number)
    epoch = None if registration is None else registration.epoch
    online = [start for start in starts if start.outcome is not Outcome.OFFLINE]
    failed = next((start for start in starts if start.outcome is Outcome.ABORT), None if online else starts[0])
    clean = len(online) == len(starts) and all(
        registers_cleanly(clean=start.clean, shutdown_epoch=start.shutdown_epoch, broker_epoch=epoch)
        for start in starts
    )
    ids = frozenset(start.view.directory_id for start in online if start.view is not None and start.view.directory_id)
    known = set() if registration is None else set(registration.log_dirs)
    loaded = [None if start.view is None else start.view.directory_id for start in starts]
    is_short = has_all and None not in loaded and not known <= {*loaded}
    return BrokerHere(
        start=BrokerStart(number, clean),
        problem=None if failed is None else (failed.reasons[0] if failed.reasons else str(failed.outcome)),
        log_dirs=ids,
        is_complete=is_complete and len(online) == len(starts) and (known <= ids or is_short),
        has_new_log_dir=is_short or (bool(known) and any(_is_new(start.view, known) for start in online)),
        is_part=is_part,
        offline={start.path: next(iter(start.reasons), str(start.outcome)) for start in starts if start not in online},
        is_clean=all(start.clean for start in starts),
    )


def log_dirs_not_named(premises: Iterable[JudgedPremise]) -> Iterator[BrokerLogDir]:
    """Yield the log dirs with partitions that log.dirs does not name."""
    for row in premises:
        is_named = row.id != LOG_DIRS_NAMED or row.status is not PremiseStatus.REFUTED
        if not is_named and row.broker_id is not None and row.log_dir is not None:
            yield BrokerLogDir(row.broker_id, row.log_dir)


def _is_new(log_dir: LogDirView | None, known: set[str]) -> bool:
    """Return whether the cluster does not know a log dir; a copy without meta.properties may be of any."""
    return log_dir is not None and META_PROPERTIES in log_dir.files and log_dir.directory_id not in known
