"""What coordinators and controllers forget: of real brokers that started, and of which no record was gone."""

from pathlib import Path

import pytest

from tests.oracle.incidents.asked import RED, elect, preflight, words
from tests.oracle.incidents.kept import PLACE, unpacked

OFFSETS = (
    "__consumer_offsets-0: 3 groups (ga, gb and gd) belong to other partitions, because the topic has more now:"
    " their new coordinators do not find them"
)
IDS = (
    "the metadata is older than the disk. The last batch of t-0 has producer id 0, but the next new producer gets id 0"
)


@pytest.mark.parametrize(
    ("name", "premise", "why"),
    [("4.3.1-kraft-grown-offsets-a6", "P841", OFFSETS), ("3.9.2-zk-older-producer-ids-a6", "P842", IDS)],
)
def test_a_start_after_which_something_is_forgotten(name: str, premise: str, why: str, tmp_path: Path) -> None:
    """4.3.1 had no offsets of three of four groups; 3.9.2 acknowledged a new producer's record and did not write it."""
    kept = unpacked(PLACE / f"{name}.tar.xz", tmp_path / "incident")
    options = words(kept.folder, kept.shape, "broker-1")
    answer = preflight(kept.folder, "broker-1", ["preflight", "broker-1/server.properties", *options])
    assert answer.colour == RED
    assert (premise, why) in [(row["premise"], row["why"]) for row in answer.says["reasons"]]
    numbered = [f"{number}=broker-{number}" for number in range(1, kept.shape.brokers + 1)]
    assert elect(kept.folder, ["elect", *numbered, *options]).colour == RED


def test_a_start_after_which_nothing_is_forgotten(tmp_path: Path) -> None:
    """Every group, transactional id and producer id of this cluster is where it belongs."""
    (packed,) = PLACE.glob("2.8.2-zk-nothing-*.tar.xz")
    kept = unpacked(packed, tmp_path / "incident")
    for number in range(1, kept.shape.brokers + 1):
        options = words(kept.folder, kept.shape, f"broker-{number}")
        row = preflight(kept.folder, "", ["preflight", f"broker-{number}/server.properties", *options])
        assert {"P841", "P842"}.isdisjoint(one["premise"] for one in row.says["reasons"])
