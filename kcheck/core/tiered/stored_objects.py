"""The objects of each remote segment in a store, in columns of about 70 bytes a segment that metadata names."""

from array import array
from collections.abc import Iterator, Mapping, Sequence

from kcheck.model.entries import Offset
from kcheck.model.remote_log import SegmentObjects

_NONE = -1
_COLUMN_COUNT_MAX = 16
"""More suffixes than any plugin has. Further suffixes are kept in a row."""


class NamedSegments(Mapping[str, int]):
    """The segments that metadata partitions name, each with its place among all of them. No id is kept twice."""

    def __init__(self, indexes: Sequence[Mapping[str, int]] = ()) -> None:
        """Take the index of each metadata partition, which counts its ids from 0 on."""
        self._indexes, self._first = indexes, [0]
        for index in indexes:
            self._first.append(self._first[-1] + max(index.values(), default=_NONE) + 1)
        self._last: tuple[str, int | None] = ("", None)

    @property
    def end(self) -> int:
        """The place after the last one."""
        return self._first[-1]

    def place(self, segment_id: str) -> int | None:
        """Return the place of a segment; None without one. The objects of a segment are listed one after another."""
        if self._last[0] != segment_id:
            found = (
                first + index[segment_id]
                for first, index in zip(self._first, self._indexes, strict=False)
                if segment_id in index
            )
            self._last = (segment_id, next(found, None))
        return self._last[1]

    def __getitem__(self, segment_id: str) -> int:
        """Return the place of a segment; KeyError without one."""
        place = self.place(segment_id)
        if place is None:
            raise KeyError(segment_id)
        return place

    def __iter__(self) -> Iterator[str]:
        """Yield the ids of the segments."""
        for index in self._indexes:
            yield from index

    def __len__(self) -> int:
        """Return the number of segments."""
        return sum(map(len, self._indexes))


class StoredObjects(Mapping[str, SegmentObjects]):
    """The objects of a store, by segment id."""

    def __init__(self, named: NamedSegments | None = None) -> None:
        """Start without an object; ids that metadata names are not kept again."""
        self._named = NamedSegments() if named is None else named
        self._at: dict[str, int] = {}
        empty = [_NONE] * self._named.end
        self._starts, self._modified, self._topics = array("q", empty), array("q", empty), array("i", empty)
        self._topic_ids: dict[str | None, int] = {}
        self._names: list[str | None] = []
        self._sizes: dict[str, array[int]] = {}
        self._rare: dict[int, dict[str, int]] = {}
        self._count = 0

    @property
    def suffixes(self) -> frozenset[str]:
        """The suffixes of the objects; at most 16."""
        return frozenset(self._sizes)

    def _place(self, segment_id: str) -> int | None:
        at = self._named.place(segment_id)
        if at is None:
            return self._at.get(segment_id)
        return None if self._topics[at] == _NONE else at

    def _new(self, segment_id: str) -> int:
        """Return the place of a segment without an object until now."""
        self._count += 1
        at = self._named.place(segment_id)
        if at is not None:
            return at
        self._starts.append(_NONE)
        self._modified.append(_NONE)
        self._topics.append(_NONE)
        return self._at.setdefault(segment_id, len(self._starts) - 1)

    def add(
        self, segment_id: str, suffix: str, size: int, modified_ms: int | None, *, start: Offset, topic_id: str | None
    ) -> None:
        """Add an object; `start` and `topic_id` of the first object of a segment count."""
        at = self._place(segment_id)
        if at is None:
            at = self._new(segment_id)
            self._starts[at] = start
            self._topics[at] = self._topic_ids.setdefault(topic_id, len(self._names))
            if self._topics[at] == len(self._names):
                self._names.append(topic_id)
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
        at = self._place(segment_id)
        if at is None:
            raise KeyError(segment_id)
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
        yield from (number for number, at in self._named.items() if self._topics[at] != _NONE)
        yield from self._at

    def __len__(self) -> int:
        """Return the number of segments."""
        return self._count

    def __contains__(self, segment_id: object) -> bool:
        """Return true if the store has an object of a segment."""
        return isinstance(segment_id, str) and self._place(segment_id) is not None
