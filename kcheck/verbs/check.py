"""`kcheck check`: runs every rule over the given paths, at the given depth."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Protocol, Self

from kcheck.core.start.unserved import ImageOf
from kcheck.disk.kept import expect_owners
from kcheck.documents.answer import COMPARED_COUNT_MAX, COMPARED_SIZE_MAX, BrokerAnswer, Outcomes, outcomes_of
from kcheck.formats import Format
from kcheck.jobs.workers import Task, Workers
from kcheck.model.depth import Depth
from kcheck.model.entries import Offset
from kcheck.model.finding import Finding, Location
from kcheck.model.names import COMPACTED, parse_file
from kcheck.model.release import Release
from kcheck.model.report import FINDINGS, PartitionFilter, Report
from kcheck.model.views import Different, PartitionView, ReplicasView, ReturningKeys
from kcheck.segments.time_span import TimeSpan
from kcheck.survey.coverage import CheckedCounts, Coverage, Progress
from kcheck.survey.rule_runner import check_cluster, check_replicas, check_segment
from kcheck.survey.segment_scan import SegmentScan
from kcheck.survey.selection import require_match
from kcheck.survey.survey import Survey, requested_format
from kcheck.tables import findings
from kcheck.verbs.next_starts import NextStarts, next_starts
from kcheck.views.log_dir import LogDirs
from kcheck.views.targets import Target, TargetKind, paths_of, replica_targets

_PairAnswer = Different | ReturningKeys | None
"""A difference of two replicas."""
WORTH_SIZE, WORTH_COUNT = 64 << 20, 500
"""Below both limits, starting worker processes costs more time than it saves."""


class ReadOptions(NamedTuple):
    """Options for reading segments; they never change the findings in a segment that is read."""

    jobs: int = 1
    """Worker processes."""
    span: TimeSpan = TimeSpan()
    """The time span that selects segments by their record timestamps."""
    tell: Callable[[Coverage], None] | None = None
    """Called with the progress a few times a second; None without a reader."""


class Watch(Protocol):
    """Looks at the partitions of a check, and compares them after the last."""

    def take(self, cluster_id: str | None, view: PartitionView) -> None:
        """Look at one partition directory."""

    def findings(self, images: ImageOf, release: Release) -> Iterable[Finding]:
        """Return the findings, with the given metadata."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport(BrokerAnswer):
    """The answer of `kcheck check`."""

    depth: Depth
    """The depth to which each file was read."""
    counts: CheckedCounts
    """The total amount that was read."""
    interrupted: tuple[Progress, Progress] | None
    """Done and planned amounts when the user interrupted the check; None if it was not interrupted."""

    def outcomes(self) -> tuple[Self, Outcomes | None]:
        """Return the findings, unless the check was interrupted or large."""
        counts = self.counts
        large = max(counts.partitions, counts.segments) > COMPARED_COUNT_MAX or counts.bytes > COMPARED_SIZE_MAX
        return self, None if large or self.interrupted is not None else outcomes_of(self.collected)

    def report(self) -> Report:
        """Return the answer as rows."""
        body: dict[str, object] = {"depth": str(self.depth)}
        if self.interrupted is not None:
            done, planned = self.interrupted
            body |= {"interrupted": True, "coverage": {"done": done._asdict(), "planned": planned._asdict()}}
        counts = self.counts._asdict()
        if self.counts.segments_skipped is None:
            del counts["segments_skipped"]
        return self.document(
            "check",
            body={**body, "checked": counts},
            table=FINDINGS,
            columns=findings.TABLE.columns,
        )


def check(
    arguments: list[str],
    *,
    depth: Depth,
    as_kind: str | None,
    wanted: PartitionFilter,
    release: Release,
    reading: ReadOptions | None = None,
    log_dirs: LogDirs | None = None,
    starts: NextStarts | None = None,
    metadata: tuple[str, ...] = (),
    config: str | None = None,
    watch: Watch | None = None,
) -> CheckReport:
    """Run every rule over the given paths; an interrupt ends reading, and the report says so.

    `metadata` are copies of the cluster's metadata outside of the paths, `config` is a server.properties. `watch` sees
    every partition too.

    UsageError: a path that does not exist, or a file whose kind neither its name nor `as_kind` gives.
    """
    reading, log_dirs = reading or ReadOptions(), log_dirs or LogDirs(release)
    targets = replica_targets(arguments)
    require_match(targets, wanted)
    expect_owners()
    starts = starts or next_starts(arguments, targets, wanted, log_dirs, metadata, config)
    files = [target for target in targets if target.kind is TargetKind.FILE]
    kinds = {target: requested_format(target.tree, target.path, as_kind) for target in files}
    coverage = Coverage()
    plan = partial(coverage.plan, targets, wanted, reads_segments=depth.reads_segments)
    is_planned, interrupted = reading.jobs > 1 or reading.tell is not None, False
    if is_planned:  # It lists every directory.
        plan()
    with _workers(reading, coverage) as workers:
        scan = SegmentScan(depth, release, workers, window=reading.span, coverage=coverage)
        settle = starts.settled_by(workers)
        survey = Survey(
            wanted=wanted, release=release, deepen=scan.partitions, log_dirs=log_dirs, settle=settle,
            place=starts.placed if depth.reads_segments else starts.in_cluster,
        )  # fmt: skip
        cluster = _Cluster(workers, coverage, targets, compared=depth.reads_segments)
        try:
            for target in targets:
                _examine(target, kinds.get(target), survey, scan, cluster, watch)
            survey.compare()
            of_replicas = [*cluster.findings(release)]
            survey.collected.extend(of_replicas)
            if of_replicas:
                from kcheck.documents.next_start import elect_first  # only for replicas that differ

                survey.collected[:] = elect_first(survey.collected)
            for quorum in starts.quorums():
                survey.collected.extend(check_cluster(quorum, release))
            survey.collected[:] = _with_premises(survey.collected, starts)
            if watch is not None:
                survey.collected.extend(watch.findings(starts.image_of, release))
        except KeyboardInterrupt:
            interrupted = True
            if not is_planned:
                plan()
    return CheckReport(
        release=release,
        depth=depth,
        counts=scan.checked(),
        collected=survey.collected,
        interrupted=(coverage.done(), coverage.goal()) if interrupted else None,
        checked=paths_of(targets),
    )


def _with_premises(findings: list[Finding], starts: NextStarts) -> list[Finding]:
    """Return the findings with the refuted premises of the next starts, and with advice that agrees with these."""
    refuted = [*starts.premises(findings)]
    if not refuted:
        return findings
    from kcheck.documents.wrong_places import of_right_places  # only for refuted premises

    return of_right_places([*findings, *refuted])


def _workers(reading: ReadOptions, coverage: Coverage) -> Workers:
    def done(size: int) -> None:
        coverage.bytes += size

    is_worth = coverage.planned["bytes"] >= WORTH_SIZE or coverage.planned["segments"] >= WORTH_COUNT
    tell = reading.tell
    jobs = reading.jobs if is_worth else 1
    return Workers(jobs, done=done) if tell is None else Workers(jobs, done=done, tick=lambda: tell(coverage))


def _examine(
    target: Target, kind: Format | None, survey: Survey, scan: SegmentScan, cluster: "_Cluster", watch: Watch | None
) -> None:
    """Check one target."""
    match target.kind:
        case TargetKind.LOG_DIR:
            log_dir, views = survey.log_dir(target)
            scan.count_files(log_dir.view.files.values())
            scan.log_dirs += 1
            for view in views:
                cluster.take(log_dir.view.cluster_id, view)
                if watch is not None:
                    watch.take(log_dir.view.cluster_id, view)
            scan.coverage.log_dirs += 1
        case TargetKind.PARTITION:
            for _ in survey.partition(target):
                pass
        case TargetKind.FILE:
            assert kind is not None
            if kind.parse is None:
                _segment(target, survey, scan)
            else:
                small = survey.file(target, kind)
                scan.count_files(() if small is None else (small,))


def _segment(target: Target, survey: Survey, scan: SegmentScan) -> None:
    """Check a single `.log`."""
    folder, slash, name = target.path.rpartition("/")
    files, where = (
        target.tree.directory(folder + slash, follow=True),
        Location(broker_id=target.broker_id, file=target.path),
    )
    for segment in scan.segment(files, name, where, parse_file(name).offset or Offset(0)):
        survey.collected.extend((segment,) if isinstance(segment, Finding) else check_segment(segment, survey.release))


class _Cluster:
    """Collects the replicas of each partition when several brokers are checked."""

    def __init__(self, workers: Workers, coverage: Coverage, targets: Iterable[Target], *, compared: bool) -> None:
        """Take whether to compare records, which is `compared`. One log dir has nothing to collect."""
        self._workers = workers
        self._several = sum(target.kind is TargetKind.LOG_DIR for target in targets) > 1
        self._coverage = coverage
        self._compared = compared
        self._views: dict[tuple[object, ...], dict[int, PartitionView]] = {}

    def take(self, cluster_id: str | None, view: PartitionView) -> None:
        """Keep the parts of a replica that the comparison needs.

        If segments were left out, the batches do not show all epochs. Then the epochs of the file are used.
        """
        broker_id = view.where.broker_id
        if self._several and view.is_replica and broker_id is not None:
            slim = view._replace(files=frozenset(), metadata=None, last_batch=None)
            if view.read is not None and not view.is_read:
                bases = {segment.base_offset for segment in view.read}
                slim = slim._replace(
                    read=None, segments=tuple(segment for segment in view.segments if segment.base_offset in bases)
                )
            self._views.setdefault((cluster_id, view.topic, view.partition), {})[broker_id] = slim

    def findings(self, release: Release) -> Iterator[Finding]:
        """Yield the findings of the rules about replicas."""
        for (replicas, count), answers in self._workers.run(self._groups()):
            yield from (answer for answer in answers if isinstance(answer, Finding))
            different = tuple(answer for answer in answers if isinstance(answer, Different))
            returning = tuple(answer for answer in answers if isinstance(answer, ReturningKeys))
            yield from check_replicas(ReplicasView(replicas, different, count, returning), release)

    def _groups(self) -> Iterator[tuple[tuple[tuple[PartitionView, ...], int], tuple[Task[_PairAnswer], ...]]]:
        """Yield the replicas of each partition that has several, and the highest partition number of its topic.

        To compare the first with each other is a task.
        """
        counts: dict[tuple[object, ...], int] = {}
        for key, by_broker in self._views.items():
            counts[key[:2]] = max(counts.get(key[:2], 0), len(by_broker))
        for key, by_broker in self._views.items():
            replicas = tuple(by_broker[broker_id] for broker_id in sorted(by_broker))
            if counts[key[:2]] > 1:
                yield (replicas, counts[key[:2]]), tuple(self._tasks(replicas)) if self._compared else ()

    def _tasks(self, replicas: tuple[PartitionView, ...]) -> Iterator[Task[_PairAnswer]]:
        from kcheck.segments.replica_difference import first_difference  # imports numpy: only to compare records
        from kcheck.segments.returning_keys import returning_keys

        self._coverage.at = replicas[0].where.dir or ""
        first, *others = (view._replace(read=None, epochs=None) for view in replicas)
        for other in others:
            size = sum(segment.size for view in (first, other) for segment in view.segments)
            self._coverage.planned["bytes"] += size
            yield Task(partial(first_difference, first, other), other.where, size)
            for one, cleaned in ((first, other), (other, first)):
                if cleaned.cleaned and one.topic not in COMPACTED:
                    yield Task(partial(returning_keys, one, cleaned), one.where, size)
