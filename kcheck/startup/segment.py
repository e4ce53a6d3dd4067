"""A segment as a starting broker handles it: LogSegment, FileRecords, LocalLog of 2.8 to 4.3.1."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from kcheck.core.predictions import Content, new_content
from kcheck.core.segments import LOG_SIZE_MAX, seen_log_size
from kcheck.disk.read import opened
from kcheck.formats._record import BODY_SIZE_MAX, Record, read_records
from kcheck.formats.record_batch import CODEC_MASK, HEADER, MIN_ENTRY_SIZE, OVERHEAD, patch
from kcheck.formats.transaction_index import ABORTED_TXN, AbortedTxn, AbortedTxns, serialize
from kcheck.formats.transaction_index import entries as transaction_entries
from kcheck.model.entries import RELATIVE_OFFSET_MAX, Offset
from kcheck.model.names import DELETED, INDEX_ENDINGS, segment_prefix
from kcheck.model.release import Release
from kcheck.model.segments import End
from kcheck.segments.header_columns import Column, HeaderColumns, HeaderReader
from kcheck.startup.index import LoadedOffsetIndex, LoadedTimeIndex
from kcheck.startup.inputs import Context
from kcheck.startup.virtual_files import Folder, StartError, UnseenError, unreadable

ENDINGS = (".log", *INDEX_ENDINGS)


def endings(release: Release) -> tuple[str, ...]:
    """Return the endings of the files that a segment has: up to 0.10.2 a transaction index is none of them."""
    return ENDINGS if release.has_producer_state else ENDINGS[:-1]


class BatchEntry(NamedTuple):
    """A batch that a search ended at, and how large the file's batches are behind it."""

    position: int
    base_offset: int


class SearchResult(NamedTuple):
    """What a search from a position on found: the batch, and the last offset of the last batch behind it."""

    found: BatchEntry | None
    last_offset: int


def _as_messages(columns: HeaderColumns) -> HeaderColumns:
    """Return batches of version 2 as a release takes them that does not know it: as messages of a wrong CRC."""
    unknown = columns.magic >= 2
    valid = None if columns.valid is None else columns.valid & ~unknown
    return columns._replace(last_offset=np.where(unknown, columns.base_offset, columns.last_offset), valid=valid)


class Segment:
    """One segment; its indexes are opened when they are first asked for, and made then if they are missing."""

    def __init__(self, folder: Folder, base: int, context: Context, *, suffix: str = "", new: bool = False) -> None:
        """Open the `.log`, which is made if it is missing; `new`: as one to be appended to."""
        self.folder, self.base, self.context, self.suffix = folder, base, context, suffix
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
            raise StartError(f"{error}: {self.log_name} has {self.size} bytes, more than {LOG_SIZE_MAX}")
        if seen < self.size:
            raise UnseenError(f"{self.log_name} has {self.size} bytes, and the broker takes it for one of {seen}")
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
        """The size of its `.log` in bytes, without what is only reserved."""
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
        """Open both indexes, which are made if they are missing."""
        _ = self.offset_index, self.time_index

    def in_range(self, offset: int) -> bool:
        """Whether a segment of this base offset can hold the offset (AbstractIndex.toRelative)."""
        return 0 <= offset - self.base <= RELATIVE_OFFSET_MAX

    def windows(
        self, position: int, *, end: int | None = None, verify: bool = False
    ) -> Iterator[tuple[HeaderColumns, HeaderReader]]:
        """Yield the batches from a position on; the reader tells in the end where they end, and why.

        Positions count from the begin of the segment, also of a part of a file.
        """
        content = self.folder.files[self.log_name]
        end = self.size if end is None else end
        if content.path is None or position >= end:
            return
        with unreadable(self.log_name), opened(content.path) as source:
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
                # Up to 0.10.2 the size is looked at where 13 bytes are left, behind that 18 are needed.
                left = source.pread(min(OVERHEAD.size + 1, begin + end - reader.position), reader.position)
                corrupt = len(left) > OVERHEAD.size and OVERHEAD.unpack_from(left)[1] < MIN_ENTRY_SIZE
            if corrupt and not verify:
                at = reader.position - begin
                raise StartError(f"CorruptRecordException: {self.log_name} holds no batch at position {at}")

    def _look_for_headers(self, columns: HeaderColumns, begin: int) -> None:
        """Fail where the header of a batch goes on behind the end of the file."""
        short = (columns.size < HEADER.size) & (columns.magic >= 2)
        if short.any() and (columns.position[short] - begin + HEADER.size > self.size).any():
            raise StartError(f"KafkaException: {self.log_name} ends inside of the header of a batch")

    def search(self, offset: int, position: int | None = None, *, to_end: bool = False) -> SearchResult:
        """Return the batch that FileRecords finds for an offset: searchForOffsetWithSize, from 4.1 ...FromPosition.

        Nothing is read behind it, unless `to_end` is set.
        """
        start = max(self.offset_index.lookup(offset), 0) if position is None else position
        found, before, last = None, None, -1
        for columns, _ in self.windows(start):
            last = int(columns.last_offset[-1])
            if found is None:
                found = self._first(self._decoded(columns, offset), offset, before)
            before = columns
            if found is not None and not to_end:
                break
        if found is None and before is not None and self._reaches_by_base and last >= offset:
            found = BatchEntry(int(before.position[-1]), int(before.base_offset[-1]))
        return SearchResult(found, last)

    def _decoded(self, columns: HeaderColumns, offset: int) -> HeaderColumns:
        """Look into the wrappers of old messages up to the one that a search ends at, as from 4.0 on a broker does.

        It needs their first offsets, and so fails on what it cannot decompress.
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

    def first_offsets(self, columns: HeaderColumns, rows: Column) -> Column:
        """Return the offsets of the first records of batches, for which wrappers of old messages are decompressed."""
        found = columns.base_offset[rows].copy()
        for at in np.flatnonzero((columns.magic[rows] < 2) & (columns.attributes[rows] & CODEC_MASK != 0)).tolist():
            position, size = int(columns.position[rows[at]]), int(columns.size[rows[at]])
            first = next(read_records(self.read(position, size)), None)
            if not isinstance(first, Record):
                why = "it is empty" if first is None else first.message
                raise StartError(f"the wrapper at position {position} of {self.log_name} cannot be read: {why}")
            found[at] = first.offset
        return found

    def read(self, position: int, size: int) -> bytes:
        """Return bytes of the `.log`, up to a limit of memory."""
        content = self.folder.files[self.log_name]
        assert content.path is not None
        with unreadable(self.log_name), opened(content.path) as source:
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
        """Return the offset behind the last batch, as the last slot of the index leads there (readNextOffset)."""
        tail = self.search(self.offset_index.last_offset, to_end=True)
        return self.base if tail.found is None else tail.last_offset + 1

    def cut(self, size: int) -> None:
        """Cut the `.log`."""
        if size < self.size:
            self.folder.put(self.log_name, self.folder.files[self.log_name].resized(size))

    def truncate_to(self, offset: int) -> int:
        """Cut the segment at an offset; return how many bytes went (LogSegment.truncateTo)."""
        tail = self.search(offset)
        self.offset_index.truncate_to(offset)
        self.time_index.truncate_to(offset)
        self.truncate_transactions(offset)
        self.resize_indexes()
        if tail.found is None:
            return 0
        gone = self.size - tail.found.position
        self.cut(tail.found.position)
        return gone

    def resize_indexes(self) -> None:
        """Give both indexes their full size."""
        self.offset_index.resize_to_full()
        self.time_index.resize_to_full()

    def transactions(self) -> AbortedTxns:
        """Return the entries of the transaction index, none where there is no file."""
        name = self.name(".txnindex")
        if name not in self.folder:
            return ()
        return transaction_entries(self.folder.read_whole(name))

    def truncate_transactions(self, offset: int) -> None:
        """Forget the aborted transactions that end at an offset or behind it."""
        found = self.transactions()
        keep = next((at for at, each in enumerate(found) if each.last_offset >= offset), None)
        if keep is not None:
            name = self.name(".txnindex")
            self.folder.put(name, self.folder.files[name].resized(keep * ABORTED_TXN.size))

    def write_transactions(self, entries: tuple[AbortedTxn, ...]) -> None:
        """Write the transaction index anew; without entries an existing file becomes empty, and none is made.

        What came under its name since the segment was opened stays, and entries go behind it.
        """
        name = self.name(".txnindex")
        known = self._knows_transactions and name in self.folder
        before = () if known else self.transactions()
        if (entries or known) and self.context.release.has_producer_state:
            self.folder.put(name, new_content(serialize((*before, *entries))))
            self._knows_transactions = True

    def rename(self, suffix: str) -> None:
        """Give all files of the segment another suffix (changeFileSuffixes)."""
        for ending in endings(self.context.release):
            self.folder.rename(self.name(ending), segment_prefix(Offset(self.base)) + ending + suffix)
        self.suffix = suffix
        for index, ending in ((self._offset_index, ".index"), (self._time_index, ".timeindex")):
            if index is not None:
                index.name = self.name(ending)

    def mark_deleted(self) -> None:
        """Rename all files of the segment, to be removed later."""
        self.rename(DELETED)
