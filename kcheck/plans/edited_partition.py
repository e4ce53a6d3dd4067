"""A partition directory with planned edits, in memory. Nothing is written."""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from functools import cached_property
from itertools import compress, count
from typing import Any, NamedTuple, Protocol

import numpy as np

from kcheck.core.start.predictions import Content, LogCut, PartitionPrediction, new_content, total_loss
from kcheck.core.start.startup import Settings
from kcheck.model.entries import Epoch, Offset
from kcheck.model.finding import Chosen, Finding
from kcheck.model.loss import LostRecords
from kcheck.model.names import (
    CLEANED,
    DELETED,
    INDEX_ENDINGS,
    LEADER_EPOCHS,
    SWAP,
    PartitionDirectory,
    log_name,
    parse_directory,
    parse_file,
    segment_bases,
    segment_prefix,
)
from kcheck.model.release import Release
from kcheck.model.remote_log import StoredEpochs
from kcheck.model.segments import EpochRun
from kcheck.model.source import DirectoryEntries, Files
from kcheck.model.unreadable import UnreadableError
from kcheck.model.views import PartitionView
from kcheck.records.batch import patch
from kcheck.repairs import (
    DAMAGE,
    RECORDS,
    AsideEdit,
    CutEdit,
    Edit,
    Image,
    LogDirSite,
    PartitionSite,
    PatchEdit,
    RecoveryCut,
    Refused,
    Repair,
    RepairStep,
    WriteEdit,
    bases,
)
from kcheck.segments.header_columns import HeaderColumns
from kcheck.startup.index import index_interval
from kcheck.startup.inputs import Context, LoadInputs
from kcheck.startup.log_loader import LogLoader
from kcheck.startup.partition import cut_loss, start_folder
from kcheck.startup.segment import Segment
from kcheck.startup.virtual_files import Folder, StartError, contents_of, read_content

_OF_IMAGE = (".log", ".snapshot")
"""A recovery of every segment writes all else again, or ignores it."""
_SNAPSHOT_RULES = ("KC181", "KC182", "KC184", "KC185")


class PartitionOwner(LogDirSite, Protocol):
    """The log dir of a partition directory."""

    @property
    def path(self) -> str:
        """The path of it."""

    @property
    def context(self) -> Context:
        """The settings of its broker."""


_Inputs = tuple[int, LoadInputs, Context]
_FilesState = tuple[dict[str, Content], dict[str, bool], bool, tuple[str, PartitionDirectory], int]


class Holders(NamedTuple):
    """The replicas on other brokers that can replace one, and which broker should lead; None if not decided."""

    proven: "tuple[EditedPartition, ...]" = ()
    leader: int | None = None


class EditedPartition:
    """One partition directory; each edit gives it another `version`, 0 is that on disk."""

    def __init__(self, log_dir: PartitionOwner, view: PartitionView, findings: tuple[Finding, ...]) -> None:
        """Take the present directory; `named` is its name with the edits, and the parsed name."""
        self.log_dir: PartitionOwner = log_dir
        self.view: PartitionView = view
        self.findings: tuple[Finding, ...] = findings
        self.release: Release = log_dir.release
        self.dir: str = view.where.dir or ""
        assert view.disk is not None
        self.disk: Files = view.disk
        directory = parse_directory(self.dir)
        assert directory is not None
        try:
            entries = self.disk.entries()
        except UnreadableError:
            entries = DirectoryEntries({})
        self.directory: PartitionDirectory = directory
        self.named: tuple[str, PartitionDirectory] = self.dir, directory
        self.files: dict[str, Content] = contents_of(entries.sizes)
        self.directories: dict[str, bool] = dict(entries.directories)
        self._loops = entries.loops
        self._on_disk = (dict(self.files), dict(self.directories))
        self._versions = count(1)
        self.gone: bool = False
        self.version: int = 0
        self.find_holders: Callable[[], Holders] = Holders
        self.stored_epochs: tuple[StoredEpochs, ...] | None = None
        self.planned: dict[int, Finding] = {}
        self._image: Image | None = None
        self._bases: list[Offset] | None = None
        self._ends: dict[tuple[int, int], Offset] = {}
        self._starts: dict[int, tuple[_Inputs, PartitionPrediction]] = {}

    @property
    def context(self) -> Context:
        """The settings that the broker has for it. The log of KRaft uses no settings of topics."""
        context = self.log_dir.context
        return context._replace(settings=Settings()) if self.view.is_metadata_log else context

    @property
    def names(self) -> AbstractSet[str]:
        """The names of its files."""
        return self.files.keys()

    def folder(self) -> Folder:
        """Return the files as a new folder that a simulated start may change."""
        return Folder(self.disk, self.files, self.directories, self._loops)

    def read(self, name: str) -> bytes | None:
        """Return a small file; None if it is missing or unreadable."""
        if name not in self.files:
            return None
        try:
            data, size = read_content(self.disk, name, self.files[name])
        except (StartError, UnreadableError):
            return None
        return data.ljust(size, b"\0")

    def size(self, name: str) -> int:
        """Return the size of a file in bytes."""
        return self.files[name].size

    def bytes_at(self, name: str, position: int, size: int) -> bytes:
        """Return some bytes of a file, fewer at its end, patches in it."""
        try:
            with self.disk.open(name) as source:
                data = bytearray(source.pread(size, position))
        except UnreadableError:
            return b""
        patch(data, position, self.files[name].patches)
        return bytes(data)

    @property
    def is_unknown(self) -> bool:
        """True if the given metadata has no such replica on the broker."""
        return self.view.in_cluster is not None and self.view.in_cluster.stray is not None

    def is_patched(self, name: str) -> bool:
        """Return whether bytes of a file are to be changed in their place."""
        return name in self.files and bool(self.files[name].patches)

    def settled(self, finding: Finding) -> bool:
        """Return whether an edit was planned for a finding."""
        return id(finding) in self.planned or self.gone

    @cached_property
    def _holders(self) -> Holders:
        return self.find_holders()

    def holders(self) -> tuple["EditedPartition", ...]:
        """Return the replicas that the user named as sound."""
        return self._holders.proven

    def best_leader(self) -> int | None:
        """Return the broker that should lead; None if that is not decided."""
        return self._holders.leader

    def saved(self) -> Callable[[], None]:
        """Return a function that undoes every later edit."""
        files, directories, gone, named = dict(self.files), dict(self.directories), self.gone, self.named

        def restore() -> None:
            self.files, self.directories, self.gone, self.named = files, directories, gone, named
            self.version = next(self._versions)
            self._image = self._bases = None

        return restore

    @property
    def _as_it_lies(self) -> Folder:
        """The files before the first edit."""
        return Folder(self.disk, *self._on_disk, self._loops)

    def is_directory(self, name: str) -> bool:
        """Return whether a directory has the name of a file, before the first edit."""
        return name in self._on_disk[1]

    def state(self) -> "_FilesState":
        """Return its files with the edits so far."""
        return dict(self.files), dict(self.directories), self.gone, self.named, self.version

    def put(self, state: "_FilesState") -> None:
        """Take back every edit since a state, and make those before it again."""
        files, directories, self.gone, self.named, self.version = state
        self.files, self.directories = dict(files), dict(directories)
        self._image = self._bases = None

    def reset(self) -> None:
        """Take back every edit."""
        self.put((*self._on_disk, False, (self.dir, self.directory), 0))

    def forget(self) -> None:
        """Forget the starts of earlier states."""
        self._starts = {version: start for version, start in self._starts.items() if version in (0, self.version)}

    def rename(self, name: str) -> None:
        """Give the directory another name."""
        directory = parse_directory(name)
        assert directory is not None
        self.named, self.version = (name, directory), next(self._versions)

    def edit(self, edit: Edit, name: str) -> None:
        """Make an edit of one of its files."""
        match edit:
            case WriteEdit(_, data):
                self.files[name] = new_content(data)
            case CutEdit(_, size):
                self.files[name] = self.files[name].resized(size)
            case PatchEdit(_, position, data):
                content = self.files[name]
                self.files[name] = content._replace(patches=(*content.patches, (position, data)))
            case AsideEdit():
                self.files.pop(name, None)
                self.directories.pop(name, None)
        self.version = next(self._versions)
        if name.endswith(_OF_IMAGE):
            self._image = None
        if name.endswith(".log") and not isinstance(edit, CutEdit):
            self._bases = None

    def try_out(self, repair: Repair, keep: Chosen) -> None:
        """Make the edits of a repair of this partition."""
        about = tuple(
            finding
            for finding in self.findings
            if finding.id in repair.rules and keep(finding.id, finding.severity) and not self.settled(finding)
        )
        for answer in repair.plan(self, about) if about else ():
            if isinstance(answer, RepairStep):
                for edit in answer.edits:
                    self.edit(edit, edit.path.partition("/")[2])
            if not isinstance(answer, Refused):
                self.planned[id(answer.finding)] = answer.finding

    def start(self, stored: LoadInputs, context: Context) -> PartitionPrediction:
        """Return the prediction of its next start."""
        how = (self.version, stored, context)
        if self.version not in self._starts or self._starts[self.version][0] != how:
            start = start_folder(self.folder(), *self.named, stored, context)
            self._starts[self.version] = (how, start)
        return self._starts[self.version][1]

    def image(self, passed: AbstractSet[tuple[int, int]] = frozenset()) -> Image:
        """Return the log after a recovery of every segment that trusts no checkpoint and no index.

        It continues after the truncations `passed` (base offset and position), as if they had been made before.
        """
        if passed:
            return self._recovered(passed)
        if self._image is None:
            self._image = self._recovered()
        return self._image

    def image_of_cut(self, base: Offset, position: int) -> Image:
        """Return the log after this recovery if it is truncated at a position of a segment."""
        later = {segment_prefix(other) for other in bases(self) if other > base}
        files = {name: content for name, content in self.files.items() if name[:20] not in later}
        files[log_name(base)] = files[log_name(base)].resized(position)
        image = self._recovered(files=files)
        self._ends[base, position] = image.log_end_offset
        return image

    def _recovered(
        self, passed: AbstractSet[tuple[int, int]] = frozenset(), files: Mapping[str, Content] | None = None
    ) -> Image:
        left_out = (LEADER_EPOCHS, SWAP, CLEANED, DELETED)
        files = {
            name: content
            for name, content in (self.files if files is None else files).items()
            if not name.endswith(left_out)
        }
        if any(finding.id in _SNAPSHOT_RULES for finding in self.findings):
            files = {name: content for name, content in files.items() if not name.endswith(".snapshot")}
        for base in segment_bases(files):
            files[segment_prefix(Offset(base)) + ".index"] = Content(0)
        files |= {name: Content(0) for name in files if name.endswith(".txnindex")}
        folder = Folder(self.disk, files)
        try:
            said = self.context.settings
            interval = index_interval(self._as_it_lies, said)
            said = said._replace(index_interval_bytes=interval, index_interval_said=True)
            context = self.context._replace(settings=said)
            loader = LogLoader(
                folder, context, clean=False, log_start=None, recovery_point=0, deleted=False, passed=passed
            )
            log = loader.load()
        except StartError as error:
            return Image(error=str(error))
        cuts = tuple(RecoveryCut(cut.base_offset, cut.position, cut.size, cut.why) for cut in log.cuts)
        self._ends |= {(cut.base_offset, cut.position): cut.end_offset for cut in log.cuts}
        built = {
            name: content.data[: content.filled]
            for name, content in folder.files.items()
            if name.endswith((*INDEX_ENDINGS, ".snapshot")) and content.file is None
        }
        return Image(None, log.log_end_offset, cuts, built, log.leader_epochs)

    def _segments(self) -> Iterator[Segment]:
        folder = self.folder()
        return (Segment(folder, base, self.context) for base in bases(self))

    def epoch_runs(self) -> tuple[EpochRun, ...]:
        """Return which epochs its batches carry, in the order of the log."""
        runs: list[EpochRun] = []
        for columns in self.windows():
            modern = columns.magic >= 2
            if not modern.any():
                continue
            epoch, first, last = columns.epoch[modern], columns.base_offset[modern], columns.last_offset[modern]
            begins = np.flatnonzero(np.diff(epoch, prepend=epoch[:1] - 1))
            for at, behind in zip(begins.tolist(), [*begins[1:].tolist(), len(epoch)], strict=True):
                run = EpochRun(Epoch(int(epoch[at])), Offset(int(first[at])), Offset(int(last[behind - 1])))
                if runs and runs[-1].epoch == run.epoch:
                    runs[-1] = runs[-1]._replace(last_offset=run.last_offset)
                else:
                    runs.append(run)
        return tuple(runs)

    def windows(self) -> Iterator[HeaderColumns]:
        """Yield the batches, window by window; StartError at the first place without one."""
        return (columns for segment in self._segments() for columns, _ in segment.windows(0))

    def contains(self, other: PartitionSite) -> bool:
        """Return whether this copy has every batch of another one, by offsets, epochs and CRCs."""
        assert isinstance(other, EditedPartition)
        mine, theirs = (
            (row for columns in partition.windows() for row in _rows(columns)) for partition in (self, other)
        )
        return all(row == own_row for row, own_row in _side_by_side(theirs, mine))

    def agrees_with(self, other: PartitionSite) -> bool:
        """Return whether the intact batches of another replica are the same here, with equal offsets and epochs.

        A batch that is missing here differs too, unless it is above the log end, or compaction has run. Each broker
        compacts on its own. Batches that a finding about the other replica names are not compared.
        """
        assert isinstance(other, EditedPartition)
        end = self.view.log_end_offset or 0
        compacted = bool(self.view.cleaned or other.view.cleaned)
        doubted = tuple(other.doubted())
        believed = (row for row in other.sound_batches() if not any(row[0] in span for span in doubted))
        for row, own_row in _side_by_side(believed, self.sound_batches()):
            if own_row is None or own_row[:3] != row[:3]:
                if row[1] < end and not compacted:
                    return False
            elif own_row != row:
                return False
        return True

    def doubted(self) -> Iterator[range]:
        """Yield the base offsets of batches that are wrong despite matching CRCs, or that two segments have."""
        for finding in self.findings:
            rows: Any = finding.data.get("batches", ()) if finding.id in (*DAMAGE, *RECORDS) else ()
            yield from (range(row["base_offset"], row["base_offset"] + 1) for row in rows)
            if finding.id == "KC221":
                first, end = finding.data["base_offset"], finding.data["end_offset"]
                assert isinstance(first, int)
                assert isinstance(end, int)
                yield range(first, end)

    def sound_batches(self) -> Iterator["BatchRow"]:
        """Yield base offset, last offset, epoch and CRC of each batch whose CRC matches."""
        for segment in self._segments():
            for columns, _ in segment.windows(0, verify=True):
                assert columns.valid is not None
                yield from compress(_rows(columns), columns.valid.tolist())

    def _valid_end(self, base: Offset, position: int) -> Offset:
        """Return the end of the batches that a recovery leaves in a segment, if it truncates it there."""
        if (base, position) not in self._ends:
            self.image()
        return self._ends.get((base, position), base)

    def _base_after(self, base: Offset) -> Offset | None:
        """Return the base offset of the next segment; a plan asks it for thousands of segments."""
        self._bases = known = bases(self) if self._bases is None else self._bases
        at = bisect_right(known, base)
        return known[at] if at < len(known) else None

    def loss(self, edits: tuple[Edit, ...]) -> LostRecords | None:
        """Return the records that go with edits of its files, by the batches before them."""
        mark = self.view.high_watermark
        losses: list[LostRecords] = []
        for edit in edits:
            owner, _, name = edit.path.partition("/")
            if owner != self.dir or not isinstance(edit, AsideEdit | CutEdit):
                continue
            named = [name] if name in self.files else [] if name else sorted(self.files)
            for log in (file_name for file_name in named if file_name.endswith(".log")):
                content = self.files[log]
                position = edit.size if isinstance(edit, CutEdit) else 0
                if content.file is not None and content.size > position:
                    base = parse_file(log).offset or Offset(0)
                    end = self._valid_end(base, position) if position else base
                    gone = LogCut(content.file, base, end, position, content.size, "", self._base_after(base))
                    losses.append(cut_loss(self.disk, gone, mark))
        return total_loss(losses)


BatchRow = tuple[int, ...]


def _side_by_side(rows: Iterator[BatchRow], others: Iterator[BatchRow]) -> Iterator[tuple[BatchRow, BatchRow | None]]:
    """Yield each row with the first of the others, in their order, that does not begin before it."""
    other = next(others, None)
    for row in rows:
        while other is not None and other[0] < row[0]:
            other = next(others, None)
        yield row, other


def _rows(columns: HeaderColumns) -> list[BatchRow]:
    """Return base offset, last offset, epoch and CRC of each batch."""
    parts = (columns.base_offset, columns.last_offset, columns.epoch, columns.crc)
    return list(zip(*(part.tolist() for part in parts), strict=True))
