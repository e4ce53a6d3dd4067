"""What a start makes of the leftovers of a compaction, a split or a deletion (LogLoader 3.0 on, Log up to 2.8)."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kcheck.model.entries import Offset
from kcheck.model.java import java_long
from kcheck.model.names import CLEANED, DELETED, SWAP, FileKind, KafkaFile, parse_file
from kcheck.model.release import Release

_INDEXES = (FileKind.INDEX, FileKind.TIME_INDEX, FileKind.TRANSACTION_INDEX)


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
    deleted = {n for n, file in files.items() if file.suffix == DELETED and file.kind is not FileKind.METADATA_SNAPSHOT}
    cleaned = {n: file for n, file in files.items() if file.suffix == CLEANED}
    swaps = {n: file for n, file in files.items() if file.suffix == SWAP}
    # A swap at or above an output that was not finished is part of a split that did not end (KAFKA-6264).
    first = min((file.offset for file in cleaned.values() if file.offset is not None), default=None)
    if not release.drops_swaps_of_unfinished_splits:
        first = None
    void = {n for n, file in swaps.items() if first is not None and file.offset is not None and file.offset >= first}
    left = {name: file for name, file in swaps.items() if name not in void}
    ends = {
        file.offset: swap_ends[file.offset]
        for file in left.values()
        if file.kind is FileKind.LOG and file.offset is not None and file.offset in swap_ends
    }
    gone = deleted | set(cleaned)
    if release.finishes_swaps_by_renaming:
        return Leftovers(frozenset(gone | void | _between(files, ends)), frozenset(left))
    logs = {file.offset for name, file in swaps.items() if file.kind is FileKind.LOG}
    indexes = {name for name, file in swaps.items() if file.kind in _INDEXES}
    # Up to 2.8 only the indexes of a `.log.swap` count; those without stay, and yet cost their segment its indexes.
    void = {name for name in void if files[name].offset in logs}
    renamed = {name for name, file in left.items() if file.offset in ends}
    costs = list(swaps.values())
    if not release.keeps_swapped_indexes:
        gone, renamed = gone | indexes, renamed - indexes
        costs = [file for file in costs if file.kind is FileKind.LOG]
    replaced = _replaced(files, ends, segment_ends, release) | _indexes_of(files, costs)
    return Leftovers(frozenset(gone | void | replaced), frozenset(renamed))


def _between(files: Mapping[str, KafkaFile], ends: Mapping[Offset, Offset]) -> set[str]:
    """Return every file with a number from the first swap to the end of the last: it was compacted or split."""
    if not ends:
        return set()
    numbers = {name: java_long(name.partition(".")[0]) for name, file in files.items() if file.suffix != SWAP}
    low, high = min(ends), max(ends.values())
    return {name for name, number in numbers.items() if "." in name and number is not None and low <= number < high}


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
                kept = other == base or release.version < (2, 8)
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
