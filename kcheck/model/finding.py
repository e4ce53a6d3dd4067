"""A finding: what is wrong, where, what the broker will do about it, and what to do."""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import NamedTuple

from kcheck.errors import UsageError


class Severity(StrEnum):
    """What the broker will do about it."""

    INFO = "info"
    """It will not notice."""
    WARNING = "warning"
    """It will heal it by itself at its start."""
    ERROR = "error"
    """It will serve, replicate or drop something wrong."""
    FATAL = "fatal"
    """It will not start, or take the log dir offline."""

    @property
    def rank(self) -> int:
        """Order the severities; the largest is the worst."""
        return list(Severity).index(self)


Chosen = Callable[[str, Severity], bool]
"""Tells by the id of its rule and by its severity whether a finding is meant."""


class Location(NamedTuple):
    """Where a fact was seen. Paths are as the caller named them; `position` is in bytes, `line` counts from 1.

    A named tuple, because every partition has several.
    """

    broker_id: int | None = None
    log_dir: str | None = None
    dir: str | None = None
    file: str | None = None
    line: int | None = None
    position: int | None = None
    topic: str | None = None
    partition: int | None = None

    def of_file(self, name: str) -> "Location":
        """Return the place of a file in this directory."""
        return Location(self.broker_id, self.log_dir, self.dir, name, None, None, self.topic, self.partition)


class Finding(NamedTuple):
    """One thing that is wrong. `data` holds what a script wants as values instead of words, JSON types only.

    `repair` names the repairs that may plan something about it, None where there is none.
    """

    id: str
    name: str
    severity: Severity
    where: Location
    message: str
    effect: str
    advice: str
    data: Mapping[str, object] = {}
    repair: Mapping[str, object] | None = None

    def sort_key(self) -> tuple[object, ...]:
        """Order findings for output: by place, then by rule."""
        where = self.where
        place = (where.log_dir or "", where.topic or "", -1 if where.partition is None else where.partition)
        return (*place, where.dir or "", where.file or "", where.line or 0, where.position or 0, self.id, self.message)


def parse_severity(text: str) -> Severity:
    """Return the severity of that name; UsageError lists the known."""
    try:
        return Severity(text.lower())
    except ValueError:
        raise UsageError(f"{text} is not a severity; known are {', '.join(Severity)}") from None
