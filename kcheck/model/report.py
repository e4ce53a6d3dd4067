"""The answer of a verb as JSON rows and findings. Renderers look at nothing else."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import chain
from typing import NamedTuple

from kcheck.model.evidence import ReleaseEvidence
from kcheck.model.finding import Finding, Severity


def _every(finding: Finding) -> bool:
    del finding
    return True


FINDINGS = "findings"
"""The table of findings, which is not a field of the body."""

Row = Mapping[str, object]
"""A JSON object: values are str, int, bool, None, rows, and tuples of them."""


class Block(NamedTuple):
    """Rows that have the same fields, as columns with the values of all rows. It has at least one row."""

    columns: Mapping[str, Sequence[object]]

    @property
    def length(self) -> int:
        """Number of these rows."""
        return len(next(iter(self.columns.values())))

    def row(self, number: int) -> Row:
        """Return one row."""
        return {name: column[number] for name, column in self.columns.items()}

    def rows(self) -> Iterator[Row]:
        """Yield the rows one by one."""
        names = tuple(self.columns)
        return (dict(zip(names, values, strict=True)) for values in zip(*self.columns.values(), strict=True))


class Rows(Iterator[Row]):
    """Rows that come in blocks. They are read once, row by row or block by block."""

    def __init__(self, blocks: Iterator[Block]) -> None:
        """Take the blocks, in order."""
        self.blocks = blocks
        self._rows = chain.from_iterable(map(Block.rows, blocks))

    def __next__(self) -> Row:
        """Return the next row."""
        return next(self._rows)


class RowSlice(Iterator[Row]):
    """The next `count` rows of `source`: all of them are read before the next part is."""

    def __init__(self, source: Rows, count: int) -> None:
        """Take rows, some of which are these."""
        self.source = source
        self.count = self._left = count

    def __next__(self) -> Row:
        """Return the next row."""
        if not self._left:
            raise StopIteration
        self._left -= 1
        return next(self.source)


class Column(NamedTuple):
    """A column of a table: `type` is int64, bool, string, json (a text that holds JSON), or time (in UTC).

    Every value can be null. A row holds a time as ms since 1970.
    """

    name: str
    type: str
    meaning: str


class CommandLine(NamedTuple):
    """The command line of an answer. The next command repeats parts of it."""

    arguments: tuple[str, ...] = ()
    """The arguments, in order."""
    options: tuple[tuple[str, str | None], ...] = ()
    """The options by their long names; a flag has no value."""

    def carried(self, names: Collection[str]) -> tuple[str, ...]:
        """Return the options with these names, as words."""
        rows = ((name, value) for name, value in self.options if name in names)
        return tuple(word for row in rows for word in row if word is not None)


class Report(NamedTuple):
    """The answer of one verb, read once.

    `body` holds the fields of the JSON document in their order, without schema, kcheck and kafka. A field, or a field
    of one of its rows, may be an iterator of rows. It is read once, in order, so that a large answer is never
    completely in memory. `Rows` and `RowSlice` are iterators of many rows. Iterators, lists and tuples of rows are
    `kind`-tagged lines in ndjson. `kinds` tags them if a row names no kind itself. `table` names the field that csv
    shows (`files.batches` means one of each of the `files`), or FINDINGS. It is None if the answer is not one table.
    `columns` are the columns of its rows.

    `collected` grows while the body is read; `findings()` is complete after that. `elsewhere` is the number by severity
    of findings written in another place, because there are many. `checked` are the paths looked at. `evidence` is their
    evidence about the release, None for a verb without a release. `answer` is the typed answer of the rows, for layouts
    that need no rows. `typed` is the command line; None for an answer of the Python API.
    """

    verb: str
    kafka: str
    body: Mapping[str, object]
    collected: Sequence[Finding] = ()
    keep: Callable[[Finding], bool] = _every
    table: str | None = None
    columns: tuple[Column, ...] = ()
    kinds: Mapping[str, str] = {}
    checked: tuple[str, ...] = ()
    elsewhere: Mapping[str, int] = {}
    evidence: ReleaseEvidence | None = None
    answer: object = None
    typed: CommandLine | None = None

    def findings(self) -> tuple[Finding, ...]:
        """Return the findings that are wanted, in the order of their places."""
        return tuple(sorted(filter(self.keep, self.collected), key=Finding.sort_key))

    def summary(self) -> dict[str, int]:
        """Return how many findings there are of each severity."""
        counts = {str(severity): self.elsewhere.get(severity, 0) for severity in Severity}
        for finding in filter(self.keep, self.collected):
            counts[finding.severity] += 1
        return counts

    @property
    def unfinished(self) -> bool:
        """True if something could not be read (KC000, KC001), without files that were removed meanwhile."""
        failed = (item for item in self.collected if item.id.startswith("KC00") and item.severity is not Severity.INFO)
        return self.body.get("finished") is False or any(True for _ in failed)

    @property
    def interrupted(self) -> bool:
        """True if the user stopped the command. The report has the findings until then."""
        return bool(self.body.get("interrupted"))


class PartitionFilter(NamedTuple):
    """A filter of partitions by topic patterns (`*`, `?`, `[...]`), and by `N` or `topic-N`; empty is all."""

    topics: tuple[str, ...] = ()
    partitions: tuple[str, ...] = ()

    def has(self, topic: str, partition: int) -> bool:
        """Return whether this partition is meant."""
        if self.topics and not any(fnmatchcase(topic, pattern) for pattern in self.topics):
            return False
        return not self.partitions or not {str(partition), f"{topic}-{partition}"}.isdisjoint(self.partitions)


EVERY_PARTITION = PartitionFilter()
"""The filter of every partition."""


def finding_row(finding: Finding) -> dict[str, object]:
    """Return a finding as JSON shows it."""
    where = finding.where
    return {
        "id": finding.id,
        "name": finding.name,
        "severity": str(finding.severity),
        "broker_id": where.broker_id,
        "log_dir": where.log_dir,
        "dir": where.dir,
        "file": where.file,
        "line": where.line,
        "position": where.position,
        "topic": where.topic,
        "partition": where.partition,
        "message": finding.message,
        "effect": finding.effect,
        "advice": finding.advice,
        "data": dict(finding.data),
        "repair": None if finding.repair is None else dict(finding.repair),
    }
