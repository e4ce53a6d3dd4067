"""The load of one log: LogLoader.load 3.0 to 4.3.1, Log.loadSegments 0.10.2 to 2.8.

`LogLoader._load` shows its steps in order; the docstring of `kcheck.startup` lists them with Kafka's names.
"""

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable
from collections.abc import Set as AbstractSet
from functools import cached_property
from typing import TypeVar

from kcheck.core.start.predictions import LoadedLog, LogCut
from kcheck.core.start.segments import is_tiered, log_start_offset
from kcheck.core.start.startup import offset_of, recovery_point, segments_from
from kcheck.formats import transaction_index
from kcheck.model.entries import Offset
from kcheck.model.names import INDEX_ENDINGS, SWAP, log_name, segment_bases, segment_prefix
from kcheck.startup.index import index_interval
from kcheck.startup.inputs import Context
from kcheck.startup.leader_epochs import EpochCache
from kcheck.startup.producer_replay import reload_before, reload_log
from kcheck.startup.producer_state import Producers
from kcheck.startup.recover import OffsetOrderError, SegmentOverflowError, recover
from kcheck.startup.segment import Segment, endings
from kcheck.startup.sorted_map import SortedMap
from kcheck.startup.split_overflow import split
from kcheck.startup.swaps import delete_swapped_indexes, rename_swaps
from kcheck.startup.virtual_files import DirectoryError, Folder, StartError

_SPLIT_COUNT_MAX = 1000
ENDLESS = "the broker splits segments for ever: offsets still do not fit into them"
"""The reason why a load does not end."""

Result = TypeVar("Result")


class LogLoader:
    """Loads the log in a folder. The folder has the resulting files, also after a StartError."""

    def __init__(
        self,
        folder: Folder,
        context: Context,
        *,
        clean: bool,
        log_start: Offset | None,
        recovery_point: int,
        deleted: bool,
        passed: AbstractSet[tuple[int, int]] = frozenset(),
    ) -> None:
        """Take the values of the checkpoints; `deleted` is true if the name of the directory ends in -delete.

        `passed` are truncations, by base offset and position, that keep the segments after them. They count as done by
        an earlier start.
        """
        self.folder: Folder = folder
        self.context: Context = context
        self._clean, self._log_start, self._recovery_point = clean, log_start or 0, recovery_point
        self._log_start_checkpoint = log_start
        self.deleted: bool = deleted
        self._passed = passed
        self.segments: SortedMap[Segment] = SortedMap()
        self.cuts: list[LogCut] = []
        self._bases = segment_bases(folder.files)
        self.reasons: list[str] = []
        self.rescanned: int = 0
        self.uncertain: str | None = None
        self._end_found = self._was_empty = False
        self.epochs: EpochCache = EpochCache(folder, context.release)
        self.producers: Producers = Producers(folder, context.release)

    @cached_property
    def _interval(self) -> int:
        """The value of index.interval.bytes, which only rebuilt indexes need."""
        return index_interval(self.folder.as_before(), self.context.settings)

    def load(self) -> LoadedLog:
        """Return the log; StartError if the broker fails on it."""
        try:
            return self._load()
        finally:
            self.epochs.write()

    def _load(self) -> LoadedLog:
        if self.context.release.finishes_swaps_by_renaming:
            self.reasons += rename_swaps(self.folder, self.context)
            self._retry(self._load_segments)
        else:
            swaps = delete_swapped_indexes(self.folder, self.context)
            self._retry(self._load_segments)
            self._complete_swaps(swaps)
        if self.deleted:
            if not self.segments:
                if self.context.release.needs_segment_to_delete:
                    raise StartError("NullPointerException: the directory is marked for deletion and has no segment")
                self._add(Segment(self.folder, 0, self.context))
            end = (
                0
                if self.context.release.takes_deleted_logs_as_empty
                else self.segments[self.segments.order[-1]].next_offset()
            )
        else:
            end = self._retry(self._recover)
            self.segments[self.segments.order[-1]].resize_indexes()
        first = self.segments.order[0]
        release = self.context.release
        tiered = not self.deleted and is_tiered(  # A deleted topic has no settings.
            self._log_start_checkpoint, Offset(first), self.epochs.entries, self.folder.files, release,
            remote_storage=self.context.settings.remote_storage, of_topic=self.context.settings.of_topic,
        )  # fmt: skip
        start = log_start_offset(self._log_start_checkpoint, Offset(first), tiered=tiered)
        epochs_from = self._log_start if release.cuts_epochs_at_log_start_checkpoint else start
        self.epochs.truncate(end=end, start=epochs_from)
        if release.keeps_snapshot_per_segment:
            self.producers.remove_stray(self.segments)
        self.rescanned += reload_log(self.producers, self.segments, start, end, clean=self._clean)
        unstable = self.producers.states.first_unstable_offset
        if unstable is not None:
            self._locate(max(unstable, start, first), end)
        point = recovery_point(
            at_end=self._clean and self._end_found, checkpoint=self._recovery_point, end=end, start=max(start, first),
            release=release,
        )  # fmt: skip
        if self.deleted and release.bounds_recovery_point:
            point = max(0 if release.forgets_recovery_point_of_deleted_logs else self._recovery_point, start, first)
        elif self.deleted or self._was_empty:
            point = self._recovery_point
        return LoadedLog(
            Offset(start), Offset(end), Offset(point), self.epochs.entries,
            unstable is not None, tuple(self.segments), tuple(self.cuts),
            self.rescanned, tuple(dict.fromkeys(self.reasons)),
        )  # fmt: skip

    def _locate(self, offset: int, end: int) -> None:
        """Look up the first unstable offset (maybeIncrementFirstUnstableOffset); StartError where that fails."""
        release = self.context.release
        if offset > end and release.refuses_transactions_behind_log_end:
            raise StartError(f"OffsetOutOfRangeException: a transaction starts at {offset}, above the log end {end}")
        if offset >= end and not release.replays_below_log_end:
            return
        segment = self.segments[self.segments.order[bisect_right(self.segments.order, offset) - 1]]
        if segment.search(offset).batch is None and release.replays_below_log_end:
            raise StartError(f"NullPointerException: no batch at the first unstable offset {offset}")

    def _retry(self, step: Callable[[], Result]) -> Result:
        """Do a step; where an offset does not fit into its segment, split that and retry (retryOnOffsetOverflow)."""
        for _ in range(_SPLIT_COUNT_MAX):
            try:
                return step()
            except SegmentOverflowError as error:
                self.reasons.append(f"{error}: the broker splits the segment")
                replaced = split(error.segment, self.segments, interval=self._interval)
                if replaced is not None and self.context.release.deletes_snapshots_with_segments:
                    self.producers.mark_deleted(replaced)
        raise StartError(ENDLESS)

    def _complete_swaps(self, bases: tuple[int, ...]) -> None:
        """Recover each swap, and replace the segments that hold its offsets (completeSwapOperations)."""
        if len(bases) > 1:
            self.uncertain = "the file system decides in which order the broker recovers several .swap segments"
        release = self.context.release
        for base in bases:
            swap = Segment(self.folder, base, self.context, suffix=SWAP)
            self.reasons.append(f"the broker recovers {swap.log_name}, which replaces the segments with its offsets")
            try:
                self.recover_segment(swap, None, ends_start=True)
            except SegmentOverflowError as error:
                raise StartError(f"LogSegmentOffsetOverflowException: {error}") from error
            try:
                held = segments_from(self.segments.order, base, swap.next_offset(), release=release)
            except ValueError as error:
                raise StartError(f"IllegalArgumentException: {swap.log_name} ends too low: {error}") from error
            replaced = [
                held_base
                for held_base in held
                if not release.splits_segments or self.segments[held_base].next_offset() > base
            ]
            for replaced_base in replaced:
                self.segments.pop(replaced_base).mark_deleted()
            swap.rename("")
            self.segments[base] = swap

    def _load_segments(self) -> None:
        """Open every segment, and recover segments that fail a check (LogLoader.loadSegmentFiles)."""
        self.segments.clear()
        for name in sorted(self.folder.files):
            ending = next((suffix for suffix in endings(self.context.release) if name.endswith(suffix)), None)
            if ending is None:
                continue
            number = offset_of(name)
            if number is None:
                raise StartError(f"NumberFormatException: {name} does not start with a number")
            if ending in INDEX_ENDINGS:
                if not self.folder.exists(log_name(number)):
                    self.reasons.append(f"{name} has no segment: the broker deletes it")
                    self.folder.remove(name)
                continue
            indexes = {ending for ending in INDEX_ENDINGS if self.folder.exists(segment_prefix(number) + ending)}
            segment = Segment(self.folder, number, self.context)
            why = self._insane(segment, indexes)
            if why is not None:
                with_epochs = self.context.release.recovers_epochs_without_index
                self.reasons.append(why)
                self.recover_segment(segment, self.epochs if with_epochs else None, ends_start=True)
            self._add(segment)

    def _insane(self, segment: Segment, indexes: Collection[str]) -> str | None:
        """Return why the broker recovers a segment even after a clean shutdown: LogSegment.sanityCheck.

        `indexes` are the suffixes of the index files that existed before.
        """
        release = self.context.release
        if ".index" not in indexes:
            if not release.makes_missing_indexes:
                return f"{segment.name('.index')} is missing: the broker recovers its segment"
            self.reasons.append(f"{segment.name('.index')} is missing: the broker creates an empty one")
        problem = segment.offset_index.problem(release) if release.checks_indexes else None
        if problem is None and ".timeindex" not in indexes:
            self.reasons.append(f"{segment.name('.timeindex')} is missing: the broker creates an empty one")
            segment.time_index.resize(0)
        if problem is None and release.checks_indexes:
            problem = segment.time_index.problem(release)
        problem = problem or self._insane_transactions(segment)
        if problem is not None and release.deletes_failing_indexes:
            for ending in endings(release)[1:]:
                self.folder.remove(segment.name(ending))
            segment = Segment(self.folder, segment.base, self.context)
        return None if problem is None else f"{problem}: the broker recovers the segment"

    def _insane_transactions(self, segment: Segment) -> str | None:
        if not self.context.release.has_producer_state:
            return None
        name = segment.name(".txnindex")
        # In order: an entry below the segment causes a recovery before the version of a later entry is checked.
        for entry in segment.transactions():
            if transaction_index.refuses(entry, self.context.release):
                raise StartError(f"KafkaException: {name} has an entry of an unknown version")
            if entry.last_offset < segment.base:
                return f"{name} has an offset below its segment"
        return None

    def _recover(self) -> int:
        """Recover the unflushed segments, and return the log end offset: LogLoader.recoverLog."""
        self._was_empty = not self.segments and not self.context.release.wipes_log_start_above_log_end
        if not self._clean:
            self._recover_unflushed()
        end = None
        self._end_found = False
        if self.segments:
            last = self.segments.order[-1]
            end = self.segments[last].next_offset()
            if end < self._log_start and self.context.release.wipes_log_start_above_log_end:
                why = f"the log start {self._log_start} is above the log end {end}: the broker deletes every segment"
                # Other releases delete their snapshots at once, with all others.
                self._delete(list(self.segments), why, with_snapshots=self.context.release.keeps_wiped_snapshots)
                if self.context.release.forgets_epochs_of_wiped_logs:
                    self.epochs.clear()
                    self.producers.start_at(self._log_start)
                end = None
        if not self.segments:
            base = self._log_start if self.context.release.wipes_log_start_above_log_end else 0
            self._add(Segment(self.folder, base, self.context, new=True))
        self._end_found = end is not None
        if end is None:
            end = self.segments[self.segments.order[-1]].next_offset()
        return end

    def _recover_unflushed(self) -> None:
        bases = segments_from(self.segments.order, self._recovery_point, release=self.context.release)
        for at, base in enumerate(bases):
            segment = self.segments[base]
            try:
                cut, why = self.recover_segment(segment, self.epochs)
            except (OffsetOrderError, DirectoryError) as error:
                if isinstance(error, DirectoryError) and not self.context.release.empties_unwritable_segments:
                    raise
                cut, why = segment.truncate_to(base), f"{error}: the broker empties the segment"
                self._cut(segment, segment.size, why)
            if cut > 0 and (base, segment.size) not in self._passed:
                # The log message of the broker asks for the end of the segment again, which can fail.
                segment.next_offset()
                self._delete(bases[at + 1 :], f"{why}: the broker deletes every later segment")
                return

    def recover_segment(
        self, segment: Segment, epochs: EpochCache | None, *, ends_start: bool = False
    ) -> tuple[int, str]:
        """Recover one segment; return how many bytes it loses, and why: LogLoader.recoverSegment.

        `ends_start`: the caller does not handle offsets out of order.
        """
        producers = Producers(self.folder, self.context.release, for_recovery=True)
        self.rescanned += reload_before(producers, self.segments, self._log_start, segment.base) + segment.size
        try:
            recovered = recover(segment, producers, epochs, interval=self._interval)
        except OffsetOrderError as error:
            if ends_start:
                raise StartError(f"InvalidOffsetException: {error}") from error
            raise
        producers.take_snapshot()
        if recovered.cut:
            self._cut(segment, segment.size, recovered.why or "")
        return recovered.cut, recovered.why or ""

    def _add(self, segment: Segment) -> None:
        self.segments[segment.base] = segment

    def _cut(self, segment: Segment, position: int, why: str) -> None:
        before = self.folder.before_start(segment.log_name)
        if before is not None and before.file is not None and before.size > position:
            end = segment.next_offset() if position else segment.base
            base, later = Offset(segment.base), bisect_right(self._bases, segment.base)
            next_base = self._bases[later] if later < len(self._bases) and not segment.suffix else None
            self.cuts.append(LogCut(before.file, base, Offset(end), position, before.size, why, next_base))
        self.reasons.append(why)

    def truncate_fully(self, offset: int) -> None:
        """Restart the log at an offset, with an empty segment and no producers (UnifiedLog.truncateFullyAndStartAt)."""
        self._delete(list(self.segments), "", with_snapshots=False)
        self.epochs.clear()
        self.producers.start_at(offset)
        self._add(Segment(self.folder, offset, self.context, new=True))

    def _delete(self, bases: Iterable[int], why: str, *, with_snapshots: bool = True) -> None:
        """Rename segments, and maybe their snapshots, to .deleted: removeAndDeleteSegmentsAsync."""
        for base in bases:
            segment = self.segments.pop(base)
            self._cut(segment, 0, why)
            segment.mark_deleted()
            if with_snapshots and self.context.release.deletes_snapshots_with_segments:
                self.producers.mark_deleted(base)
