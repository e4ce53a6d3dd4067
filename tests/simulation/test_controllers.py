"""What the controller does when a broker registers."""

from kcheck.simulation.replay import replay
from kcheck.simulation.script import parse

BELOW_MIN_ISR = """
brokers A B
topic min.isr=2 unclean=false
A leads
append 2
fetch all
crash B
fence B
expect elr B
start B
expect elr none
expect leader A
"""


def test_a_leader_goes_on_when_a_broker_leaves_the_eligible_leader_replicas() -> None:
    """An unclean registration of a follower changes neither leader nor leader epoch (4.1 and later)."""
    run = replay(parse(BELOW_MIN_ISR, "test"), "4.3.1")
    assert () == run.failed
    assert 0 == run.steps[-1].state.controller.leader_epoch
