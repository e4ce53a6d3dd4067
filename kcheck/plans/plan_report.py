"""Plans as reports: what is to be done, and what was."""

from collections.abc import Collection

from kcheck.disk.read import read_whole
from kcheck.errors import UsageError
from kcheck.model.plan import Plan, operation_row, plan_row
from kcheck.model.report import Report
from kcheck.model.unreadable import UnreadableError


def plan_file(path: str) -> bytes:
    """Return the bytes of a plan file; UsageError if it cannot be read."""
    try:
        return read_whole(path, follow=True)
    except UnreadableError as error:
        raise UsageError(f"{path}: {error}") from error


def outcome(plan: Plan, changed: Collection[int] | None, *, reverts: bool = False) -> Report:
    """Return a plan as a report; `changed` are the operations that were done just now, None before anything is.

    With `reverts` they were undone.
    """
    rows = [operation_row(operation) for operation in plan.operations]
    if changed is not None:
        rows = [{**row, "changed": number in changed} for number, row in enumerate(rows)]
    body = {**plan_row(plan), "operations": tuple(rows)}
    return Report(
        verb="plan",
        kafka=plan.kafka,
        body=body,
        kinds={"operations": "operation"},
        checked=plan.log_dirs,
        reverts=reverts,
    )
