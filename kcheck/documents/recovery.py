"""The rows of a recovery."""

from collections.abc import Sequence

from kcheck.core.election.steps import RecoveryStep, StepText
from kcheck.model.report import Row


def step_rows(steps: Sequence[RecoveryStep], texts: Sequence[StepText]) -> tuple[Row, ...]:
    """Return the rows of steps, numbered from 1."""
    return tuple(map(_step_row, range(1, len(steps) + 1), steps, texts))


def _step_row(number: int, step: RecoveryStep, text: StepText) -> Row:
    return {
        "step": number,
        "action": str(step.kind),
        "brokers": step.brokers,
        "again": step.is_again,
        "partition_names": tuple(part.name for part in step.partitions),
        "directories": step.directories,
        "file": step.file,
        "title": text.title,
        "needs": text.needs,
        "commands": text.commands,
        "until": text.until,
        "check": text.check,
        "final": text.final,
        "is_loss": text.is_loss,
        "where": text.where,
        "cuts": tuple(
            {
                "topic": cut.topic, "partition": cut.partition, "broker_id": cut.broker_id,
                "from": cut.lost.start, "to": cut.lost.end, "records": cut.lost.records,
            }
            for cut in step.cuts
        ),
        "saves": tuple(
            {
                "topic": row.topic, "partition": row.partition, "broker_id": row.broker_id,
                "path": row.path, "from": run.start, "to": run.end,
            }
            for row in step.saves
            for run in row.readable
        ),
    }  # fmt: skip
