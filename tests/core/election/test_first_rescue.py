"""Which rescue comes before any start, by where the metadata are."""

import pytest

from kcheck.core.election.first_rescue import MetadataHere, RescueVerb, first_rescue

THREE = frozenset({1, 2, 3})
QUORUM, METADATA = RescueVerb.QUORUM, RescueVerb.METADATA


def here(*, without: tuple[int, ...] = (), dead: tuple[int, ...] = (), **more: bool) -> MetadataHere:
    """Return three voters, some of which have no log, or are given up."""
    missing, given_up = frozenset(without), frozenset(dead)
    return MetadataHere(THREE, THREE - missing - given_up, missing, given_up, **more)


@pytest.mark.parametrize(
    ("metadata", "verb", "words"),
    [
        (here(), None, ""),
        (here(without=(1,)), None, ""),
        (here(dead=(1,)), None, ""),
        (here(dead=(7, 8)), None, ""),
        (here(without=(1, 2)), QUORUM, "2 of 3 controllers have lost their metadata (1 and 2): no majority has the"),
        (here(dead=(1, 2)), QUORUM, "2 of 3 controllers are given up: no leader can be elected"),
        (here(without=(1,), dead=(3,)), QUORUM, "2 of 3 controllers are given up, or have lost their metadata (1 and"),
        (MetadataHere(frozenset({1}), frozenset({2}), frozenset({1})), QUORUM, "1 of 1 controller has lost its"),
        (MetadataHere(THREE, THREE, without=frozenset({1, 2})), None, ""),  # Another log dir of theirs has it.
        (here(outrun=True), None, ""),
        (here(outrun=True, starts=False), QUORUM, "The controllers here lack metadata that the brokers have"),
        (here(stopped=True), None, ""),
        (here(stopped=True, starts=False), QUORUM, "No majority of the controllers starts"),
        (MetadataHere(all_lost=True), METADATA, "No log dir here has a copy of the metadata"),
        (MetadataHere(all_lost=True, starts=False, stopped=True), METADATA, "No log dir here has a copy"),
        (MetadataHere(all_lost=True, starts=False), None, ""),  # They are on the wrong disks: that comes first.
        (MetadataHere(emptied=True), METADATA, "ZooKeeper has lost the topics of these disks"),
    ],
)  # fmt: skip
def test_what_comes_first(metadata: MetadataHere, verb: RescueVerb | None, words: str) -> None:
    rescue = first_rescue(metadata)
    assert (None if rescue is None else rescue.verb) == verb
    if rescue is not None:
        assert rescue.why.startswith(words)
        assert rescue._replace(command="kcheck x").sentence == f"{rescue.why}: kcheck x"
