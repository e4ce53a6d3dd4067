"""The predicted next starts, as of `kcheck predict`, which the findings of a command are compared with."""

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, partial
from itertools import chain
from typing import TYPE_CHECKING

from kcheck.model.finding import Finding
from kcheck.model.names import CLUSTER_METADATA, PartitionDirectory
from kcheck.model.release import Release
from kcheck.model.report import PartitionFilter
from kcheck.model.views import LogDir, PartitionView
from kcheck.views.log_dir import LogDirs
from kcheck.views.targets import Target, TargetKind

if TYPE_CHECKING:
    from kcheck.core.cluster.quorum import Quorum
    from kcheck.core.start.predictions import LogDirPrediction
    from kcheck.documents.next_start import StartEffects
    from kcheck.jobs.workers import Workers
    from kcheck.model.cluster import ClusterImage
    from kcheck.model.premises import JudgedPremise
    from kcheck.startup.inputs import Context
    from kcheck.startup.options import StartOptions
    from kcheck.survey.survey import Settle
    from kcheck.views.remote_logs import RemoteLogs


def start_options(
    arguments: list[str],
    wanted: PartitionFilter,
    release: Release,
    metadata: tuple[str, ...] = (),
    config: str | None = None,
) -> "StartOptions":
    """Return the options of a prediction, given at most a server.properties among the arguments.

    `metadata` are copies of the cluster's metadata that the user names.
    """
    from kcheck.startup.options import StartOptions
    from kcheck.views.broker_settings import settings_of

    settings = settings_of(arguments, config, (), release)
    return StartOptions(None, settings, release, wanted, metadata=metadata, config=config)


class NextStarts:
    """Predicts the partitions whose findings claim something of the next start; imports nothing for others."""

    def __init__(
        self,
        targets: Iterable[Target],
        options: "Callable[[], StartOptions]",
        log_dirs: LogDirs,
        *,
        named: bool = False,
    ) -> None:
        """Take what `kcheck predict` would take; `named`: whether that includes metadata outside of the targets."""
        self._named = named
        self._targets = [target for target in targets if target.kind is not TargetKind.FILE]
        self._given = options
        self._log_dirs = log_dirs
        self._log_dir: dict[str, tuple[dict[str, PartitionDirectory], bool, Context]] = {}
        self._known: dict[tuple[str | None, str], StartEffects | None] = {}
        self._premises: Iterable[JudgedPremise] | None = None
        self._remote: RemoteLogs | None = None

    def know(self, log_dirs: "Iterable[LogDirPrediction]", premises: "Iterable[JudgedPremise]") -> None:
        """Take predictions that were made before, and the premises that they rest on."""
        from kcheck.documents.next_start import StartEffects

        release = self._log_dirs.release
        for log_dir in log_dirs:
            self._known.update(
                {(log_dir.path, start.dir): StartEffects(start, release) for start in log_dir.partitions}
            )
        self._premises = premises

    def placed(self, log_dir: LogDir, view: PartitionView) -> PartitionView:
        """Return a partition with its part in remote storage, and as `in_cluster` has it."""
        return self.tiered(log_dir, self.in_cluster(log_dir, view))

    def tiered(self, log_dir: LogDir, view: PartitionView) -> PartitionView:
        """Return a partition with its part in remote storage."""
        if not self._log_dirs.release.has_remote_storage or not log_dir.view.files:
            return view
        if self._remote is None or self._remote is not self._log_dirs.remote:
            from kcheck.views.remote_logs import remote_logs

            self._remote = remote_logs(self._targets, self._log_dirs, self.image_of)
        return self._remote.placed(view, log_dir.view.cluster_id)

    def in_cluster(self, log_dir: LogDir, view: PartitionView) -> PartitionView:
        """Return a partition with its facts from the metadata of its cluster, if that is given."""
        if not self._has_metadata or not log_dir.view.files:
            return view
        context, zookeeper = self._context(log_dir)[2], self._options.zookeeper
        if context.stray_detector is not None:
            from kcheck.startup.log_manager import placed

            return placed(view, log_dir.view, context)
        if zookeeper is not None:
            from kcheck.core.start.startup import Mode
            from kcheck.core.start.zookeeper_replicas import replica_in_zookeeper

            if context.mode is Mode.ZOOKEEPER:
                return view._replace(in_cluster=replica_in_zookeeper(zookeeper, view, log_dir.view))
        return view

    def quorums(self) -> "Iterator[Quorum]":
        """Yield the facts in the given metadata, for each cluster."""
        if self._has_metadata and self._log_dirs.release.kraft_is_production_ready:
            from kcheck.core.cluster.quorum import quorum
            from kcheck.views.metadata_paths import node_directories

            for cluster_id, copies in self._options.copies.items():
                if copies:
                    yield quorum(copies, node_directories(self._targets, cluster_id))

    def image_of(self, cluster_id: str | None) -> "ClusterImage | None":
        """Return the given metadata of a cluster; None without any."""
        return self._options.image_of(cluster_id) if self._has_metadata else None

    @cached_property
    def _has_metadata(self) -> bool:
        """True if metadata is named or in a log dir of the targets. Without it no start is prepared."""
        release, opened = self._log_dirs.release, self._log_dirs.open
        if self._named or not release.kraft_is_production_ready:
            return self._named
        return any(
            directory.topic == CLUSTER_METADATA
            for target in self._targets
            for _, directory in opened(target).directories
        )

    def premises(self, found: Iterable[Finding]) -> "Iterator[Finding]":
        """Yield the refuted premises of the brokers whose log dirs are among the targets.

        Of several brokers also the premises about logs, unless the findings `found` report these.
        """
        log_dirs = [target for target in self._targets if target.kind is TargetKind.LOG_DIR]
        if not log_dirs:
            return
        from kcheck.core.premises.table import NAMED_BY_RULES
        from kcheck.verbs.premises import premise_findings, start_premises, unreported

        judged = self._premises
        places = [self._log_dirs.open(target).view.where for target in log_dirs]
        if judged is None and self._has_metadata and len({where.broker_id for where in places}) > 1:
            named = unreported(self.judged, found)  # the logs of several brokers decide together
        else:
            if judged is None:
                judged = chain.from_iterable(start_premises(log_dirs, self._options, self._log_dirs).values())
            named = (premise for premise in judged if premise.id not in NAMED_BY_RULES)
        yield from premise_findings(named, places, self._log_dirs.release)

    @cached_property
    def judged(self) -> "tuple[JudgedPremise, ...]":
        """The premises of the brokers whose log dirs are among the targets, with the premises about their logs."""
        from kcheck.verbs.predict import prediction_of

        log_dirs = tuple(target for target in self._targets if target.kind is TargetKind.LOG_DIR)
        return prediction_of(log_dirs, self._options, self._log_dirs).premises if log_dirs else ()

    def settled_by(self, workers: "Workers") -> "Settle":
        """Return `settle`, as long as the workers are not interrupted, as a simulated start can take long."""

        def settle(log_dir: LogDir, findings: Iterable[Finding]) -> list[Finding]:
            return list(findings) if workers.is_interrupted else self.settle(log_dir, findings)

        return settle

    def settle(self, log_dir: LogDir, findings: Iterable[Finding]) -> list[Finding]:
        """Return the findings, each with an effect that the next start of its partition has."""
        return [self._settled(log_dir, finding) if finding.claims else finding for finding in findings]

    def _settled(self, log_dir: LogDir, finding: Finding) -> Finding:
        name = finding.where.dir
        start = None if name is None or not log_dir.view.files else self._start(log_dir, name)
        return finding if start is None else start.settled(finding)

    def _start(self, log_dir: LogDir, name: str) -> "StartEffects | None":
        key = (log_dir.view.where.log_dir, name)
        if key not in self._known:
            self._known[key] = self._predicted(log_dir, name)
        return self._known[key]

    @cached_property
    def _options(self) -> "StartOptions":
        from kcheck.verbs.predict import with_copies

        return with_copies(self._targets, self._given(), self._log_dirs)

    def _context(self, log_dir: LogDir) -> "tuple[dict[str, PartitionDirectory], bool, Context]":
        from kcheck.startup.log_manager import start_context

        path = log_dir.view.where.log_dir or ""
        if path not in self._log_dir:
            self._log_dir = {path: (dict(log_dir.directories), *start_context(log_dir, self._options))}
        return self._log_dir[path]

    def _predicted(self, log_dir: LogDir, name: str) -> "StartEffects | None":
        from kcheck.core.start.predictions import Changes
        from kcheck.documents.next_start import StartEffects
        from kcheck.startup.log_manager import load_directories
        from kcheck.survey.recheck import has_left
        from kcheck.verbs.predict import load_below

        path = log_dir.view.where.log_dir or ""
        directories, clean, context = self._context(log_dir)
        if name not in directories:
            return None
        wanted, load = [(name, directories[name])], load_below(self._log_dirs.trees[path], path)
        starts = load_directories(log_dir, wanted, [], load, has_left, clean=clean, context=context)
        start = next(starts, None)
        if start is None:
            return None
        return StartEffects(start._replace(after={}, changes=Changes()), self._log_dirs.release)


def next_starts(
    arguments: list[str],
    targets: Iterable[Target],
    wanted: PartitionFilter,
    log_dirs: LogDirs,
    metadata: tuple[str, ...] = (),
    config: str | None = None,
) -> NextStarts:
    """Return the next starts for the arguments of a command.

    `metadata` are copies that the user names, `config` is a server.properties.
    """
    options = partial(start_options, arguments, wanted, log_dirs.release, metadata, config)
    return NextStarts(targets, options, log_dirs, named=bool(metadata))
