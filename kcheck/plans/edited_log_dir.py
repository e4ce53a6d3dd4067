"""A log dir with planned edits, in memory. Nothing is written."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any

from kcheck.core.cluster.topic_ids import TopicIdHistory
from kcheck.core.start.predictions import LogDirPrediction, PartitionPrediction
from kcheck.disk.tree import Tree
from kcheck.formats import Format, offset_checkpoint
from kcheck.model.cluster import ClusterImage, PartitionRegistration
from kcheck.model.entries import Offset, OffsetEntry
from kcheck.model.finding import Finding
from kcheck.model.names import CLEAN_SHUTDOWN, LIVE, LOG_START, RECOVERY_POINT, REPLICATION_OFFSET, PartitionDirectory
from kcheck.model.release import Release
from kcheck.model.unreadable import UnreadableError
from kcheck.model.views import LogDir, LogDirView
from kcheck.plans.edited_partition import EditedPartition
from kcheck.repairs import Edit, EntryEdit, Owner, RenameEdit, WriteEdit, serialized
from kcheck.startup.inputs import Context, LoadInputs
from kcheck.startup.log_manager import load_directories, log_dir_start, start_context
from kcheck.startup.options import StartOptions
from kcheck.survey.recheck import has_left
from kcheck.views.log_dir import FILES, checkpoints_of
from kcheck.views.partition import view_of

_INPUTS = {RECOVERY_POINT: "recovery_point", REPLICATION_OFFSET: "high_watermark", LOG_START: "log_start"}
"""The values of a partition that the broker takes from the checkpoints."""


class EditedLogDir:
    """One log dir."""

    def __init__(
        self,
        tree: Tree,
        log_dir: LogDir,
        view: LogDirView,
        broker: object,
        options: StartOptions,
        findings: tuple[Finding, ...],
    ) -> None:
        """Take the present log dir.

        `view` is complete. `findings` are about the log dir, not a partition. `broker` is equal for all log dirs of a
        broker.
        """
        self.path: str = view.where.log_dir or ""
        self.tree: Tree = tree
        self._disk = tree.directory(self.path)
        self.broker = broker
        self.view: LogDirView = view
        self.findings: tuple[Finding, ...] = findings
        self.release: Release = options.release
        self._opened, self._wish = log_dir, options
        self.partitions: tuple[EditedPartition, ...] = ()
        self.siblings: tuple[EditedLogDir, ...] = ()
        self.topic_ids: Mapping[str, Mapping[str, str]] = {}
        self.is_with_all_siblings = False
        self.owner: Owner | None = None
        self.adopts = False
        self.topic_id_histories: Mapping[str, TopicIdHistory] = {}
        self.image: ClusterImage | None = None
        self.small: dict[str, bytes | None] = {}
        self._entries: dict[str, dict[tuple[str, int], Offset]] = {}
        self._unwritten: set[str] = set()
        self.lines_changed: set[str] = set()
        self.gone: set[str] = set()
        self._planned: dict[int, Finding] = {}
        self._touched: dict[str, Callable[[], None]] = {}
        self.real: str = self.path
        self._now: tuple[object, LogDir] | None = None
        self._starts: dict[str, tuple[int, PartitionPrediction | None]] = {}

    @property
    def is_listed(self) -> bool:
        """True if its directory could be read."""
        return self._opened.unlisted is None

    @cached_property
    def context(self) -> Context:
        """The settings of the broker, and its release."""
        return start_context(self._edited(), self._wish)[1]

    def registration(self, topic: str, partition: int) -> PartitionRegistration | None:
        """Return a partition as the given metadata has it now, by the name of its topic."""
        known = None if self.image is None else self.image.topics.get(topic)
        return None if known is None else known.partitions.get(partition)

    def read(self, name: str) -> bytes | None:
        """Return a small file at the top of it; None if it is missing or unreadable."""
        self._write_entries()
        if name in self.small:
            return self.small[name]
        try:
            return self._disk.read_whole(name)
        except UnreadableError:
            return None

    def entry(self, name: str, topic: str, partition: int) -> Offset | None:
        """Return the offset that the broker reads in an offset checkpoint; None without a line, or if it is corrupt."""
        return self._entries_of(name).get((topic, partition))

    def _entries_of(self, name: str) -> dict[tuple[str, int], Offset]:
        """Return the lines of an offset checkpoint, parsed once whatever the number of partitions that change."""
        if name not in self._entries:
            data = self.read(name)
            sound = data is not None and offset_checkpoint.broker_reads(data, self.release).error is None
            value = offset_checkpoint.parse(data).value if data is not None and sound else ()
            self._entries[name] = {(entry.topic, entry.partition): entry.offset for entry in value}
        return self._entries[name]

    def _write_entries(self) -> None:
        """Write the checkpoints whose lines were edited since they were last read."""
        for name in self._unwritten:
            entries = self._entries[name].items()
            self.small[name] = serialized([OffsetEntry(*key, offset) for key, offset in entries])
        self._unwritten.clear()

    def end_of(self, topic: str, partition: int) -> tuple[Offset | None, EditedPartition | None]:
        """Return the log end of a partition of this log dir, and the partition; None if not known or missing."""
        for directory in self._live.get((topic, partition), ()):
            if not directory.gone:
                if not directory.version:
                    return directory.view.log_end_offset, directory
                image = directory.image()
                return (None if image.error is not None else image.log_end_offset), directory
        return None, None

    def holds(self, topic: str, partition: int) -> bool:
        """Return whether there is a directory of this partition, looked at or not."""
        looked_at = self._live.get((topic, partition), ())
        return any(not directory.gone for directory in looked_at) or len(looked_at) < self._there[topic, partition]

    @cached_property
    def _live(self) -> Mapping[tuple[str, int], list[EditedPartition]]:
        """The directories of each partition that were looked at."""
        directories: dict[tuple[str, int], list[EditedPartition]] = {}
        for directory in self.partitions:
            if directory.view.state in LIVE:
                directories.setdefault((directory.view.topic, directory.view.partition), []).append(directory)
        return directories

    @cached_property
    def _there(self) -> Counter[tuple[str, int]]:
        """Number of directories of each partition, looked at or not."""
        return Counter((view.topic, view.partition) for view in self.view.partitions if view.state in LIVE)

    @cached_property
    def by_dir(self) -> Mapping[str, EditedPartition]:
        """The partitions by the names of their directories."""
        return {partition.dir: partition for partition in self.partitions}

    def saved(self) -> Callable[[], None]:
        """Return a function that undoes every later edit; an earlier saved state is then lost."""
        self._write_entries()
        small, gone = dict(self.small), set(self.gone)
        touched = self._touched = {}

        def restore() -> None:
            self.small, self.gone = small, gone
            self._entries.clear()
            self._unwritten.clear()
            for restore_partition in touched.values():
                restore_partition()

        return restore

    def edit(self, edit: Edit) -> None:
        """Make an edit."""
        owner, slash, name = edit.path.partition("/")
        partition = self.by_dir.get(owner)
        if partition is not None and owner not in self._touched:
            self._touched[owner] = partition.saved()
        if slash:
            assert partition is not None
            partition.edit(edit, name)
        elif isinstance(edit, WriteEdit):
            self.small[edit.path] = edit.data
            self._entries.pop(edit.path, None)
        elif isinstance(edit, EntryEdit):
            self._edit_entry(edit)
        elif isinstance(edit, RenameEdit):
            assert partition is not None
            partition.rename(edit.to)
        else:
            self.gone.add(edit.path)
            if partition is not None:
                partition.gone = True

    def _edit_entry(self, edit: EntryEdit) -> None:
        entries, key = self._entries_of(edit.path), (edit.topic, edit.partition)
        if edit.offset is None:
            entries.pop(key, None)
        else:
            entries[key] = edit.offset
        self._unwritten.add(edit.path)
        self.lines_changed.add(edit.path)

    def settled(self, finding: Finding) -> bool:
        """Return whether an edit was planned for a finding."""
        owner = self.by_dir.get(finding.where.dir or "")
        return id(finding) in self._planned if owner is None else owner.settled(finding)

    def settle(self, finding: Finding, *, done: bool = True) -> None:
        """Remember that an edit was planned for a finding; or forget it, where it is not `done`."""
        owner = self.by_dir.get(finding.where.dir or "")
        planned = self._planned if owner is None else owner.planned
        if done:
            planned[id(finding)] = finding
        else:
            planned.pop(id(finding), None)

    def opened(self) -> LogDir:
        """Return the log dir as the edits leave it."""
        current, named = self._current(), {partition.dir: partition.named for partition in self.partitions}
        return current._replace(directories=tuple(named.get(name, (name, of)) for name, of in current.directories))

    def _edited(self) -> LogDir:
        """Return the log dir with the edits."""
        formats: dict[str, Format] = dict(FILES)
        where = self._opened.view.where
        files = {name: file for name, file in self._opened.view.files.items() if name not in self.gone}
        for name, data in self.small.items():
            if data is not None:
                files[name] = view_of(data, formats[name], where._replace(file=name), self.release)
        unparseable, blocked = (
            tuple(name for name in names if name not in self.gone)
            for names in (self._opened.view.unparseable, self._opened.view.blocked)
        )
        marker = CLEAN_SHUTDOWN in unparseable and self._opened.view.clean_shutdown
        view = self._opened.view._replace(
            files=files,
            clean_shutdown=marker or CLEAN_SHUTDOWN in files,
            unparseable=unparseable,
            blocked=blocked,
        )
        directories = tuple(item for item in self._opened.directories if item[0] not in self.gone)
        checkpoints = checkpoints_of(files, (*directories, *self._opened.links))
        return self._opened._replace(view=view, checkpoints=checkpoints, directories=directories)

    def start_without(self, names: Iterable[str]) -> tuple[LogDirPrediction, Callable[[], None]]:
        """Return the next start with these files as they are on disk, and what brings their edits back."""
        edited = {name: self.small.pop(name) for name in names if name in self.small}

        def restore() -> None:
            self.small |= edited

        return self.start(), restore

    def start_of(self, partition: EditedPartition, stored: Mapping[str, Offset | None]) -> PartitionPrediction | None:
        """Return the next start of one partition, with these offsets instead of its offsets in checkpoints.

        None if the broker does not load the directory.
        """
        now = self._current()
        clean, context = start_context(now, self._wish)
        values: dict[str, Any] = {_INPUTS[name]: offset for name, offset in stored.items()}
        if values.get("recovery_point", 0) is None:
            values["recovery_point"] = 0

        def load(_: str, __: PartitionDirectory, inputs: LoadInputs, context: Context) -> PartitionPrediction:
            return partition.start(inputs._replace(**values), context)

        return next(load_directories(now, [partition.named], [], load, has_left, clean=clean, context=context), None)

    def _current(self) -> LogDir:
        """Return the log dir with the edits; it is put together again after another edit of its own files only."""
        self._write_entries()
        around = (dict(self.small), set(self.gone))
        if self._now is None or self._now[0] != around:
            self._now, self._starts = (around, self._edited()), {}
        return self._now[1]

    def start(self) -> LogDirPrediction:
        """Return the prediction of its next start.

        It simulates again only partitions edited since the last call, as a log dir can have thousands of them.
        """
        there = {partition.named[0]: partition for partition in self.partitions if not partition.gone}
        now = self._current()
        clean, context = start_context(now, self._wish)
        changed = [
            partition.named
            for name, partition in there.items()
            if self._starts.get(name, (None,))[0] != partition.version
        ]

        def load(name: str, _: PartitionDirectory, stored: LoadInputs, context: Context) -> PartitionPrediction:
            return there[name].start(stored, context)

        predictions = {
            partition.dir: partition
            for partition in load_directories(now, changed, [], load, has_left, clean=clean, context=context)
        }
        self._starts |= {name: (there[name].version, predictions.get(name)) for name, _ in changed}
        starts = tuple(partition for name in there if (partition := self._starts[name][1]) is not None)
        return log_dir_start(self.path, now, starts, clean=clean, context=context)._replace(broker=self.broker)
