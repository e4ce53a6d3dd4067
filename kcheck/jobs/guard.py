"""Turns a bug in kcheck into finding KC000, so that the check continues with the next place."""

from collections.abc import Callable
from typing import TypeVar

from kcheck.errors import ScratchFailedError, StoreFailedError
from kcheck.model.finding import Finding, Location, Severity

T = TypeVar("T")

BUG = "KC000"
"""The id for a bug in kcheck, which no rule has."""


def guarded(run: Callable[[], T], where: Location) -> T | Finding:
    """Return the result of `run`; an exception becomes finding KC000, except for a failing store or scratch."""
    try:
        return run()
    except (ScratchFailedError, StoreFailedError):
        raise
    except Exception as error:  # noqa: BLE001 - one bad place must not hide the others
        return bug_finding(
            where, f"{type(error).__name__}: {error}", "Please report it together with `kcheck --version`"
        )


def bug_finding(where: Location, why: str, advice: str) -> Finding:
    """Return finding KC000 for a place that kcheck could not check."""
    return Finding(
        id=BUG,
        name="kcheck-bug",
        severity=Severity.ERROR,
        where=where,
        message=f"kcheck failed here: {why}",
        effect="This finding says nothing about the broker.",
        advice=f"{advice}; kcheck checked the other partitions.",
    )
