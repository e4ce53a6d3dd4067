"""Where a bug of ours becomes a finding, so that it hides nothing but the place where it was met."""

from collections.abc import Callable
from typing import TypeVar

from kcheck.model.finding import Finding, Location, Severity

T = TypeVar("T")

BUG = "KC000"
"""The id of what is no rule: a bug of ours."""


def guarded(run: Callable[[], T], where: Location) -> T | Finding:
    """Return what `run` returns; whatever it raises becomes finding KC000."""
    try:
        return run()
    except Exception as error:  # noqa: BLE001 - one bad place must not hide the others
        return bug_finding(
            where, f"{type(error).__name__}: {error}", "Please report it together with `kcheck --version`"
        )


def bug_finding(where: Location, why: str, advice: str) -> Finding:
    """Return the finding of a place that kcheck did not get through: the rest is looked at all the same."""
    return Finding(
        id=BUG,
        name="kcheck-bug",
        severity=Severity.ERROR,
        where=where,
        message=f"kcheck failed here: {why}",
        effect="This says nothing about the broker.",
        advice=f"{advice}; the other partitions were looked at.",
    )
