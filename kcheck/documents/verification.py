"""The result of a plan, step by step, and as rows."""

from enum import StrEnum
from typing import NamedTuple

from kcheck.model.report import Column, Row


class StepKind(StrEnum):
    """The subject of a step. Answers use the value."""

    BROKER = "broker"
    """A broker starts."""
    PREMISE = "premise"
    """A premise of the next start of a broker."""
    TOPIC = "topic"
    """The partition is still of the same topic."""
    LEADER = "leader"
    """The recommended broker leads."""
    EPOCH = "leader-epoch"
    """An election raised the leader epoch."""
    LOG_END = "log-end"
    """The leader's log still has all that it had."""
    TRUNCATION = "truncation"
    """A follower truncates what its leader lacks."""
    RECORDS = "records"
    """The saved records that are in the leader's log."""
    REMOTE = "remote"
    """The leader still serves its former remote offsets, except offsets deleted by retention."""
    REPLICAS = "replicas"
    """The partition has all its replicas."""
    ISR = "isr"
    """All its replicas are in sync."""
    STRAY = "stray"
    """No stray directory is left."""
    CONFIG = "config"
    """Unclean elections are forbidden again."""


class PlanStep(NamedTuple):
    """The expected state, and the state of the files."""

    kind: StepKind
    """Its kind."""
    expected: str
    """The expected state."""
    seen: str
    """The state of the files."""
    ok: bool | None
    """True if it is as expected; None if that is not known."""
    topic: str | None = None
    """The topic; None for a step of a broker."""
    partition: int | None = None
    """The partition; None for a step of a broker."""
    broker_id: int | None = None
    """The broker; None for a step that is of no single one."""


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
