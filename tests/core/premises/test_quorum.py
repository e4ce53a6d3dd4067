"""Which logs lack nothing, and which controllers can elect."""

from kcheck.core.premises.facts import BrokerFacts, LostCopy
from kcheck.core.premises.table import judged_together
from kcheck.core.releases.releases import release
from tests.core.premises.test_premises import GAP, IDENTITY, KRAFT, facts, image, log_dir, refuted


def test_what_no_log_lacks() -> None:
    """A compacted log has gaps."""
    compacted = image(1, 2)._replace(configs={("topic", "orders"): {"cleanup.policy": "compact"}})
    assert "P305" not in refuted(facts(logs=(GAP,), image=compacted))
    assert "P306" not in refuted(facts(logs=(GAP,), image=None))


def test_a_quorum_without_majority() -> None:
    """Two of three controllers do not start: nor does the third, unless their own start is not known to end."""
    three = {**KRAFT, "process.roles": "broker,controller", "controller.quorum.voters": "1@a:1,2@b:1,3@c:1"}
    nodes = {
        number: facts(
            log_dir(identity={**IDENTITY, "node.id": str(number)}), broker_id=number,
            config={**three, "node.id": str(number)}, copies=(), image=None,
        )
        for number in (1, 2, 3)
    }  # fmt: skip

    def ends(*aborted: int) -> dict[object, str]:
        rows = judged_together(nodes, aborted)
        return {node: row.sentence for node, of_node in rows.items() for row in of_node if row.id == "P205"}

    assert ends() == ends(1) == ends(1, 2, 3) == {}
    assert ends(1, 2) == {3: "of the controllers 1, 2, 3, 1, 2 do not start: no majority is left to elect a leader"}
    lonely = {1: facts(config={**three, "controller.quorum.voters": "1@a:1,2@b:1"}, copies=(), image=None), 2: nodes[2]}
    (row,) = (row for row in judged_together(lonely, {2})[1] if row.id == "P205")
    assert row.sentence.startswith("of the controllers 1, 2, 2 does not start")


def test_a_controller_with_a_damaged_snapshot() -> None:
    """One of 4.3.1 ended at an empty one, and no broker registered; up to 3.7 the log decides."""
    damage = f"{5:020d}-{1:010d}.checkpoint: it is empty"
    config = {**KRAFT, "controller.quorum.voters": "100@a:1"}
    given = facts(copies=(), image=None, config=config, lost_copies=(LostCopy("c/meta", 100, damage=damage),))

    def ended(broker: BrokerFacts) -> list[str]:
        return [row.sentence for row in judged_together({1: broker}, ())[1] if row.id == "P205"]

    sentence = "of the controllers 100, 100 does not start: no majority is left to elect a leader"
    assert ended(given) == [f"{sentence}; c/meta: {damage}"]
    assert ended(given._replace(release=release("3.7"))) == []
    assert ended(given._replace(lost_copies=(LostCopy("c/meta", 100, damage="offset 3: unknown"),))) == []
    assert ended(given._replace(lost_copies=(LostCopy("c/meta", 100),))) == []
