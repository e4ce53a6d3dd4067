"""What a start does with leftovers, by release; tests/oracle/starts/test_leftovers.py asks Kafka's loaders."""

import pytest

from kcheck.core.releases.releases import release
from kcheck.core.start.leftovers import after_start, ends_start
from kcheck.model.entries import Offset

SEGMENTS = {Offset(0): Offset(20), Offset(20): Offset(40), Offset(40): Offset(60)}
PLAIN = [f"{base:020d}{kind}" for base in (0, 20, 40) for kind in (".log", ".index", ".snapshot")]


def files(*names: str) -> frozenset[str]:
    """Return names whose offset has 20 digits."""
    return frozenset(f"{int(name.partition('.')[0]):020d}.{name.partition('.')[2]}" for name in names)


def removed_and_renamed(kafka: str, *left: str, **ends: int) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names that a start removes and renames; `ends` has the end of each swap, named _OFFSET."""
    swaps = {Offset(int(name[1:])): Offset(end) for name, end in ends.items()}
    leftovers = after_start([*PLAIN, *files(*left)], swaps, SEGMENTS, release(kafka))
    return leftovers.removed, leftovers.renamed


@pytest.mark.parametrize(
    ("kafka", "removed", "renamed"),
    [
        ("4.3", ("20.log", "20.index", "20.snapshot"), ("20.log.swap", "20.index.swap")),
        ("3.0", ("20.log", "20.index", "20.snapshot"), ("20.log.swap", "20.index.swap")),
        ("2.8", ("20.log", "20.index"), ("20.log.swap", "20.index.swap")),
        ("2.0", ("20.log", "20.index"), ("20.log.swap", "20.index.swap")),
        ("1.1", ("20.log", "20.index"), ("20.log.swap", "20.index.swap")),
        ("1.0", ("20.log", "20.index", "20.index.swap"), ("20.log.swap",)),
    ],
)
def test_a_swap_takes_the_place_of_its_segment(kafka: str, removed: tuple[str, ...], renamed: tuple[str, ...]) -> None:
    names = removed_and_renamed(kafka, "20.log.swap", "20.index.swap", _20=40)
    assert (files(*removed), files(*renamed)) == names


def test_a_swap_of_several_segments() -> None:
    """From 2.8 the producer snapshots of the other segments go too."""
    assert (
        files("0.log", "0.index", "20.log", "20.index", "20.snapshot")
        == removed_and_renamed("2.8", "0.log.swap", _0=40)[0]
    )
    assert files("0.log", "0.index", "20.log", "20.index") == removed_and_renamed("2.7", "0.log.swap", _0=40)[0]


def test_up_to_1_1_the_segment_before_a_swap_goes_too() -> None:
    """It does if the segment at the swap's own offset is gone already; fixed by KAFKA-6264."""
    names = ["0.log.swap", "10.log.swap"]
    for kafka, removed in (("2.0", ()), ("1.1", ("0.log", "0.index"))):
        leftovers = after_start(
            [*files("0.log", "0.index", "40.log", *names[1:])],
            {Offset(10): Offset(40)}, {Offset(0): Offset(10), Offset(40): Offset(60)}, release(kafka),
        )  # fmt: skip
        assert files(*removed) == leftovers.removed


def test_what_is_not_below_a_cleaned_file_was_not_finished() -> None:
    """From 2.0. Up to 2.8 a swapped index alone stays, and yet the start deletes its segment's index."""
    left = ("20.log.cleaned", "20.log.swap", "40.index.swap", "0.log.deleted")
    gone = ("20.log.cleaned", "0.log.deleted")
    assert (files(*gone, "20.log.swap", "40.index.swap"), files()) == removed_and_renamed("4.3", *left, _20=40)
    assert (files(*gone, "20.log.swap", "20.index", "40.index"), files()) == removed_and_renamed("2.8", *left, _20=40)
    assert files("20.log.swap") == removed_and_renamed("1.1", *left, _20=40)[1]


def test_every_file_with_a_number_between_goes_from_3_0_on() -> None:
    """Of any kind, except a snapshot of the metadata log that is to be deleted."""
    removed, renamed = removed_and_renamed("4.3", "20.log.swap", "25.txt", "25.deleted.x", _20=40)
    assert files("25.txt", "25.deleted.x", "20.log", "20.index", "20.snapshot") == removed
    assert files("20.log.swap") == renamed
    name = "00000000000000000025-0000000001.checkpoint.deleted"
    assert not after_start([name], {}, {}, release("4.3")).removed


def test_an_empty_swap_replaces_its_own_segment_alone() -> None:
    assert (files(), files("20.log.swap")) == removed_and_renamed("4.3", "20.log.swap", _20=20)


@pytest.mark.parametrize(
    ("name", "failing"),
    [
        ("x.log", ("0.10.2", "1.0", "1.1", "2.8", "3.0", "4.3")),
        ("x.snapshot", ("1.0", "1.1", "2.8", "3.0", "4.3")),
        ("x.txnindex", ("1.0", "1.1", "2.8", "3.0", "4.3")),
        ("x.log.cleaned", ("2.8", "3.0", "4.3")),
        ("x.log.swap", ("0.10.2", "1.0", "1.1", "2.8", "3.0", "4.3")),
        ("x.index.swap", ("1.1", "2.8", "3.0", "4.3")),
        ("x.swap", ("3.0", "4.3")),
        ("x.log.deleted", ()),
        ("x", ()),
        ("5.old.log", ()),
    ],
)
def test_a_name_without_a_number_ends_a_start(name: str, failing: tuple[str, ...]) -> None:
    """LogFileUtils.offsetFromFileName, Log.offsetFromFile; tests/oracle/starts/test_file_names.py asks Kafka itself."""
    releases = ("0.10.2", "1.0", "1.1", "2.8", "3.0", "4.3")
    assert failing == tuple(kafka for kafka in releases if ends_start(name, release(kafka)))
