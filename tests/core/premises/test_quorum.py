"""Which logs lack nothing, and which controllers can elect."""

from kcheck.core.premises.table import judged_together
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
