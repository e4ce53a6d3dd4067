"""The steps of a load with the files of an unfinished swap, before it opens a segment.

The class is LogLoader (method load), and Log in 2.8 and earlier.
"""

from kcheck.core.start.startup import first_pass, offset_of, replaced_by_swaps
from kcheck.model.java import LONG_MAX, LONG_MIN
from kcheck.model.names import CLEANED, DELETED, INDEX_ENDINGS, SWAP, log_name, segment_prefix
from kcheck.startup.inputs import Context
from kcheck.startup.segment import ENDINGS, Segment
from kcheck.startup.virtual_files import Folder, StartError


def rename_swaps(folder: Folder, context: Context) -> list[str]:
    """Remove leftovers, and rename the swaps, as in 3.0 and later; return what was renamed.

    A swap replaces every file between the lowest base offset and the highest end of the swaps.
    """
    leftovers = first_pass(folder.files, context.release)
    if leftovers.unnumbered is not None:
        raise StartError(f"NumberFormatException: {leftovers.unnumbered} does not start with a number")
    for name in leftovers.removed:
        folder.remove(name)
    low, high = LONG_MAX, LONG_MIN
    for name in leftovers.swaps:
        if name.removesuffix(SWAP).endswith(".log"):
            segment = Segment(folder, offset_of(name) or 0, context, suffix=SWAP)
            low, high = min(low, segment.base), max(high, segment.next_offset())
    for name in replaced_by_swaps(folder.files, low, high):
        folder.remove(name)
    reasons = []
    for name in sorted(folder.files):
        if name.endswith(SWAP):
            reasons.append(f"{name} replaces {name.removesuffix(SWAP)}")
            folder.rename(name, name.removesuffix(SWAP))
    return reasons


def delete_swapped_indexes(folder: Folder, context: Context) -> tuple[int, ...]:
    """Remove leftovers and replaced indexes as in 2.8 and earlier; return the base offsets of the swaps."""
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
            if plain.endswith(INDEX_ENDINGS) and not release.keeps_swapped_indexes:
                folder.remove(name)
            elif plain.endswith(ENDINGS):
                _delete_indexes(folder, _number(name), "")
            if plain.endswith(".log"):
                logs.add(_number(name))
    void = {base for base in logs if first is not None and base >= first}
    for base in void:
        _delete_indexes(folder, base, SWAP)
        folder.remove(log_name(base) + SWAP)
    for name in sorted(folder.files):
        if name.endswith(CLEANED):
            folder.remove(name)
    return tuple(sorted(logs - void))


def _number(name: str) -> int:
    number = offset_of(name)
    if number is None:
        raise StartError(f"NumberFormatException: {name} does not start with a number")
    return number


def _delete_indexes(folder: Folder, base: int, suffix: str) -> None:
    for ending in INDEX_ENDINGS:
        folder.remove(f"{segment_prefix(base)}{ending}{suffix}")
