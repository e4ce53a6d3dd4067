"""What a start up to 2.8 makes of swaps: they are recovered, and then take the place of segments (Log)."""

from typing import TYPE_CHECKING

from kcheck.core.startup import offset_of, segments_from
from kcheck.model.names import CLEANED, DELETED, SWAP, segment_prefix
from kcheck.scan.start.files import Folder, StartError
from kcheck.scan.start.recover import SegmentOverflowError
from kcheck.scan.start.segment import ENDINGS, Segment
from kcheck.scan.start.values import Context

if TYPE_CHECKING:
    from kcheck.scan.start.log import LogLoader


def delete_swapped_indexes(folder: Folder, context: Context) -> tuple[int, ...]:
    """Remove leftovers, and the indexes that swaps stand for; return the base offsets of the swaps that go on."""
    release = context.release
    logs: set[int] = set()
    first: int | None = None
    for name in sorted(folder.files):
        if name.endswith(DELETED):
            folder.remove(name)
        elif name.endswith(CLEANED):
            if release.drops_swaps_of_unfinished_splits:
                first = min(_number(name), _number(name) if first is None else first)
        elif name.endswith(SWAP):
            plain = name.removesuffix(SWAP)
            if plain.endswith(".txnindex") and not release.has_producer_state:
                continue
            if plain.endswith(ENDINGS[1:]) and not release.keeps_swapped_indexes:
                folder.remove(name)
            elif plain.endswith(ENDINGS):
                _delete_indexes(folder, _number(name), "")
            if plain.endswith(".log"):
                logs.add(_number(name))
    void = {base for base in logs if first is not None and base >= first}
    for base in void:
        _delete_indexes(folder, base, SWAP)
        folder.remove(f"{segment_prefix(base)}.log{SWAP}")
    for name in sorted(folder.files):
        if name.endswith(CLEANED):
            folder.remove(name)
    return tuple(sorted(logs - void))


def _number(name: str) -> int:
    number = offset_of(name)
    if number is None:
        raise StartError(f"NumberFormatException: {name} begins with no number")
    return number


def _delete_indexes(folder: Folder, base: int, suffix: str) -> None:
    for ending in ENDINGS[1:]:
        folder.remove(f"{segment_prefix(base)}{ending}{suffix}")


def complete_swaps(loader: "LogLoader", bases: tuple[int, ...]) -> None:
    """Recover each swap, and put it in the place of the segments that hold its offsets (completeSwapOperations)."""
    if len(bases) > 1:
        loader.uncertain = "several swaps are recovered in the order in which the file system lists them"
    release = loader.context.release
    for base in bases:
        swap = Segment(loader.folder, base, loader.context, suffix=SWAP)
        loader.reasons.append(f"{swap.log_name} is recovered and takes the place of what it holds")
        try:
            loader.recover_segment(swap, None, ends_start=True)
        except SegmentOverflowError as error:
            raise StartError(f"LogSegmentOffsetOverflowException: {error}") from error
        try:
            held = segments_from(sorted(loader.segments), base, swap.next_offset(), release=release)
        except ValueError as error:
            raise StartError(f"IllegalArgumentException: {swap.log_name} ends too low: {error}") from error
        old = [each for each in held if not release.splits_segments or loader.segments[each].next_offset() > base]
        for each in old:
            loader.segments.pop(each).mark_deleted()
        swap.rename("")
        loader.segments[base] = swap
