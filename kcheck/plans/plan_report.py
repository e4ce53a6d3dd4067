"""Plans as reports: what is to be done, and what was."""

from collections.abc import Collection

from kcheck.disk.read import read_whole
from kcheck.errors import UsageError
from kcheck.model.plan import Plan, operation_row, plan_row
from kcheck.model.plan_json import parse_plan
from kcheck.model.report import Report
from kcheck.model.unreadable import UnreadableError


def planned(path: str) -> tuple[bytes, Plan]:
    """Return a plan file as bytes and as a plan; UsageError: it cannot be read, PlanError: it is not a plan."""
    try:
        data = read_whole(path, follow=True)
    except UnreadableError as error:
        raise UsageError(f"{path}: {error}") from error
    return data, parse_plan(data)


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
