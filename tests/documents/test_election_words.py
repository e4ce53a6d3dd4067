"""Which brokers to repair first, and what that changes, in sentences."""

import pytest

from kcheck.core.election.first_repairs import FirstRepair
from kcheck.core.election.scenarios import Scenario
from kcheck.core.replication.leader_costs import Amounts
from kcheck.documents.election import repair_row
from kcheck.documents.election_words import discarded_words, repair_words, why_first

THREE = FirstRepair(3, ("3=d3",), 1, 14, "it does not start: orders-0 cannot be read")
ONE, TWO = (FirstRepair(number, (f"{number}=d",), 1, 0, "it does not start") for number in (1, 2))


def ways(best: Amounts, offline: int = 0, waiting: int = 0) -> dict[str, Scenario]:
    """Return the ways to go on, of which a sentence names two."""
    return {
        "best": Scenario("best", best, offline),
        "start-all": Scenario("start-all", Amounts(), waiting),
    }


NOTHING, LOST = ways(Amounts()), Amounts(20, 20, 200)
NONE_LOST, ALL_LOST = "nothing is lost", "20 records are lost, all of them committed"
OUT, WAITS = "no replica that can lead", "no leader without an unclean election"


@pytest.mark.parametrize(
    ("repairs", "without", "then", "said"),
    [
        (
            [THREE], ways(LOST, waiting=14), NOTHING,
            ("broker 3 (1 step, 14 bytes)", NONE_LOST, f"{ALL_LOST}; 14 partitions get {WAITS}"),
        ),
        (
            [ONE, TWO], ways(Amounts(), 3, 3), NOTHING,
            (
                "brokers 1 and 2 (1 step each)", f"every partition has a leader, and {NONE_LOST}",
                f"3 partitions have {OUT}",
            ),
        ),
        (
            [ONE, THREE._replace(operations=2)], ways(LOST, 2, 2), ways(LOST, 1, 1),
            (
                "brokers 1 (1 step) and 3 (2 steps, 14 bytes)", f"1 partition has {OUT}, and {ALL_LOST}",
                f"2 partitions have {OUT}, and {ALL_LOST}",
            ),
        ),
        ([ONE], NOTHING, NOTHING, ("broker 1 (1 step)", NONE_LOST, None)),
        ([ONE], ways(Amounts(), waiting=1), NOTHING, ("broker 1 (1 step)", NONE_LOST, f"1 partition gets {WAITS}")),
    ],
)  # fmt: skip
def test_what_repairs_change(
    repairs: list[FirstRepair], without: dict[str, Scenario], then: dict[str, Scenario],
    said: tuple[str, str, str | None],
) -> None:  # fmt: skip
    """The brokers, what is lost then, and what is lost without the repairs where that differs."""
    brokers, after, before = said
    expected = f"First repair {brokers}: then, under the best leaders, {after}."
    expected += f" Without that, {before}." if before else ""
    assert expected == repair_words(repairs, without=without, then=then, nothing="nothing is lost")


def test_one_repair() -> None:
    """As a row, and as the sentence that the answer begins with."""
    assert repair_row(THREE) == {
        "broker_id": 3, "arguments": ("3=d3",), "operations": 1, "bytes": 14,
        "why": "it does not start: orders-0 cannot be read", "discards": None,
    }  # fmt: skip
    assert why_first(THREE) == ("Broker 3 cannot start until it is repaired: orders-0 cannot be read")


def test_what_a_repair_discards_is_said() -> None:
    """It is what the start would discard too."""
    repair = THREE._replace(discards="20 records of orders-0")
    assert why_first(repair) == f"{why_first(THREE)}; {discarded_words(repair)}"
    assert discarded_words(repair) == (
        "the repair of broker 3 discards 20 records of orders-0, which the broker would discard too"
    )
