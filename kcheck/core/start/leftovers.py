"""The handling of .cleaned, .swap and .deleted files, which a compaction, split or deletion left.

LogLoader from 3.0, Log in 2.8 and earlier.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kcheck.core.start.startup import first_pass, offset_of, replaced_by_swaps
from kcheck.model.entries import Offset
from kcheck.model.names import CLEANED, DELETED, SWAP, FileKind, KafkaFile, parse_file
from kcheck.model.release import Release

_INDEXES = (FileKind.INDEX, FileKind.TIME_INDEX, FileKind.TRANSACTION_INDEX)


_NUMBERED = (FileKind.LOG, *_INDEXES, FileKind.PRODUCER_SNAPSHOT)


def ends_start(name: str, release: Release) -> bool:
    """Return whether the broker cannot start because a file name does not begin with a number.

    3.0 and later parse the number of every leftover. 2.8 and earlier parse only names of files that replace a segment.
    """
    if offset_of(name) is not None or name.endswith(DELETED):
        return False
    kind, since_0_11 = parse_file(name).kind, (FileKind.TRANSACTION_INDEX, FileKind.PRODUCER_SNAPSHOT)
    if name.endswith(CLEANED):
        return release.drops_swaps_of_unfinished_splits
    if name.endswith(SWAP):
        swapped_in = (FileKind.LOG, *(_INDEXES if release.keeps_swapped_indexes else ()))
        return release.finishes_swaps_by_renaming or kind in swapped_in
    return kind in _NUMBERED and (release.has_producer_state or kind not in since_0_11)


class Leftovers(NamedTuple):
    """The changes of a directory because of leftovers, by file name."""

    removed: frozenset[str]
    """The files that it deletes, or renames to `.deleted`."""
    renamed: frozenset[str]
    """The files whose `.swap` suffix it removes."""


def after_start(
    names: Iterable[str], swap_ends: Mapping[Offset, Offset], segment_ends: Mapping[Offset, Offset], release: Release
) -> Leftovers:
    """Return the changes of a partition directory because of leftovers when the broker starts.

    `swap_ends` maps the base offset of each `.log.swap` to its end offset. `segment_ends` does the same for segments.
    """
    files = {name: parse_file(name) for name in names}
    temporary = first_pass(files, release)
    kept_swaps = {name: files[name] for name in temporary.swaps}
    ends = {
        file.offset: swap_ends[file.offset]
        for file in kept_swaps.values()
        if file.kind is FileKind.LOG and file.offset is not None and file.offset in swap_ends
    }
    if release.finishes_swaps_by_renaming:
        replaced = set(replaced_by_swaps(files, min(ends), max(ends.values()))) if ends else set()
        return Leftovers(removed=frozenset((*temporary.removed, *replaced)), renamed=frozenset(kept_swaps))
    swaps = {name: file for name, file in files.items() if file.suffix == SWAP}
    logs = {file.offset for file in swaps.values() if file.kind is FileKind.LOG}
    indexes = {name for name, file in swaps.items() if file.kind in _INDEXES}
    # Up to 2.8 a start deletes swapped indexes only beside a `.log.swap`. Without one they stay, and yet the start
    # deletes the indexes of their segment.
    removed = {name for name in temporary.removed if name not in swaps or files[name].offset in logs}
    renamed = {name for name, file in kept_swaps.items() if file.offset in ends}
    replacing = list(swaps.values())
    if not release.keeps_swapped_indexes:
        removed, renamed = removed | indexes, renamed - indexes
        replacing = [file for file in replacing if file.kind is FileKind.LOG]
    replaced = _replaced_segments(files, ends, segment_ends, release) | _indexes_of(files, replacing)
    return Leftovers(removed=frozenset(removed | replaced), renamed=frozenset(renamed))


def _replaced_segments(
    files: Mapping[str, KafkaFile],
    ends: Mapping[Offset, Offset],
    segment_ends: Mapping[Offset, Offset],
    release: Release,
) -> set[str]:
    """Return the files of the segments whose offsets a swap holds.

    The producer snapshot at the swap's own base offset stays; in 2.7 and earlier every producer snapshot does.
    """
    replaced: set[str] = set()
    for base, end in ends.items():
        floor = max((other for other in segment_ends if other <= base), default=base)
        for other, other_end in segment_ends.items():
            # Up to 1.1 the segment before the swap goes too, even if it ends before the swap starts.
            overlaps = other_end > base or not release.drops_swaps_of_unfinished_splits
            if floor <= other < end and overlaps:
                keeps_snapshot = other == base or not release.keeps_snapshot_per_segment
                replaced |= {
                    name
                    for name, file in files.items()
                    if file.offset == other and not file.suffix
                    and not (keeps_snapshot and file.kind is FileKind.PRODUCER_SNAPSHOT)
                }  # fmt: skip
    return replaced


def _indexes_of(files: Mapping[str, KafkaFile], swaps: Iterable[KafkaFile]) -> set[str]:
    """Return the indexes of the segments at the base offsets of these swaps."""
    bases = {file.offset for file in swaps if file.kind is FileKind.LOG or file.kind in _INDEXES}
    return {n for n, file in files.items() if file.offset in bases and file.kind in _INDEXES and not file.suffix}
