"""remote-log-index-cache by names and sizes."""

import pytest

from kcheck.core.releases.releases import release
from kcheck.core.start.remote_index_cache import (
    INDEXED_MAX,
    REFUSED_MAX,
    is_cached_index,
    is_stranger_in_cache,
    read_cache,
)
from kcheck.model.entries import Offset
from kcheck.model.remote_index_cache import CachedIndexes, RemoteIndexCache

ID = "AAAAA_AAAAAAAA-AAAAAAQ"


def cache_of(files: list[tuple[str, int]], *others: str, more: int = 0, kafka: str = "4.3") -> RemoteIndexCache:
    """Return what a release finds in a cache."""
    return read_cache(files, others, more, release=release(kafka))


def triple(stem: str, index: int = 8, time: int = 12, transactions: int = 34) -> list[tuple[str, int]]:
    """Return the three files of a remote segment with their sizes."""
    return [(f"{stem}.index", index), (f"{stem}.timeindex", time), (f"{stem}.txnindex", transactions)]


def test_whole_segments_and_what_a_start_deletes() -> None:
    """Leftovers, which up to 4.0 are parsed like other names, and the files of a segment that lacks one."""
    files = [*triple(f"45_{ID}"), (f"0_{ID}.index", 16), (f"0_{ID}.index.tmp", 1), ("x.deleted", 2), (f"9_{ID}.y", 3)]
    cache = cache_of(files, "other.tmp", f"7_{ID}.link")
    assert (7, 76) == (cache.files, cache.size)
    assert (1, 1, 2) == (cache.segments, cache.incomplete, cache.leftovers)
    assert ((), 0) == (cache.refused, cache.refused_count)
    assert cache_of(files, "other.tmp", kafka="4.0").refused == ("other.tmp", "x.deleted")


def test_what_is_indexed() -> None:
    """By start offset and id; a file that is missing has no size, and a name may have no offset."""
    whole, half = CachedIndexes(Offset(45), ID, 8, 12, 34), CachedIndexes(Offset(9), ID, None, 0, None)
    plain = ID.replace("_", "A")
    files = [*triple(f"45_{ID}"), (f"9_{ID}.timeindex", 0), (f"{plain}.index", 8), (f"x_{plain}.index", 8)]
    odd = CachedIndexes(None, plain, 8, None, None)
    assert (odd, odd, half, whole) == cache_of(files).indexed
    many = [(f"{number}_{ID}.index", 8) for number in range(INDEXED_MAX + 1)]
    assert INDEXED_MAX == len(cache_of(many).indexed)


def test_names_of_indexes() -> None:
    """3.5 wrote others."""
    names = [f"0_{ID}.index", f"0_{ID}.txnindex", f"0_{ID}_.index", f"0_{ID}.index.deleted", "0.index"]
    assert names[:2] == [*filter(is_cached_index, names)]


@pytest.mark.parametrize(
    "name", [".nfs0001", "foo", "45_short.index", f"45_{ID}x.index", f"45_{ID}", "\udcff", "a b.c", f"45_{ID}=.index"]
)
def test_a_name_without_a_segment_id_is_refused(name: str) -> None:
    """As a file and as anything else."""
    assert (name,) == cache_of([(name, 0)]).refused == cache_of([], name).refused


@pytest.mark.parametrize(
    "files",
    [triple(f"45_{ID}", index=7), triple(f"45_{ID}", time=7), triple(f"x_{ID}"), triple(ID.replace("_", "A"))],
)
def test_a_segment_whose_indexes_do_not_open_is_refused(files: list[tuple[str, int]]) -> None:
    """An index with a torn entry, a name without a start offset; a segment that lacks a file is not opened."""
    assert 1 == cache_of(files).refused_count
    assert 0 == cache_of(files[:2]).refused_count


def test_many_names_are_counted() -> None:
    """Strangers that have no name here too."""
    cache = cache_of([(f"n{number:03}", 1) for number in range(20)], more=5)
    assert (REFUSED_MAX, 25, 25) == (len(cache.refused), cache.refused_count, cache.files)
    assert is_stranger_in_cache("foo")
    assert not is_stranger_in_cache(f"45_{ID}.timeindex")
