"""One segment read from its start: its batches, and its indexes against them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kcheck.model.entries import Offset
from kcheck.model.finding import Location
from kcheck.model.segments import SegmentView
from kcheck.model.source import Files, Filled, Source
from kcheck.model.unreadable import Unreadable, UnreadableError
from kcheck.segments import plain_segment as small

if TYPE_CHECKING:
    from kcheck.segments.batch_records import Records


def examine(
    files: Files,
    name: str,
    where: Location,
    base: Offset,
    *,
    verify: bool,
    look_inside: bool = False,
    reads_zstd: bool = True,
    cuts: Sequence[Offset] = (),
) -> SegmentView:
    """Return what a segment holds by itself; `name` is that of its `.log`. UnreadableError if that cannot be read.

    `verify` computes the CRC of every batch, `look_inside` decodes its records, those in zstd only if `reads_zstd`;
    `cuts` are the offsets behind its first at which the producers are asked for.
    """
    with files.open(name) as source:
        unread: dict[str, Unreadable] = {}
        stem = name.removesuffix(".log")
        indexes = {ending: _index(files, stem, ending, unread) for ending in (".index", ".timeindex")}
        found = None
        if source.size <= small.SIZE_MAX and not look_inside:
            found = small.sound(source, indexes, where, base, verify=verify, cuts=cuts)
        if found is None:
            from kcheck.segments.columnar_segment import whole  # numpy: only where few batches do not tell all

            records = _records(source, reads_zstd=reads_zstd) if look_inside else None
            found = whole(source, indexes, where, base, verify=verify, records=records, cuts=cuts)
        return found._replace(unread=unread) if unread else found


def _records(source: Source, *, reads_zstd: bool) -> "Records":
    from kcheck.segments.batch_records import Records  # only where records are read

    return Records(source, reads_zstd=reads_zstd)


def _index(files: Files, stem: str, ending: str, unread: dict[str, Unreadable]) -> Filled | None:
    """Return the index beside a `.log`, None where there is none that can be read: `unread` tells why."""
    try:
        return files.read_filled(stem + ending)
    except UnreadableError as error:
        unread[ending] = error.why
        return None
