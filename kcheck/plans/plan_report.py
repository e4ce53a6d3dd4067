"""Plans as answers, with the operations to do or already done."""

from dataclasses import dataclass

from kcheck.disk.tree import tree_of
from kcheck.documents.answer import Answer
from kcheck.errors import UsageError
from kcheck.model.plan import Plan, operation_row, plan_row
from kcheck.model.report import Report
from kcheck.model.unreadable import UnreadableError


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanOutcome(Answer):
    """The answer of `kcheck apply` and `kcheck undo`."""

    plan: Plan
    """The plan."""
    changed: tuple[int, ...] | None = None
    """The numbers of the operations that were done just now, or undone; None before anything is."""
    is_undone: bool = False
    """True if the plan was undone."""

    def report(self) -> Report:
        """Return the answer as rows."""
        rows = [operation_row(operation) for operation in self.plan.operations]
        if self.changed is not None:
            rows = [{**row, "changed": number in self.changed} for number, row in enumerate(rows)]
        return self.as_report(
            "plan",
            self.plan.kafka,
            body={**plan_row(self.plan), "operations": tuple(rows)},
            kinds={"operations": "operation"},
            checked=self.plan.log_dirs,
        )


def plan_file(path: str) -> bytes:
    """Return the bytes of a plan file; UsageError if it cannot be read."""
    try:
        return tree_of(path).read_whole(path, follow=True)
    except UnreadableError as error:
        raise UsageError(f"{path}: {error}") from error
