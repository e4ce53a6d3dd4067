"""Reads the segments of partitions from their start, in worker processes if there are several."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import zip_longest
from time import time_ns

from kcheck.formats import metadata_snapshot, producer_snapshot, quorum_state, transaction_index
from kcheck.jobs.workers import Task, Workers
from kcheck.model.depth import Depth
from kcheck.model.entries import Offset
from kcheck.model.finding import Finding, Location
from kcheck.model.names import LIVE, FileKind, files_beside_segments, log_name, parse_file, segment_prefix
from kcheck.model.release import Release
from kcheck.model.segments import AbortedEntry, SegmentView, Transactions
from kcheck.model.source import Files
from kcheck.model.unreadable import UnreadableError
from kcheck.model.views import FileView, PartitionView, SegmentSummary
from kcheck.rules import kc001_unreadable
from kcheck.segments.producer_snapshots import SnapshotChecker, offsets_within, snapshot_offsets
from kcheck.segments.segment import read_segment
from kcheck.segments.swaps import read_swaps
from kcheck.segments.time_span import TimeSpan
from kcheck.segments.transactions import OpenTransactions, continue_transactions
from kcheck.survey.coverage import CheckedCounts, Coverage
from kcheck.survey.rule_runner import check_file
from kcheck.views.partition import view_of

SegmentOrFinding = SegmentView | Finding
"""The content of a segment, or the finding that it cannot be read."""


class SegmentScan:
    """Reads the segments of partitions and counts the work; the caller counts `log_dirs`."""

    def __init__(
        self,
        depth: Depth,
        release: Release,
        workers: Workers,
        *,
        window: TimeSpan | None = None,
        coverage: Coverage | None = None,
    ) -> None:
        """Take the depth, and the time span that selects segments."""
        self.log_dirs = 0
        self._partitions = 0
        self._segments = 0
        self._skipped = 0
        self._files = 0
        self._bytes = 0
        self._depth = depth
        self._release = release
        self._window = window or TimeSpan()
        self._workers = workers
        self.coverage: Coverage = coverage or Coverage()

    def checked(self) -> CheckedCounts:
        """Return the amounts read."""
        return CheckedCounts(
            log_dirs=self.log_dirs,
            partitions=self._partitions,
            segments=self._segments,
            files=self._files,
            bytes=self._bytes,
            segments_skipped=None if self._window == TimeSpan() else self._skipped,
        )

    def count_files(self, files: Iterable[FileView]) -> None:
        """Count small files."""
        for file in files:
            self._files += 1
            self._bytes += file.size

    def partitions(
        self, views: Iterable[PartitionView], is_whole: Callable[[PartitionView], bool], collected: list[Finding]
    ) -> Iterator[PartitionView]:
        """Yield the partitions; read the segments of loaded ones that pass `is_whole`."""
        for (view, tasks), answers in self._workers.run(self._groups(views, is_whole)):
            self._partitions += 1
            self._segments += len(view.segments)
            self.count_files(file for file in (view.epochs, view.metadata) if file is not None)
            self.coverage.partitions += None not in answers
            yield view if tasks is None else self._put_together(view, dict(zip(tasks, answers, strict=True)), collected)

    def segment(self, files: Files, name: str, where: Location, base: Offset) -> Iterator[SegmentOrFinding]:
        """Yield the content of a single `.log`; nothing after an interrupt."""
        task = self._task(files, name, where, base, 0)
        for _, answers in self._workers.run([(None, [task])]):
            for segment in answers:
                if segment is not None:
                    self._segments += 1
                    self._count(segment)
                    yield segment

    def _groups(
        self, views: Iterable[PartitionView], is_whole: Callable[[PartitionView], bool]
    ) -> Iterator[tuple[tuple[PartitionView, tuple[Offset, ...] | None], tuple[Task[SegmentOrFinding], ...]]]:
        """Yield each partition with the base offsets of the segments to read (None for none), and their tasks."""
        for view in views:
            self.coverage.at = view.where.dir or ""
            if not self._depth.reads_segments or view.state not in LIVE or not is_whole(view):
                yield (view, None), ()
                continue
            files, snapshots = _disk_of(view), snapshot_offsets(files_beside_segments(view.files))
            wanted: dict[Offset, Task[SegmentOrFinding]] = {}
            for segment, behind in zip_longest(view.segments, view.segments[1:]):
                base, name = segment.base_offset, log_name(segment.base_offset)
                if self._is_wanted(files, segment, active=behind is None):
                    inside = offsets_within(snapshots, base, None if behind is None else behind.base_offset)
                    wanted[base] = self._task(files, name, view.where.of_file(name), base, segment.size, inside)
            yield (view, tuple(wanted)), tuple(wanted.values())

    def _task(
        self, files: Files, name: str, where: Location, base: Offset, size: int, inside: tuple[Offset, ...] = ()
    ) -> Task[SegmentOrFinding]:
        run = partial(
            _examined, files, name, where, base, cuts=inside, verify=self._depth.verifies,
            decode=self._depth is Depth.RECORDS, reads_zstd=self._release.reads_zstd,
        )  # fmt: skip
        return Task(run, where, size)

    def _is_wanted(self, files: Files, segment: SegmentSummary, *, active: bool) -> bool:
        """Return whether to read a segment; count it if not."""
        if not self._window.excludes(files, segment.base_offset, active=active):
            return True
        self._skipped += 1
        self.coverage.planned["bytes"] -= segment.size
        return False

    def _put_together(
        self, view: PartitionView, answers: dict[Offset, SegmentOrFinding | None], collected: list[Finding]
    ) -> PartitionView:
        """Return a partition with the segments that were read, each with its open transactions and producers.

        After a segment that was not read these are unknown.
        """
        small = self._small_files(view, collected)
        read: list[SegmentView] = []
        open_before: OpenTransactions | None = {}
        producers = SnapshotChecker({name: file for name, file in small.items() if name.endswith(".snapshot")})
        for segment, behind in zip_longest(view.segments, view.segments[1:]):
            answer = answers.get(segment.base_offset)
            producers.take(answer.producers if isinstance(answer, SegmentView) else None, segment.base_offset)
            if answer is None:
                open_before = None
                self._segments -= segment.base_offset in answers
                continue
            if isinstance(answer, Finding):
                open_before = None
                collected.append(answer)
                continue
            self._count(answer)
            prefix = segment_prefix(segment.base_offset)
            open_before, transactions = continue_transactions(open_before, answer.transactions)
            names = (prefix + ".log", prefix + ".index", prefix + ".timeindex")
            followed = answer._replace(
                transactions=transactions,
                producers=None,
                stated=_stated(small.get(prefix + ".txnindex"), transactions) if small else (),
                files=view.files.intersection(names),
                active=behind is None,
                scanned=_scanned(view, None if behind is None else behind.base_offset),
            )
            read.append(followed)
            if followed.unread:
                collected.extend(_unread(followed, view.directories))
        swaps = tuple(read_swaps(view, _disk_of(view), collected, verify=self._depth.verifies))
        return view._replace(now=time_ns() // 1_000_000, read=tuple(read), producers=producers.view(), swaps=swaps)

    def _small_files(self, view: PartitionView, collected: list[Finding]) -> dict[str, FileView]:
        """Return the transaction indexes and producer snapshots by name, and run their rules."""
        files, views = _disk_of(view), dict[str, FileView]()
        for name in files_beside_segments(view.files - view.directories):
            named = parse_file(name)
            kind = None if named.suffix else _RULED.get(named.kind)
            if kind is not None:
                where = view.where._replace(file=name)
                try:
                    views[name] = view_of(files.read_whole(name), kind, where, self._release)
                except UnreadableError as error:
                    collected.append(kc001_unreadable.finding(where, error.why))
                else:
                    collected.extend(check_file(views[name], self._release))
        self.count_files(views.values())
        return views

    def _count(self, segment: SegmentOrFinding) -> None:
        """Count the files of a segment."""
        if isinstance(segment, SegmentView):
            for file in (segment, segment.offset_index, segment.time_index):
                if file is not None:
                    self._files += 1
                    self._bytes += file.size


def _disk_of(view: PartitionView) -> Files:
    assert view.disk is not None
    return view.disk


def _examined(
    files: Files, name: str, where: Location, base: Offset, *, cuts: tuple[Offset, ...], **how: bool
) -> SegmentOrFinding:
    """Return the content of a segment, or KC001 if it cannot be read."""
    try:
        return read_segment(files, name, where, base, cuts=cuts, **how)
    except UnreadableError as error:
        return kc001_unreadable.finding(where, error.why)


_RULED = {
    FileKind.TRANSACTION_INDEX: transaction_index.FORMAT,
    FileKind.PRODUCER_SNAPSHOT: producer_snapshot.FORMAT,
    FileKind.METADATA_SNAPSHOT: metadata_snapshot.FORMAT,
    FileKind.QUORUM_STATE: quorum_state.FORMAT,
}
"""The small files of a partition directory that a read of the tail skips."""


def _stated(view: FileView | None, transactions: Transactions | None) -> tuple[AbortedEntry, ...]:
    """Return a segment's aborted transactions according to its transaction index; empty without one."""
    if view is None or transactions is None or not transactions.aborted:
        return ()
    wanted = {
        (aborted_transaction.producer_id, aborted_transaction.last_offset)
        for aborted_transaction in transactions.aborted
    }
    return tuple(
        AbortedEntry(txn.producer_id, Offset(txn.first_offset), Offset(txn.last_offset), Offset(txn.last_stable_offset))
        for txn in view.parsed.value
        if (txn.producer_id, txn.last_offset) in wanted
    )


def _unread(view: SegmentView, directories: frozenset[str]) -> Iterator[Finding]:
    """Yield a finding for each index that cannot be read, but for `directories` (KC233)."""
    for ending, why in view.unread.items():
        name = segment_prefix(view.base_offset) + ending
        if name in view.files and name not in directories:
            yield kc001_unreadable.finding(view.where._replace(file=name), why)


def _scanned(view: PartitionView, next_base: Offset | None) -> bool | None:
    """Return whether log recovery reads a segment (from the recovery point's on, after an unclean shutdown).

    See LogLoader.recoverLog. Without a recovery point it reads from the log start. It always reads a metadata log.
    """
    if view.is_metadata_log:
        return True
    if view.clean_shutdown is None:
        return None
    return not view.clean_shutdown and (next_base is None or next_base > (view.recovery_point or 0))
