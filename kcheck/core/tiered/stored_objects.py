"""The objects of each remote segment in a store, in columns of about 250 bytes a segment."""

from array import array
from collections.abc import Iterator, Mapping

from kcheck.model.entries import Offset
from kcheck.model.remote_log import SegmentObjects

_NONE = -1
_COLUMN_COUNT_MAX = 16
"""More suffixes than any plugin has. Further suffixes are kept in a row."""


class StoredObjects(Mapping[str, SegmentObjects]):
    """The objects of a store, by segment id."""

    def __init__(self) -> None:
        """Start without an object."""
        self._at: dict[str, int] = {}
        self._starts, self._modified = array("q"), array("q")
        self._topics = array("l")
        self._topic_ids: dict[str | None, int] = {}
        self._names: list[str | None] = []
        self._sizes: dict[str, array[int]] = {}
        self._rare: dict[int, dict[str, int]] = {}

    def add(
        self, segment_id: str, suffix: str, size: int, modified_ms: int | None, *, start: Offset, topic_id: str | None
    ) -> None:
        """Add an object; `start` and `topic_id` of the first object of a segment count."""
        at = self._at.get(segment_id)
        if at is None:
            at = self._at[segment_id] = len(self._at)
            self._starts.append(start)
            self._modified.append(_NONE)
            number = self._topic_ids.setdefault(topic_id, len(self._names))
            if number == len(self._names):
                self._names.append(topic_id)
            self._topics.append(number)
        self._modified[at] = max(self._modified[at], _NONE if modified_ms is None else modified_ms)
        column = self._sizes.get(suffix)
        if column is None and len(self._sizes) < _COLUMN_COUNT_MAX:
            column = self._sizes[suffix] = array("q")
        if column is None:
            self._rare.setdefault(at, {})[suffix] = size
            return
        if at >= len(column):
            column.extend([_NONE] * (at + 1 - len(column)))
        column[at] = size

    def __getitem__(self, segment_id: str) -> SegmentObjects:
        """Return the objects of a segment; KeyError without one."""
        at = self._at[segment_id]
        sizes = {suffix: column[at] for suffix, column in self._sizes.items() if at < len(column) and column[at] >= 0}
        modified = self._modified[at]
        return SegmentObjects(
            Offset(self._starts[at]),
            {**sizes, **self._rare.get(at, {})},
            None if modified == _NONE else modified,
            self._names[self._topics[at]],
        )

    def __iter__(self) -> Iterator[str]:
        """Yield the ids of the segments."""
        return iter(self._at)

    def __len__(self) -> int:
        """Return the number of segments."""
        return len(self._at)

    def __contains__(self, segment_id: object) -> bool:
        """Return whether the store has an object of a segment."""
        return segment_id in self._at
