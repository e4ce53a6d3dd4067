"""One segment, completely read, with its batches compared with its indexes."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kcheck.model.entries import Offset
from kcheck.model.finding import Location
from kcheck.model.segments import SegmentView
from kcheck.model.source import Files, Filled, JudgedSource, Source
from kcheck.model.unreadable import Unreadable, UnreadableError
from kcheck.segments import plain_segment as small

if TYPE_CHECKING:
    from kcheck.segments.batch_records import RecordCheck


def read_segment(
    files: Files,
    name: str,
    where: Location,
    base: Offset,
    *,
    verify: bool,
    decode: bool = False,
    reads_zstd: bool = True,
    cuts: Sequence[Offset] = (),
) -> SegmentView:
    """Return the facts about one segment; `name` is its `.log`. UnreadableError if the `.log` cannot be read.

    `verify` computes the CRC of every batch. `decode` decodes the records, in zstd only with `reads_zstd`. `cuts` are
    offsets in the segment with a producer snapshot. The view has the producers below each.
    """
    with files.open(name) as source:
        unread: dict[str, Unreadable] = {}
        stem = name.removesuffix(".log")
        indexes = {ending: _index(files, stem, ending, unread) for ending in (".index", ".timeindex")}
        view = None
        if source.size <= small.SIZE_MAX and not decode:
            view = small.read_plain(source, indexes, where, base, verify=verify, cuts=cuts)
        if view is None:
            from kcheck.segments.columnar_segment import (
                read_columnar,  # imports numpy: only if read_plain cannot decide
            )

            judged = decode and isinstance(source, JudgedSource)
            records = _records(source, reads_zstd=reads_zstd) if decode and not judged else None
            view = read_columnar(source, indexes, where, base, verify=verify, records=records, cuts=cuts)
            if decode and isinstance(source, JudgedSource):
                view = view._replace(records=source.records(reads_zstd=reads_zstd))
        return view._replace(unread=unread) if unread else view


def _records(source: Source, *, reads_zstd: bool) -> "RecordCheck":
    from kcheck.segments.batch_records import RecordCheck  # only if records are decoded

    return RecordCheck(source, reads_zstd=reads_zstd)


def _index(files: Files, stem: str, ending: str, unread: dict[str, Unreadable]) -> Filled | None:
    """Return an index of a segment; None if it cannot be read, with the cause in `unread`."""
    try:
        return files.read_filled(stem + ending)
    except UnreadableError as error:
        unread[ending] = error.why
        return None
