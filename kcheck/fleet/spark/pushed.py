"""The values of a few columns that a query wants, so that other rows are not read.

Spark applies every filter again. Pushing down only has to let every possible match through.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Self

from pyspark.sql.datasource import EqualNullSafe, EqualTo, Filter, In

from kcheck.arrow import text
from kcheck.fleet.scan.identify import Identified
from kcheck.model.report import PartitionFilter

COLUMNS = ("cluster", "broker", "log_dir", "topic", "partition")
"""The columns whose filters are pushed down."""
_TOPIC = re.compile(r"[a-zA-Z0-9._-]+")
"""A name that is no pattern."""


class Pushed(NamedTuple):
    """The wanted values of a query, by column; a missing column means all values."""

    values: Mapping[str, frozenset[Any]] = {}

    @classmethod
    def of(cls, filters: Iterable[Filter]) -> Self:
        """Return the values that filters want; other comparisons are not pushed down."""
        values: dict[str, frozenset[Any]] = {}
        for name, wanted in filter(None, map(_wanted, filters)):
            values[name] = values.get(name, wanted) & wanted
        return cls(values)

    def of_log_dirs(self, log_dirs: Iterable[Identified]) -> Iterator[Identified]:
        """Yield the log dirs whose rows can match."""
        names = {"cluster": "cluster", "broker": "broker", "path": "log_dir"}
        for log_dir in log_dirs:
            if all(self._may_be(getattr(log_dir, field), column) for field, column in names.items()):
                yield log_dir

    def of_partitions(self, wanted: PartitionFilter) -> PartitionFilter:
        """Return the partitions whose rows can match, among the wanted ones."""
        topics, partitions = self.values.get("topic"), self.values.get("partition")
        if wanted != PartitionFilter() or topics == frozenset() or partitions == frozenset():
            return wanted
        plain = topics is not None and all(_TOPIC.fullmatch(topic) for topic in topics)
        return PartitionFilter(
            tuple(sorted(topics)) if topics and plain else (), tuple(map(str, sorted(partitions or ())))
        )

    def _may_be(self, value: str | None, column: str) -> bool:
        wanted = self.values.get(column)
        return wanted is None or (value is not None and text(value) in wanted)


def _wanted(condition: Filter) -> tuple[str, frozenset[Any]] | None:
    """Return the column and the values of a filter; None if it cannot be pushed down."""
    if not isinstance(condition, EqualTo | EqualNullSafe | In) or condition.attribute[0] not in COLUMNS:
        return None
    values = condition.value if isinstance(condition, In) else (condition.value,)
    return (condition.attribute[0], frozenset(values)) if all(value is not None for value in values) else None
