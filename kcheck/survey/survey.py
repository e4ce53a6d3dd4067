"""Reads log dirs, partitions and files and runs the rules over them; the verb decides what to show."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from kcheck.disk.local import LOCAL
from kcheck.disk.paths import join, split
from kcheck.disk.tree import Tree
from kcheck.errors import UsageError, no_such_file
from kcheck.formats import Format, all_formats, format_of
from kcheck.model.finding import Finding, Location
from kcheck.model.names import AIVEN_ENDINGS, PARTITION_METADATA, local_name, parse_directory
from kcheck.model.release import Release
from kcheck.model.report import PartitionFilter
from kcheck.model.unreadable import UnreadableError
from kcheck.model.views import FileView, LogDir, LogDirView, PartitionView
from kcheck.rules import kc001_unreadable
from kcheck.survey.recheck import confirmed, remaining, suspects
from kcheck.survey.rule_runner import (
    check_broker,
    check_file,
    check_log_dir,
    check_partition,
    topic_ids_of,
    with_evidence,
)
from kcheck.views.log_dir import LogDirs, open_log_dir, open_single_partition, partitions
from kcheck.views.partition import view_of
from kcheck.views.targets import Target, broker_of

if TYPE_CHECKING:
    from kcheck.core.cluster.copies import MetadataCopy

Deepen = Callable[[Iterable[PartitionView], Callable[[PartitionView], bool], list[Finding]], Iterator[PartitionView]]
"""Reads the segments of the partitions that the second argument selects, and yields all partitions in order.

It may read several at a time. It yields findings about unreadable files.
"""

Settle = Callable[[LogDir, Iterable[Finding]], list[Finding]]
"""Holds what findings in a log dir claim of the next start against its prediction."""


Place = Callable[[LogDir, PartitionView], PartitionView]
"""Adds to a partition in a log dir what the metadata of its cluster say of it."""


def _unplaced(_: LogDir, view: PartitionView) -> PartitionView:
    return view


def _unsettled(_: LogDir, findings: Iterable[Finding]) -> list[Finding]:
    return list(findings)


class Survey:
    """Reads the targets of one command; `collected` grows while its views are consumed."""

    def __init__(
        self,
        *,
        wanted: PartitionFilter,
        release: Release,
        walk_all: bool = False,
        deepen: Deepen | None = None,
        is_second_read: bool = False,
        log_dirs: LogDirs | None = None,
        settle: Settle = _unsettled,
        place: Place = _unplaced,
    ) -> None:
        """Take the options; `walk_all` reads every segment completely.

        `log_dirs` are shared with other parts of the command. `settle` asks the prediction of the next start. `place`
        asks the metadata of the cluster.
        """
        self.collected: list[Finding] = []
        self._wanted = wanted
        self.release = release
        self._walk_all = walk_all
        self._deepen = deepen
        self._is_second_read = is_second_read
        self._log_dirs = log_dirs or LogDirs(release)
        self._settle, self._place = settle, place
        self._by_broker: dict[object, dict[str, LogDirView]] = {}
        self._topic_ids: dict[str, set[str]] = {}

    def log_dir(self, target: Target) -> tuple[LogDir, Iterator[PartitionView]]:
        """Return a log dir, and an iterator of its partitions."""
        log_dir = self._log_dirs.open(target)
        return log_dir, self._partitions(target, log_dir)

    def partition(self, target: Target) -> Iterator[PartitionView]:
        """Yield a partition directory given as an argument; nothing if it cannot be read."""
        view, log_dir = open_single_partition(target, walk_all=self._walk_all, log_dirs=self._log_dirs)
        self.collected.extend(log_dir.findings)
        yield from self._checked(() if view is None else (self._place(log_dir, view),), log_dir)

    def file(self, target: Target, kind: Format) -> FileView | None:
        """Return a small file given as an argument; None if it cannot be read."""
        try:
            data = target.tree.read_whole(target.path, follow=True)
        except UnreadableError as error:
            self.unreadable(target, error)
            return None
        where = Location(broker_id=target.broker_id, file=target.path)
        view = view_of(data, kind, where._replace(file=split(target.path)[1]), self.release)._replace(where=where)
        self.collected.extend(check_file(view, self.release))
        return view

    def unreadable(self, target: Target, error: UnreadableError) -> None:
        """Report that a file given as an argument cannot be read."""
        where = Location(broker_id=target.broker_id, file=target.path)
        self.collected.append(kc001_unreadable.finding(where, error.why))

    def compare(self) -> None:
        """Run the rules that compare the log dirs of each broker, after all have been read.

        Then findings have only repairs with evidence.
        """
        for same in self._by_broker.values():
            self._collect(check_broker(tuple(map(remaining, same.values())), self.release, self._copy_in))
        self.collected[:] = [with_evidence(finding, self._topic_ids) for finding in self.collected]

    def _copy_in(self, view: LogDirView, name: str) -> "MetadataCopy | None":
        path = view.where.log_dir or ""
        return self._log_dirs.copy(self._log_dirs.trees[path], join(path, name), view.where.broker_id)

    def _partitions(self, target: Target, log_dir: LogDir) -> Iterator[PartitionView]:
        """Yield the partitions, then run the rules of the log dir on a summary of them."""
        light: list[PartitionView] = []

        def views() -> Iterator[PartitionView]:
            for read in partitions(
                target.tree, log_dir, wanted=self._wanted, walk_all=self._walk_all, release=self.release
            ):
                view = self._place(log_dir, read)
                self._know_topic(view)
                named = view.files & {PARTITION_METADATA}
                light.append(view._replace(epochs=None, metadata=None, segments=(), last_batch=None, files=named))
                yield view

        before = len(self.collected)
        yield from self._checked(views(), log_dir)
        unread = {finding.where.dir for finding in log_dir.findings if finding.where.dir is not None}
        log_dir_view = whole_log_dir(log_dir, light)
        of_log_dir = checked_log_dir(log_dir_view, unread, light, self.release)
        self._collect(self._settle(log_dir, of_log_dir))
        self.collected.extend(log_dir.findings)
        is_with_all = target.config is not None or target.folder is not None
        self._by_broker.setdefault(broker_of(target, log_dir_view), {}).setdefault(
            target.tree.real(target.path), log_dir_view._replace(is_with_all=is_with_all)
        )
        if not self._is_second_read:
            self.collected[before:] = self._confirmed(target, self.collected[before:])

    def _know_topic(self, view: PartitionView) -> None:
        """Remember the id of a topic, on a disk or in the metadata."""
        self._topic_ids.setdefault(view.topic, set()).update(topic_ids_of(view))

    def _confirmed(self, target: Target, findings: list[Finding]) -> list[Finding]:
        """Return the findings of a log dir; if it is in use, only findings that a second read confirms."""
        suspect = suspects(target.path, findings)
        if not suspect:
            return findings
        target = target._replace(tree=LOCAL)  # It reads everything anew; only this machine's log dirs are in use.
        log_dir = open_log_dir(target.tree, target.path, target.broker_id, self.release)
        self._log_dirs.remote = None  # The broker may have copied segments meanwhile.
        named = tuple(directory for directory in log_dir.directories if directory[0] in suspect)
        second = Survey(
            wanted=self._wanted, release=self.release, walk_all=self._walk_all, deepen=self._deepen,
            is_second_read=True, place=self._place,
        )  # fmt: skip
        deque(second._partitions(target, log_dir._replace(directories=named)), maxlen=0)
        return confirmed(suspect, findings, second.collected)

    def _checked(self, views: Iterable[PartitionView], log_dir: LogDir) -> Iterator[PartitionView]:
        """Run the rules of partitions; skip a partition with unreadable parts, which rules would report as missing."""
        unread: set[str | None] = set()
        known = 0

        def is_whole(view: PartitionView) -> bool:
            nonlocal known
            if len(log_dir.findings) > known:
                unread.update(finding.where.dir for finding in log_dir.findings[known:])
                known = len(log_dir.findings)
            return view.where.dir not in unread

        before = len(self.collected)
        for view in views if self._deepen is None else self._deepen(views, is_whole, self.collected):
            if is_whole(view):
                self.collected.extend(check_partition(view, self.release))
            if len(self.collected) > before:
                self.collected[before:] = self._settle(log_dir, self.collected[before:])
                before = len(self.collected)
            yield view

    def _collect(self, findings: Iterable[Finding]) -> None:
        """Keep findings about no partition, or about a selected one."""
        self.collected.extend(finding for finding in findings if concerns(finding, self._wanted))


def concerns(finding: Finding, wanted: PartitionFilter) -> bool:
    """Return whether a finding is about no partition, or about a selected one."""
    where = finding.where
    return where.topic is None or where.partition is None or wanted.has(where.topic, where.partition)


def whole_log_dir(log_dir: LogDir, seen: list[PartitionView]) -> LogDirView:
    """Return a log dir with all its partitions; for those `seen`, with the summary that its rules need."""
    return log_dir.view._replace(partitions=(*seen, *_unseen(log_dir, seen)))


def checked_log_dir(
    log_dir_view: LogDirView, unread: set[str], seen: list[PartitionView], release: Release
) -> Iterator[Finding]:
    """Run the rules of a log dir, without findings about directories that are `unread` or were not seen."""
    unread = unread | {view.where.dir or "" for view in log_dir_view.partitions[len(seen) :]}
    return (finding for finding in check_log_dir(log_dir_view, release) if finding.where.dir not in unread)


def _unseen(log_dir: LogDir, seen: list[PartitionView]) -> Iterator[PartitionView]:
    """Yield the partitions of a log dir that were not selected or could not be read, but that exist."""
    names = {name for name, _ in log_dir.directories} | {finding.where.dir or "" for finding in log_dir.findings}
    for name in sorted(names - {view.where.dir for view in seen}):
        directory = parse_directory(name)
        if directory is not None:
            where = log_dir.view.where._replace(dir=name, topic=directory.topic, partition=directory.partition)
            yield PartitionView(
                where=where, topic=directory.topic, partition=directory.partition, state=directory.state
            )


def requested_format(tree: Tree, path: str, as_kind: str | None) -> Format:
    """Return the format of a file; UsageError if neither its name nor `--as` gives it."""
    if not tree.exists(path):
        raise UsageError(no_such_file(path))
    if as_kind is None:
        known_format = format_of(local_name(path.rpartition("/")[2]))
    else:
        known_format = next((known for known in all_formats() if known.kind == as_kind), None)
    if known_format is not None:
        return known_format
    known = ", ".join(sorted(known.kind for known in all_formats()))
    if as_kind is None:
        try:
            tree.size(path)
        except UnreadableError as error:  # It may be a directory without permission.
            raise UsageError(f"{path}: {error}") from error
        if path.endswith(AIVEN_ENDINGS):
            raise UsageError(f"{path}: an object of the Aiven plugin, which only kcheck tiered --store reads")
        raise UsageError(f"{path}: not a Kafka file name; for example: --as segment (kcheck help paths)")
    raise UsageError(f"--as {as_kind}: not one of {known}")
