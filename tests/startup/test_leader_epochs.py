"""The leader epochs of a log that is loaded: LeaderEpochFileCache (rules 2.1 and 5.1 to 5.3)."""

import pytest

from kcheck.core.releases.releases import release
from kcheck.startup.leader_epochs import EpochCache
from kcheck.startup.virtual_files import Folder, StartError, UnreadableFileError
from tests.builders import epochs
from tests.startup.folders import folder_of

FILE = "leader-epoch-checkpoint"


def cache_of(data: bytes | None, kafka: str = "4.3") -> tuple[Folder, EpochCache]:
    """Return a directory with these epochs, and the cache."""
    folder = folder_of({} if data is None else {FILE: data})
    return folder, EpochCache(folder, release(kafka))


def entries(cache: EpochCache) -> list[tuple[int, ...]]:
    """Return the entries as pairs of numbers."""
    return [tuple(entry) for entry in cache.entries]


def test_a_missing_file_is_created() -> None:
    folder, cache = cache_of(None)
    assert (FILE in folder, entries(cache)) == (True, [])


def test_entries_out_of_order_replace_those_before() -> None:
    """LeaderEpochFileCache.assign: a file that is not monotonic becomes a part of itself (rule 2.1)."""
    assert [(1, 0), (3, 20)] == entries(cache_of(epochs((1, 0), (2, 50), (3, 20)))[1])


def test_a_negative_epoch_aborts_the_start() -> None:
    """EpochEntry throws IllegalArgumentException (rule 2.1)."""
    with pytest.raises(StartError, match="IllegalArgumentException"):
        cache_of(epochs((-2, 0)))


@pytest.mark.parametrize(("kafka", "offline"), [("2.8", False), ("4.3", True)])
def test_an_unreadable_file_fails_the_load(kafka: str, offline: bool) -> None:
    """CheckpointFile.read: the wrong count is an IOException, which queues the log dir (rule 1.3)."""
    with pytest.raises(UnreadableFileError) as raised:
        cache_of(b"0\n5\n1 0\n", kafka)
    assert (offline, True) == (raised.value.offline, raised.value.fails_later)


def test_an_epoch_of_a_batch_is_written_later() -> None:
    """LeaderEpochFileCache.assign during a recovery: only a later epoch counts (rule 3.2, test 7)."""
    folder, cache = cache_of(epochs((5, 0)))
    before = folder.files[FILE]
    cache.take([(3, 10), (6, 20)])
    assert [(5, 0), (6, 20)] == entries(cache)
    assert folder.files[FILE] == before
    cache.write()
    assert folder.read_whole(FILE) == epochs((5, 0), (6, 20))


def test_a_truncation_at_both_ends() -> None:
    """truncateFromEnd, truncateFromStart: the last epoch at or below the log start moves there (rule 5.2)."""
    folder, cache = cache_of(epochs((0, 0), (1, 50), (2, 120), (3, 200)))
    cache.truncate(end=200, start=60)
    assert [(1, 60), (2, 120)] == entries(cache)
    assert folder.read_whole(FILE) == epochs((1, 60), (2, 120))


@pytest.mark.parametrize(("kafka", "kept"), [("3.7", False), ("3.8", True)])
def test_a_stray_log_may_keep_its_file(kafka: str, kept: bool) -> None:
    """From 3.8 on the file is written in the background (KAFKA-16541), after the directory is renamed (rule 5.3)."""
    folder, cache = cache_of(epochs((0, 0), (1, 50)), kafka)
    before = folder.files[FILE]
    cache.truncate(end=50, start=0)
    cache.set_aside()
    assert [] == entries(cache)
    assert kept == (folder.files[FILE] == before)


def test_old_releases_have_no_cache() -> None:
    """0.10.2 does not look at the file."""
    folder, cache = cache_of(epochs((0, 0)), "0.10.2")
    cache.take([(6, 20)])
    cache.truncate(end=10, start=0)
    cache.clear()
    assert ([], True) == (entries(cache), FILE in folder)
