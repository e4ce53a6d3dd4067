"""Merges findings and premises of both ends of a range of releases, and keeps the worse ones."""

from collections.abc import Callable, Iterable, Iterator
from itertools import zip_longest
from typing import TypeVar

from kcheck.model.finding import Finding
from kcheck.model.premises import JudgedPremise, PremiseStatus
from kcheck.model.release import Release

_STATUSES = (PremiseStatus.PROVEN, PremiseStatus.NOT_SEEN, PremiseStatus.REFUTED)
_T = TypeVar("_T")


def worse_findings(
    ours: tuple[Release, Iterable[Finding]], theirs: tuple[Release, Iterable[Finding]]
) -> Iterator[Finding]:
    """Yield the findings of both releases, the more severe of two from one rule at one place.

    `kafka_differs` names the release without this finding, or with a milder one.
    """

    def badness(finding: Finding | None) -> int:
        return -1 if finding is None else finding.severity.rank

    worse = _worse((ours[1], theirs[1]), lambda finding: (finding.id, finding.where), badness)
    for finding, is_ours in worse:
        kafka = None if is_ours is None else (theirs if is_ours else ours)[0].name
        yield finding._replace(kafka_differs=kafka)


def worse_premises(
    ours: tuple[Release, Iterable[JudgedPremise]], theirs: tuple[Release, Iterable[JudgedPremise]]
) -> list[tuple[JudgedPremise, str | None]]:
    """Return the worse judgement of each premise, sorted by id, with the name of the better release."""

    def badness(premise: JudgedPremise | None) -> int:
        return 0 if premise is None else _STATUSES.index(premise.status)

    worse = _worse(
        (ours[1], theirs[1]), lambda one: (one.id, one.broker_id, one.log_dir, one.partition), badness
    )  # fmt: skip
    named = [(one, None if is_ours is None else (theirs if is_ours else ours)[0].name) for one, is_ours in worse]
    return sorted(named, key=lambda row: row[0].id)


def _worse(
    ends: tuple[Iterable[_T], Iterable[_T]], key: Callable[[_T], object], badness: Callable[[_T | None], int]
) -> Iterator[tuple[_T, bool | None]]:
    """Yield the worse value of each key. The flag is true for the first end, None for equal values.

    Several values with one key are compared worst first.
    """
    by_key: dict[object, tuple[list[_T], list[_T]]] = {}
    for number, values in enumerate(ends):
        for value in values:
            by_key.setdefault(key(value), ([], []))[number].append(value)
    for pair in by_key.values():
        for one, other in zip_longest(*(sorted(values, key=badness, reverse=True) for values in pair)):
            shown, is_ours = (one, True) if badness(one) > badness(other) else (other, False)
            yield (shown, is_ours) if badness(one) != badness(other) else (other if one is None else one, None)
