"""Which rescue comes before any start, by where the metadata are."""

from typing import Any

import pytest

from kcheck.core.election.first_rescue import MetadataHere, RescueVerb, first_rescue, if_lost

THREE = frozenset({1, 2, 3})
QUORUM, METADATA = RescueVerb.QUORUM, RescueVerb.METADATA


def test_damaged_logs_of_a_majority_need_a_rescue() -> None:
    """Of a minority they come from the others."""
    here = MetadataHere(voters=frozenset({1, 2, 3}), holders=frozenset({1, 2, 3}), damaged=frozenset({1, 2, 9}))
    rescue = first_rescue(here)
    assert rescue is not None
    assert rescue.verb is RescueVerb.QUORUM
    assert rescue.why.startswith("2 of 3 controllers have corrupt metadata logs (1 and 2)")
    assert first_rescue(here._replace(damaged=frozenset({1}))) is None
    one_gone = first_rescue(here._replace(damaged=frozenset({1}), dead=frozenset({2})))
    assert one_gone is not None
    assert "1 of 3 controllers has a corrupt metadata log (1)" in one_gone.why


def test_controllers_that_are_not_here_may_be_lost() -> None:
    """With a majority here they elect, as far as the disks show. Those that are given up need the rescue at once."""
    none = frozenset[int]()
    lost = if_lost(THREE, none, none, none)
    assert lost is not None
    assert lost.verb is RescueVerb.QUORUM
    assert lost.why == "Controllers 1, 2 and 3 are not here. If their disks are lost, start no node"
    one = if_lost(THREE, frozenset({1, 9}), frozenset({2}), none)
    assert one is not None
    assert one.why == "Controller 3 is not here. If its disk is lost, start no node"
    two = if_lost(THREE, frozenset({1}), none, frozenset({1, 2, 9}))
    assert two is not None
    assert two.why.startswith("Controller 2 has lost the metadata. Controller 3 is not here. If its disk is lost,")
    for row in ((THREE, frozenset({1, 2}), none, none), (THREE, none, THREE, none), (none, none, none, none)):
        assert if_lost(*row) is None
    assert if_lost(THREE, none, none, THREE) is None


def here(*, without: tuple[int, ...] = (), dead: tuple[int, ...] = (), **more: Any) -> MetadataHere:
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
        (here(without=(1, 2), away=frozenset({1})), QUORUM, "1 of 3 controllers has lost its metadata (2). The disk"),
        (here(without=(1, 2), away=frozenset({1, 2})), QUORUM, "The disks of nodes 1 and 2 are missing or empty, and"),
        (here(without=(1,), away=frozenset({1})), None, ""),
        (here(dead=(1,), without=(2,), away=frozenset({2})), QUORUM, "1 of 3 controllers is given up. The disk of"),
        (
            here(dead=(1,), without=(2, 3), away=frozenset({3})), QUORUM,
            "2 of 3 controllers are given up, or have lost their metadata (1 and 2): no majority has the history. The",
        ),
        (here(outrun=True), None, ""),
        (here(outrun=True, starts=False), QUORUM, "The controllers here lack metadata that the brokers have"),
        (here(behind=True), QUORUM, "The controllers here lack metadata that the brokers have"),
        (here(stopped=True), None, ""),
        (here(stopped=True, starts=False), QUORUM, "No majority of the controllers starts"),
        (
            here(stopped=True, starts=False)._replace(ended=((1, "no log.dirs"), (9, "not a voter"))), RescueVerb.NONE,
            "No majority of the controllers starts. Controller 1 does not start: no log.dirs. Solve that first",
        ),
        (here(without=(1,), stopped=True, starts=False)._replace(ended=((1, "x"),)), QUORUM, "No majority of the"),
        (MetadataHere(all_lost=True), METADATA, "No log dir here has a copy of the metadata"),
        (MetadataHere(all_lost=True, starts=False, stopped=True), METADATA, "No log dir here has a copy"),
        (MetadataHere(all_lost=True, away=frozenset({3})), METADATA, "No log dir here has a copy"),
        (MetadataHere(all_lost=True, unnamed=frozenset({3, 4})), METADATA, "No log dir here has a copy"),
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
