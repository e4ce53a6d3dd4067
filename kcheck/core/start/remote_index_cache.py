"""The fate of `remote-log-index-cache` when a broker starts (RemoteIndexCache.init 3.6.0 to 4.3.1).

The broker deletes leftovers (4.1). Then it parses every name, opens the segments that have all three indexes, and
deletes the files of the others. It catches no exception, so it does not start with one invalid name. This module does
not see the contents of the indexes.
"""

import re
from collections.abc import Iterable

from kcheck.model.entries import Offset
from kcheck.model.java import java_long
from kcheck.model.names import DELETED, INDEX_ENDINGS, REMOTE_INDEX_CACHE, TEMPORARY
from kcheck.model.release import Release
from kcheck.model.remote_index_cache import CachedIndexes, RemoteIndexCache

REFUSED_MAX = 10
"""Number of the refused names that are kept."""

INDEXED_MAX = 1000
"""Number of the remote segments that are kept."""

_SEGMENT_ID = re.compile(r"[A-Za-z0-9_-]{22}(?:==)?")
_ENTRY_SIZES = {".index": 8, ".timeindex": 12, ".txnindex": 1}
_LEFTOVERS = (TEMPORARY, DELETED)
NOT_A_DIRECTORY = RemoteIndexCache(refused=(REMOTE_INDEX_CACHE,), refused_count=1)
"""The name belongs to a file, which the broker cannot list."""


def is_stranger_in_cache(name: str) -> bool:
    """Return whether no broker writes a file of this name into the cache."""
    return not name.endswith((*INDEX_ENDINGS, *_LEFTOVERS))


def is_cached_index(name: str) -> bool:
    """Return whether brokers of 3.6 and later write an index of this name.

    3.5 adds an underscore to the segment id.
    """
    return name.endswith(INDEX_ENDINGS) and _has_segment_id(name)


def read_cache(
    sizes: Iterable[tuple[str, int]], others: Iterable[str], more: int = 0, *, release: Release
) -> RemoteIndexCache:
    """Return the contents of a cache, from its regular files with their sizes, and the names of all other entries.

    `more` is the number of further entries without a name here.
    """
    files = size = leftovers = 0
    refused = list[str]()
    segments = dict[str, dict[str, int]]()
    for name, file_size in sizes:
        files, size, leftovers = files + 1, size + file_size, leftovers + name.endswith(_LEFTOVERS)
        if _is_removed(name, release):
            continue
        stem, dot, ending = name.partition(".")
        if not _has_segment_id(name):
            refused.append(name)
        elif dot + ending in _ENTRY_SIZES:
            segments.setdefault(stem, {})[dot + ending] = file_size
    refused += (name for name in others if not _is_removed(name, release) and not _has_segment_id(name))
    complete = {stem: indexes for stem, indexes in segments.items() if len(indexes) == len(_ENTRY_SIZES)}
    refused += (stem for stem, indexes in complete.items() if not _opens(stem, indexes))
    return RemoteIndexCache(
        files=files + more,
        size=size,
        segments=len(complete),
        incomplete=len(segments) - len(complete),
        leftovers=leftovers,
        refused=tuple(sorted(refused)[:REFUSED_MAX]),
        refused_count=len(refused) + more,
        indexed=tuple(sorted((_indexed(stem, sizes) for stem, sizes in segments.items()), key=_place)[:INDEXED_MAX]),
    )


def _indexed(stem: str, sizes: dict[str, int]) -> CachedIndexes:
    offset, underscore, segment_id = stem.partition("_")
    number = java_long(offset) if underscore else None
    return CachedIndexes(
        None if number is None else Offset(number),
        segment_id if underscore else stem,
        *(sizes.get(ending) for ending in INDEX_ENDINGS),
    )


def _place(segment: CachedIndexes) -> tuple[int, str]:
    return -1 if segment.start_offset is None else segment.start_offset, segment.segment_id


def _is_removed(name: str, release: Release) -> bool:
    """Return whether the broker removes a file before it parses the names; 4.0 and earlier parse leftovers too."""
    return release.removes_leftovers_of_index_cache and name.endswith(_LEFTOVERS)


def _has_segment_id(name: str) -> bool:
    """Return whether a name has the id of a segment between its first underscore and its first dot."""
    stem, dot, _ = name.partition(".")
    return bool(dot) and _SEGMENT_ID.fullmatch(stem[stem.find("_") + 1 :]) is not None


def _opens(stem: str, indexes: dict[str, int]) -> bool:
    """Return whether the broker opens the three indexes of a segment.

    Each must have complete entries, and the name must begin with a start offset.
    """
    offset, underscore, _ = stem.partition("_")
    whole = all(indexes[ending] % entry_size == 0 for ending, entry_size in _ENTRY_SIZES.items())
    return whole and bool(underscore) and java_long(offset) is not None
