"""What became of a plan, as rows."""

from kcheck.core.election.verification import PlanStep
from kcheck.model.report import Column, Row

COLUMNS = (
    Column("kind", "string", "What the step is about."),
    Column("topic", "string", "The topic; empty for a step of a broker."),
    Column("partition", "int64", "The partition."),
    Column("broker_id", "int64", "The broker; empty for a step that is of no single one."),
    Column("expected", "string", "What the plan expects."),
    Column("seen", "string", "What is there."),
    Column("ok", "bool", "Whether it is as expected; empty if that is not known."),
)


def step_row(step: PlanStep) -> Row:
    """Return the row of a step."""
    return {**step._asdict(), "kind": str(step.kind)}
