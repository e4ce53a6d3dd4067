"""Step 0 of a recovery: what runs before the first broker."""

from kcheck.core.election.recovery_plan import Recovery
from kcheck.core.election.steps import RecoveryAction, RecoveryStep, StepText
from kcheck.handouts.plan_context import PlanContext
from kcheck.handouts.runbook import runbook
from kcheck.handouts.step_words import nodes_first
from tests.core.election.test_recovery_plan import recovery

START = RecoveryStep(RecoveryAction.START, (1,))


def _first(recovery: Recovery, *steps: RecoveryStep, controllers: tuple[str, ...] = ()) -> StepText | None:
    plan = PlanContext(
        recovery, (), {}, {}, {}, "aside", controllers=controllers, session="3 s" if controllers else None
    )
    return nodes_first(plan, steps)


def test_controllers_or_zookeeper_come_first() -> None:
    """Each with the command; unless a step starts them, or no broker starts."""
    text = _first(recovery(), START, controllers=("c1/a b.properties", "c2"))
    assert text is not None
    title = "Start the controllers unless they run, and wait for longer than broker.session.timeout.ms (3 s)"
    assert title == text.title
    assert text.commands == (
        "bin/kafka-server-start.sh -daemon 'c1/a b.properties'", "bin/kafka-server-start.sh -daemon c2",
    )  # fmt: skip
    text = _first(recovery(kraft=False), START)
    assert text is not None
    title = (
        "Start ZooKeeper unless servers run, and wait for longer than zookeeper.session.timeout.ms (18 s by default)"
    )
    assert title == text.title
    assert text.commands == ("bin/zookeeper-server-start.sh -daemon config/zookeeper.properties",)
    assert "## 0. Start ZooKeeper" in runbook(recovery(), (), (), "last", text)
    assert "## 0." not in runbook(recovery(), (), (), "last")
    assert _first(recovery(together=(1, 2)), START) is None
    assert _first(recovery(), RecoveryStep(RecoveryAction.FENCE), START) is None
    assert _first(recovery(), RecoveryStep(RecoveryAction.REPAIR)) is None
