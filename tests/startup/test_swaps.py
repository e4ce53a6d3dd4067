"""Leftovers of a split or a compaction: LogLoader.removeTempFilesAndCollectSwapFiles (rules 2.3 to 2.6, section 8)."""

import pytest

from kcheck.startup.swaps import delete_swapped_indexes, rename_swaps
from kcheck.startup.virtual_files import StartError
from tests.builders import log, run
from tests.startup.folders import context_of, folder_of, name

GOOD = log(run(0, 99))


def test_a_swap_replaces_the_segments_with_its_offsets() -> None:
    """LogLoader.load, pass 2: also snapshots between the base offset and the end of the swap go."""
    files = {name(0): b"x", name(50): b"y", name(50, ".snapshot"): b"z", name(100): b"kept", name(0, ".log.swap"): GOOD}
    folder = folder_of(files)
    rename_swaps(folder, context_of())
    assert {name(0), name(100)} == {file for file in folder.files if not file.endswith("index.swap")} - {
        name(0, ".index")
    }
    assert folder.files[name(0)].size == len(GOOD)


def test_an_empty_swap_replaces_a_good_log() -> None:
    """LogLoader.load, pass 3: an empty `.log.swap` deletes no segment, and then overwrites the `.log` of its base."""
    folder = folder_of({name(0): GOOD, name(50): GOOD, name(0, ".log.swap"): b""})
    reasons = rename_swaps(folder, context_of())
    assert (0, len(GOOD)) == (folder.files[name(0)].size, folder.files[name(50)].size)
    assert f"{name(0, '.log.swap')} replaces {name(0)}" in reasons


def test_leftovers_are_deleted() -> None:
    """Pass 1: `.deleted` and `.cleaned` files go, and swaps not below the lowest cleaned file."""
    leftovers = (name(5, ".log.cleaned"), name(7, ".log.deleted"), name(9, ".log.swap"))
    folder = folder_of({name(0): GOOD, **dict.fromkeys(leftovers, b"x")})
    assert [] == rename_swaps(folder, context_of())
    assert {name(0)} == set(folder.files)
    old = folder_of({name(0): GOOD, **dict.fromkeys(leftovers, b"x")})
    assert () == delete_swapped_indexes(old, context_of("2.8"))
    assert {name(0)} == set(old.files)


@pytest.mark.parametrize("leftover", ["x.log.swap", "x.log.cleaned"])
def test_a_leftover_without_a_number_aborts_the_start(leftover: str) -> None:
    """LogLoader.offsetFromFile throws NumberFormatException."""
    with pytest.raises(StartError, match="NumberFormatException"):
        rename_swaps(folder_of({leftover: b""}), context_of())
    with pytest.raises(StartError, match="NumberFormatException"):
        delete_swapped_indexes(folder_of({leftover: b""}), context_of("2.8"))


def test_a_swap_deletes_the_indexes_of_its_segment() -> None:
    """Log.removeTempFilesAndCollectSwapFiles 2.8: `.log.swap` and `.index.swap` delete the plain index files."""
    indexes = [name(base, ending) for base in (0, 50) for ending in (".index", ".timeindex", ".txnindex")]
    swaps = {name(0, ".log.swap"): GOOD, name(50, ".index.swap"): b""}
    folder = folder_of({name(0): GOOD, name(50): GOOD, **dict.fromkeys(indexes, b""), **swaps})
    assert (0,) == delete_swapped_indexes(folder, context_of("2.8"))
    assert {name(0), name(50), name(0, ".log.swap")} <= set(folder.files)
    assert not {*indexes[:3]} & folder.files.keys()


def test_before_2_0_a_swap_always_wins() -> None:
    """Log.removeTempFilesAndCollectSwapFiles 1.1 has no rule of the lowest cleaned file."""
    files = {name(0): GOOD, name(5, ".log.cleaned"): b"", name(9, ".log.swap"): GOOD}
    assert (9,) == delete_swapped_indexes(folder_of(files), context_of("1.1"))
    assert () == delete_swapped_indexes(folder_of(files), context_of("2.8"))


def test_a_release_without_transactions_passes_over_their_swaps() -> None:
    """Log.loadSegmentFiles 0.10.2 knows no `.txnindex`."""
    folder = folder_of({name(0): GOOD, name(0, ".txnindex.swap"): b""})
    assert () == delete_swapped_indexes(folder, context_of("0.10.2"))
    assert name(0, ".txnindex.swap") in folder
