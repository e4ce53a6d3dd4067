"""What a start makes of the leftovers of a compaction, a split or a deletion (LogLoader 3.0 on, Log up to 2.8)."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kcheck.core.startup import offset_of, replaced_by_swaps, temporary
from kcheck.model.entries import Offset
from kcheck.model.names import CLEANED, DELETED, SWAP, FileKind, KafkaFile, parse_file
from kcheck.model.release import Release

_INDEXES = (FileKind.INDEX, FileKind.TIME_INDEX, FileKind.TRANSACTION_INDEX)


_NUMBERED = (FileKind.LOG, *_INDEXES, FileKind.PRODUCER_SNAPSHOT)


def ends_start(name: str, release: Release) -> bool:
    """Whether the start of a broker fails on the name of a file: it looks for a number where none is.

    Of leftovers 3.0 and later want the number of each, up to 2.8 that of what they put in the place of a segment.
    """
    if offset_of(name) is not None or name.endswith(DELETED):
        return False
    kind, of_producers = parse_file(name).kind, (FileKind.TRANSACTION_INDEX, FileKind.PRODUCER_SNAPSHOT)
    if name.endswith(CLEANED):
        return release.drops_swaps_of_unfinished_splits
    if name.endswith(SWAP):
        taken = (FileKind.LOG, *(_INDEXES if release.keeps_swapped_indexes else ()))
        return release.finishes_swaps_by_renaming or kind in taken
    return kind in _NUMBERED and (release.has_producer_state or kind not in of_producers)


class Leftovers(NamedTuple):
    """Names of files: those that a start removes (or marks to be removed), and those that lose their `.swap`."""

    removed: frozenset[str]
    renamed: frozenset[str]


def after_start(
    names: Iterable[str], swap_ends: Mapping[Offset, Offset], segment_ends: Mapping[Offset, Offset], release: Release
) -> Leftovers:
    """Return what happens to the files of a partition directory because of leftovers.

    `swap_ends` has the end offset of each `.log.swap` by its base offset, `segment_ends` that of each segment.
    """
    files = {name: parse_file(name) for name in names}
    first = temporary(files, release)
    left = {name: files[name] for name in first.swaps}
    ends = {
        file.offset: swap_ends[file.offset]
        for file in left.values()
        if file.kind is FileKind.LOG and file.offset is not None and file.offset in swap_ends
    }
    if release.finishes_swaps_by_renaming:
        between = replaced_by_swaps(files, min(ends), max(ends.values())) if ends else ()
        return Leftovers(frozenset((*first.removed, *between)), frozenset(left))
    swaps = {name: file for name, file in files.items() if file.suffix == SWAP}
    logs = {file.offset for file in swaps.values() if file.kind is FileKind.LOG}
    indexes = {name for name, file in swaps.items() if file.kind in _INDEXES}
    # Up to 2.8 only the indexes of a `.log.swap` count; those without stay, and yet cost their segment its indexes.
    gone = {name for name in first.removed if name not in swaps or files[name].offset in logs}
    renamed = {name for name, file in left.items() if file.offset in ends}
    costs = list(swaps.values())
    if not release.keeps_swapped_indexes:
        gone, renamed = gone | indexes, renamed - indexes
        costs = [file for file in costs if file.kind is FileKind.LOG]
    replaced = _replaced(files, ends, segment_ends, release) | _indexes_of(files, costs)
    return Leftovers(frozenset(gone | replaced), frozenset(renamed))


def _replaced(
    files: Mapping[str, KafkaFile],
    ends: Mapping[Offset, Offset],
    segment_ends: Mapping[Offset, Offset],
    release: Release,
) -> set[str]:
    """Return the files of the segments that hold offsets of a swap; its own snapshot stays, up to 2.7 every one."""
    found: set[str] = set()
    for base, end in ends.items():
        floor = max((other for other in segment_ends if other <= base), default=base)
        for other, other_end in segment_ends.items():
            # Up to 1.1 the segment before it goes too, also where it ends before the swap begins.
            holds = other_end > base or not release.drops_swaps_of_unfinished_splits
            if floor <= other < end and holds:
                kept = other == base or not release.keeps_snapshot_per_segment
                found |= {
                    name
                    for name, file in files.items()
                    if file.offset == other and not file.suffix
                    and not (kept and file.kind is FileKind.PRODUCER_SNAPSHOT)
                }  # fmt: skip
    return found


def _indexes_of(files: Mapping[str, KafkaFile], swaps: Iterable[KafkaFile]) -> set[str]:
    """Return the indexes of the segments with the base offset of a swap."""
    bases = {file.offset for file in swaps if file.kind is FileKind.LOG or file.kind in _INDEXES}
    return {n for n, file in files.items() if file.offset in bases and file.kind in _INDEXES and not file.suffix}
