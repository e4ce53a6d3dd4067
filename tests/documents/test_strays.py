"""Replicas that a cluster does not place on their broker, in words."""

import pytest

from kcheck.core.cluster.copies import MetadataCopy
from kcheck.core.releases.releases import release
from kcheck.core.start.startup import Outcome
from kcheck.core.start.strays import StrayDetector
from kcheck.documents.strays import copy_words, doubt_words, stray_outcome, stray_words
from kcheck.model.cluster import Stray, StrayCause, StrayDoubt
from tests.core.cluster.cluster_records import TOPIC, partition, replayed


def test_what_becomes_of_a_stray_and_why() -> None:
    """The reason names the copy, as far as it goes; of a replica of the cluster there is none."""
    image = replayed(TOPIC, partition(2)).image()
    copy = MetadataCopy("d/__cluster_metadata-0", 1, 0, 2, 0, frozenset({1}), image)
    of_first, of_second = (StrayDetector(copy, number, own=True) for number in (1, 2))
    why = "the cluster has no replica of it on broker 1, according to d/__cluster_metadata-0 up to offset 1"
    assert stray_outcome(of_first, "T", 0, release("4.3")) == (
        Outcome.STRAY, f"{why}: the broker renames the directory to -stray and does not serve it", None,
    )  # fmt: skip
    assert stray_outcome(of_first, "T", 0, release("3.5")) == (
        Outcome.DELETED, f"{why}: the broker deletes the directory", None,
    )  # fmt: skip
    assert stray_outcome(of_second, "T", 0, release("4.3")) is None


@pytest.mark.parametrize(
    ("stray", "end", "words"),
    [
        (Stray(StrayCause.TOPIC, "T"), 9, "the cluster has no topic with id T, according to m up to offset 8"),
        (Stray(StrayCause.TOPIC, None), None, "the cluster has no topic of this name, according to m"),
        (Stray(StrayCause.PARTITION, 7), None, "in the cluster the topic has no partition 7, according to m"),
        (Stray(StrayCause.REPLICA, 3), None, "the cluster has no replica of it on broker 3, according to m"),
    ],
)
def test_why_a_replica_is_stray(stray: Stray, end: int | None, words: str) -> None:
    assert words == stray_words(stray, "m", end)


@pytest.mark.parametrize(
    ("doubt", "end", "words"),
    [
        (None, 9, None),
        (StrayDoubt.OLDER, None, "the metadata may be older than the directory"),
        (StrayDoubt.OLDER, 9, "this copy of the metadata may be older than the directory"),
        (StrayDoubt.UNCOMMITTED, 9, "offset 5 of this copy of the metadata may not be committed"),
    ],
)
def test_why_a_broker_may_see_other_metadata(doubt: StrayDoubt | None, end: int | None, words: str | None) -> None:
    assert words == doubt_words(Stray(StrayCause.REPLICA, 1, 5, doubt), end)


def test_a_copy_ends_at_an_offset() -> None:
    assert ["m", "m up to offset 8"] == [copy_words("m", end) for end in (None, 9)]
