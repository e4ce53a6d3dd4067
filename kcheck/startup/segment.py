"""A segment of a log that is loaded: LogSegment, FileRecords, LocalLog 2.8 to 4.3.1."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from kcheck.core.start.predictions import Content, new_content
from kcheck.core.start.segments import LOG_SIZE_MAX, seen_log_size
from kcheck.formats.transaction_index import ABORTED_TXN, AbortedTxn, AbortedTxns, serialize
from kcheck.formats.transaction_index import entries as transaction_entries
from kcheck.model.entries import RELATIVE_OFFSET_MAX, Offset
from kcheck.model.names import DELETED, INDEX_ENDINGS, segment_prefix
from kcheck.model.release import Release
from kcheck.model.segments import End
from kcheck.records.batch import CODEC_MASK, HEADER, MIN_ENTRY_SIZE, OVERHEAD, patch
from kcheck.records.record import BODY_SIZE_MAX, Record, read_records
from kcheck.segments.header_columns import Array, HeaderColumns, HeaderReader
from kcheck.startup.index import LoadedOffsetIndex, LoadedTimeIndex
from kcheck.startup.inputs import Context
from kcheck.startup.virtual_files import Folder, StartError, UnseenError, unreadable

ENDINGS = (".log", *INDEX_ENDINGS)


def endings(release: Release) -> tuple[str, ...]:
    """Return the suffixes of the files of a segment; a transaction index only in 0.11 and later."""
    return ENDINGS if release.has_producer_state else ENDINGS[:-1]


class BatchEntry(NamedTuple):
    """The batch where a search ends."""

    position: int
    """Its position in the segment."""
    base_offset: int
    """Its base offset, as a release with an index by base offset sees it."""


class SearchResult(NamedTuple):
    """The result of a search from a position."""

    batch: BatchEntry | None
    """The batch, None without one."""
    last_offset: int
    """The last offset of the last batch that the search read, -1 without one."""


def _as_messages(columns: HeaderColumns) -> HeaderColumns:
    """Return batches of magic 2 as a release without magic 2 sees them, as messages with a wrong CRC."""
    unknown = columns.magic >= 2
    valid = None if columns.valid is None else columns.valid & ~unknown
    return columns._replace(last_offset=np.where(unknown, columns.base_offset, columns.last_offset), valid=valid)


class Segment:
    """One segment. It opens its indexes at their first use, and creates missing ones."""

    def __init__(self, folder: Folder, base: int, context: Context, *, suffix: str = "", new: bool = False) -> None:
        """Open the `.log`, or create it; `new`: as the active segment, which may be preallocated."""
        self.folder: Folder = folder
        self.base: int = base
        self.context: Context = context
        self.suffix: str = suffix
        folder.refuse_directory(self.log_name)
        if context.release.has_producer_state:
            folder.refuse_directory(self.name(".txnindex"))
        if self.log_name not in folder:
            size = context.settings.segment_bytes if new and context.settings.preallocate else 0
            folder.put(self.log_name, Content(size))
            self._logical_size: int | None = 0
        else:
            self._logical_size = None
        seen = seen_log_size(self.size, context.release)
        if seen is None:
            error = "KafkaException" if context.release.refuses_large_logs else "IllegalArgumentException"
            raise StartError(f"{error}: {self.log_name} has {self.size} bytes; the limit is {LOG_SIZE_MAX}")
        if seen < self.size:
            raise UnseenError(f"{self.log_name} has {self.size} bytes, but the broker sees {seen} bytes")
        self._knows_transactions = self.name(".txnindex") in folder
        self._offset_index: LoadedOffsetIndex | None = None
        self._time_index: LoadedTimeIndex | None = None
        if context.release.checks_indexes:
            self.open_indexes()

    def name(self, ending: str) -> str:
        """Return the name of one of its files."""
        return segment_prefix(Offset(self.base)) + ending + self.suffix

    @property
    def log_name(self) -> str:
        """The name of its `.log`."""
        return self.name(".log")

    @property
    def size(self) -> int:
        """The size of its `.log` in bytes, without preallocated ones."""
        return self.folder.files[self.log_name].size if self._logical_size is None else self._logical_size

    @property
    def offset_index(self) -> LoadedOffsetIndex:
        """The offset index, opened."""
        if self._offset_index is None:
            size = self.context.settings.segment_index_bytes
            self._offset_index = LoadedOffsetIndex(self.folder, self.name(".index"), self.base, size)
        return self._offset_index

    @property
    def time_index(self) -> LoadedTimeIndex:
        """The time index, opened."""
        if self._time_index is None:
            size = self.context.settings.segment_index_bytes
            self._time_index = LoadedTimeIndex(self.folder, self.name(".timeindex"), self.base, size)
        return self._time_index

    def open_indexes(self) -> None:
        """Open both indexes, or create missing ones."""
        _ = self.offset_index, self.time_index

    def in_range(self, offset: int) -> bool:
        """Return whether the offset fits into the segment (AbstractIndex.toRelative)."""
        return 0 <= offset - self.base <= RELATIVE_OFFSET_MAX

    def windows(
        self, position: int, *, end: int | None = None, verify: bool = False
    ) -> Iterator[tuple[HeaderColumns, HeaderReader]]:
        """Yield the batches after a position, with the reader, which has their end and its reason.

        Positions count from the beginning of the segment, even if it is a part of a file.
        """
        content = self.folder.files[self.log_name]
        end = self.size if end is None else end
        if content.file is None or position >= end:
            return
        with unreadable(self.log_name), self.folder.disk.open(content.file) as source:
            begin = content.begin
            reader = HeaderReader(
                source, begin + end, verify=verify, position=begin + position, lax=not verify,
                patches=content.patches,
            )  # fmt: skip
            for columns in reader:
                self._look_for_headers(columns, begin)
                if not self.context.release.reads_batches:
                    columns = _as_messages(columns)  # noqa: PLW2901 - the same batches
                yield (columns._replace(position=columns.position - begin) if begin else columns), reader
            corrupt = reader.end is End.CORRUPT
            if reader.end is End.TORN and not self.context.release.reads_batches:
                # Up to 0.10.2 the broker checks the size when 13 bytes are left; later releases need 18.
                left = source.pread(min(OVERHEAD.size + 1, begin + end - reader.position), reader.position)
                corrupt = len(left) > OVERHEAD.size and OVERHEAD.unpack_from(left)[1] < MIN_ENTRY_SIZE
            if corrupt and not verify:
                at = reader.position - begin
                raise StartError(f"CorruptRecordException: {self.log_name} has no valid batch at position {at}")

    def _look_for_headers(self, columns: HeaderColumns, begin: int) -> None:
        """Fail where the file ends inside the header of a batch."""
        short = (columns.size < HEADER.size) & (columns.magic >= 2)
        if short.any() and (columns.position[short] - begin + HEADER.size > self.size).any():
            raise StartError(f"KafkaException: {self.log_name} ends inside the header of a batch")

    def search(self, offset: int, position: int | None = None, *, to_end: bool = False) -> SearchResult:
        """Return the batch that FileRecords finds for an offset (searchForOffsetWithSize, in 4.1 and later
        ...FromPosition).

        With `to_end` it continues to the last batch.
        """
        start = max(self.offset_index.lookup(offset), 0) if position is None else position
        entry: BatchEntry | None = None
        before, last = None, -1
        for columns, _ in self.windows(start):
            last = int(columns.last_offset[-1])
            if entry is None:
                entry = self._first(self._decoded(columns, offset), offset, before)
            before = columns
            if entry is not None and not to_end:
                break
        if entry is None and before is not None and self._reaches_by_base and last >= offset:
            entry = BatchEntry(int(before.position[-1]), int(before.base_offset[-1]))
        return SearchResult(entry, last)

    def _decoded(self, columns: HeaderColumns, offset: int) -> HeaderColumns:
        """Return the batches with the first offsets of compressed messages of magic 0 and 1 (4.0 and later).

        These brokers decompress messages up to the end of the search, and fail on messages that they cannot decompress.
        """
        if not self.context.release.decodes_wrappers_in_search or int(columns.magic.min()) >= 2:
            return columns
        reached = columns.last_offset > offset
        end = int(np.argmax(reached)) + 1 if reached.any() else len(reached)
        wrappers = np.flatnonzero((columns.magic[:end] < 2) & (columns.attributes[:end] & CODEC_MASK != 0))
        if not self._reaches_by_base:
            wrappers = wrappers[columns.last_offset[wrappers] >= offset][:1]
        bases = columns.base_offset.copy()
        bases[wrappers] = self.first_offsets(columns, wrappers)
        return columns._replace(base_offset=bases)

    def first_offsets(self, columns: HeaderColumns, rows: Array) -> Array:
        """Return the offsets of the first records of batches; compressed messages of magic 0 and 1 are decompressed."""
        offsets = columns.base_offset[rows].copy()
        for at in np.flatnonzero((columns.magic[rows] < 2) & (columns.attributes[rows] & CODEC_MASK != 0)).tolist():
            position, size = int(columns.position[rows[at]]), int(columns.size[rows[at]])
            first = next(read_records(self.read(position, size)), None)
            if not isinstance(first, Record):
                why = "it is empty" if first is None else first.message
                raise StartError(
                    f"the compressed message at position {position} of {self.log_name} cannot be read: {why}"
                )
            offsets[at] = first.offset
        return offsets

    def read(self, position: int, size: int) -> bytes:
        """Return bytes of the `.log`, at most BODY_SIZE_MAX."""
        content = self.folder.files[self.log_name]
        assert content.file is not None
        with unreadable(self.log_name), self.folder.disk.open(content.file) as source:
            position += content.begin
            data = bytearray(source.pread(min(size, BODY_SIZE_MAX), position))
        patch(data, position, content.patches)
        return bytes(data)

    @property
    def _reaches_by_base(self) -> bool:
        return self.context.release.searches_by_base_offset

    def _first(self, columns: HeaderColumns, offset: int, before: HeaderColumns | None) -> BatchEntry | None:
        reached = (columns.base_offset if self._reaches_by_base else columns.last_offset) >= offset
        at = int(np.argmax(reached))
        if not reached[at]:
            return None
        rows, row = columns, at
        if self._reaches_by_base and int(columns.base_offset[at]) > offset:
            earlier = (columns, at - 1) if at else (before, -1)
            if earlier[0] is not None and int(earlier[0].last_offset[earlier[1]]) >= offset:
                rows, row = earlier[0], earlier[1]
        return BatchEntry(int(rows.position[row]), int(rows.base_offset[row]))

    def next_offset(self) -> int:
        """Return the offset after the last batch, searched from the last index entry on (readNextOffset)."""
        tail = self.search(self.offset_index.last_offset, to_end=True)
        return self.base if tail.batch is None else tail.last_offset + 1

    def cut(self, size: int) -> None:
        """Truncate the `.log` to a size."""
        if size < self.size:
            self.folder.put(self.log_name, self.folder.files[self.log_name].resized(size))

    def truncate_to(self, offset: int) -> int:
        """Truncate the segment to an offset; return how many bytes it loses (LogSegment.truncateTo)."""
        tail = self.search(offset)
        self.offset_index.truncate_to(offset)
        self.time_index.truncate_to(offset)
        self.truncate_transactions(offset)
        self.resize_indexes()
        if tail.batch is None:
            return 0
        cut_size = self.size - tail.batch.position
        self.cut(tail.batch.position)
        return cut_size

    def resize_indexes(self) -> None:
        """Give both indexes their full size."""
        self.offset_index.resize_to_full()
        self.time_index.resize_to_full()

    def transactions(self) -> AbortedTxns:
        """Return the entries of the transaction index; none without a file."""
        name = self.name(".txnindex")
        if name not in self.folder:
            return ()
        return transaction_entries(self.folder.read_whole(name))

    def truncate_transactions(self, offset: int) -> None:
        """Remove the aborted transactions that end at or above an offset."""
        last_offsets = (entry.last_offset for entry in self.transactions())
        keep = next((count for count, last_offset in enumerate(last_offsets) if last_offset >= offset), None)
        if keep is not None:
            name = self.name(".txnindex")
            self.folder.put(name, self.folder.files[name].resized(keep * ABORTED_TXN.size))

    def write_transactions(self, entries: tuple[AbortedTxn, ...]) -> None:
        """Rewrite the transaction index; without entries, empty an existing file and create none.

        A file that appeared under its name after the segment was opened stays, and the entries follow its own.
        """
        name = self.name(".txnindex")
        known = self._knows_transactions and name in self.folder
        before = () if known else self.transactions()
        if (entries or known) and self.context.release.has_producer_state:
            self.folder.put(name, new_content(serialize((*before, *entries))))
            self._knows_transactions = True

    def rename(self, suffix: str) -> None:
        """Replace the suffix of all files of the segment (changeFileSuffixes)."""
        for ending in endings(self.context.release):
            self.folder.rename(self.name(ending), segment_prefix(Offset(self.base)) + ending + suffix)
        self.suffix = suffix
        for index, ending in ((self._offset_index, ".index"), (self._time_index, ".timeindex")):
            if index is not None:
                index.name = self.name(ending)

    def mark_deleted(self) -> None:
        """Rename all files of the segment to .deleted."""
        self.rename(DELETED)
