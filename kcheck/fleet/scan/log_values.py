"""The facts of a log that are seldom there, as JSON and back."""

import json
from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any

from kcheck.core.premises.facts import LogFacts, MisdatedRecords, MissingRecords
from kcheck.model.entries import Offset
from kcheck.model.loss import BatchFaults, BatchIdentity, DatedRecords, UnreadableRecords
from kcheck.replicas.replica import ReplicaState

_ENCODE = json.JSONEncoder(separators=(",", ":")).encode
_OffsetSpan = tuple[int, int]


class SeldomValues:
    """Fields of a named tuple with at least two names. Most tuples have their defaults."""

    def __init__(self, kind: type[LogFacts] | type[ReplicaState], names: Sequence[str]) -> None:
        """Take the names of the fields."""
        self._names = tuple(names)
        self._values = attrgetter(*names)
        self._usual = tuple(kind._field_defaults[name] for name in names)

    def text(self, of: LogFacts | ReplicaState) -> str | None:
        """Return the other values as JSON; None without any."""
        values = self._values(of)
        if values == self._usual:
            return None
        rows = zip(self._names, values, self._usual, strict=True)
        return _ENCODE({name: value for name, value, usual in rows if value != usual})

    def of(self, text: str) -> dict[str, Any]:
        """Return the values by name. ValueError, TypeError or KeyError for another text."""
        values = json.loads(text)
        return {
            name: _MADE[name](values[name]) if name in _MADE else values[name] for name in self._names & values.keys()
        }


def _batch_faults(
    unreadable: list[list[Any]], gaps: list[_OffsetSpan], foreign: list[_OffsetSpan], is_complete: object,
    dated: list[list[Any]], skipped: list[_OffsetSpan], first: list[Any] | None,
    head: _OffsetSpan | None, tail: str | None, newest: list[Any] | None = None,
    unlisted: list[_OffsetSpan] | None = None,
) -> BatchFaults:  # fmt: skip
    records, dates = tuple(UnreadableRecords(*one) for one in unreadable), tuple(DatedRecords(*one) for one in dated)
    of_gaps, of_others, unfound, of_aborted = (
        tuple((Offset(start), Offset(end)) for start, end in spans)
        for spans in (gaps, foreign, skipped, unlisted or ())
    )
    return BatchFaults(
        records,
        of_gaps,
        of_others,
        is_complete is True,
        dates,
        unfound,
        _batch(first),
        None if head is None else (Offset(head[0]), Offset(head[1])),
        tail,
        _batch(newest),
        of_aborted,
    )


def _batch(row: list[Any] | None) -> BatchIdentity | None:
    """Return a batch; None of a run without its epoch, which older releases of kcheck wrote."""
    return None if row is None or len(row) < 4 else (row[0], row[1], row[2], row[3])


_MADE: Mapping[str, Callable[[Any], Any]] = {
    "lost_head": tuple,
    "missing": lambda rows: tuple(MissingRecords(*row) for row in rows),
    "misdated": lambda rows: tuple(MisdatedRecords(*row) for row in rows),
    "batches": lambda row: _batch_faults(*row),
    "keys_of": tuple,
    "homeless": tuple,
    "sizes": tuple,
}
"""The functions that make values of JSON facts of a log again."""
