"""The base class of answers, which converts them to the JSON document of the command, or to an Arrow table."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import Field, dataclass, field, replace
from enum import Enum
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Required, Self, TypeAlias, TypedDict, TypeVar, Unpack

from kcheck import __version__
from kcheck.errors import UsageError
from kcheck.model.evidence import ReleaseEvidence
from kcheck.model.finding import Finding
from kcheck.model.release import Release
from kcheck.model.report import Column, CommandLine, Report
from kcheck.registry import plug
from kcheck.words import counted, partition_name

if TYPE_CHECKING:
    import pyarrow as pa


_REPR_MAX = 200

COMPARED_COUNT_MAX = 1000
"""Answers for more partitions or segments are not compared with those for another release."""
COMPARED_SIZE_MAX = 256 << 20
"""Nor are those for which more bytes were read."""

Row = TypeVar("Row")
Outcomes: TypeAlias = Mapping[tuple[object, ...], object]
"""The parts of an answer, by name (the first part of a key) and place."""


class ReportFields(TypedDict, total=False):
    """The fields of a `Report` that an answer fills in."""

    body: Required[Mapping[str, object]]
    collected: Sequence[Finding]
    table: str | None
    columns: tuple[Column, ...]
    kinds: Mapping[str, str]
    checked: tuple[str, ...]
    evidence: ReleaseEvidence | None


class Answer:
    """The typed result of one verb.

    Values that are read lazily can be read only once. Use either `to_dict()` or the values.
    """

    __slots__ = ()

    def __init_subclass__(cls) -> None:
        """Keep the short `__repr__`: a dataclass would replace it by all of its values."""
        if "__repr__" not in cls.__dict__:
            cls.__repr__ = Answer.__repr__  # type: ignore[method-assign]  # of a class that is being made

    def __repr__(self) -> str:
        """Return the class, and its fields as numbers of things, in 200 characters at most."""
        fields: Mapping[str, Field[object]] = getattr(self, "__dataclass_fields__", {})
        words = ", ".join(f"{name}={_short(getattr(self, name))}" for name, one in fields.items() if one.repr)
        text = f"{type(self).__name__}({words})"
        return text if len(text) <= _REPR_MAX else f"{text[: _REPR_MAX - 4]}...)"

    @abstractmethod
    def report(self) -> Report:
        """Return the answer as rows, for a renderer."""

    def as_report(self, verb: str, kafka: str, **fields: Unpack[ReportFields]) -> Report:
        """Return the answer as a report, by the release that it holds for."""
        return Report(verb=verb, kafka=kafka, answer=self, **fields)

    @property
    def badness(self) -> tuple[float, ...]:
        """Return a sort key with the worst answer last; empty if the answers for two releases are not ordered."""
        return ()

    def outcomes(self) -> "tuple[Self, Outcomes | None]":
        """Return the answer, not yet read, and what in it can differ between releases; None if that is too much."""
        return self, None

    def of_release(self, release: Release) -> Self:
        """Return the same answer with another account of its release."""
        return replace(self, release=release)  # type: ignore[type-var]  # each subclass is a dataclass

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings, sorted by place; complete after all values have been read."""
        return self.report().findings()

    @property
    def next(self) -> str | None:
        """The last line of the screen; None if nothing is left to do."""
        document = self.to_dict()
        command: str | None = document["next"]
        return command

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document of the command, as `json.loads` returns it."""
        document: dict[str, Any] = plug("kcheck.renderers", "json", "document")(self.report())
        return document

    def __str__(self) -> str:
        """Return the text screen of the command: 80 columns, without color."""
        text: str = plug("kcheck.renderers", "text", "RENDERER").rendered(self.report())
        return text.rstrip("\n")

    def to_arrow(self) -> "pa.Table":
        """Return the rows that `--format csv` and parquet write; UsageError if the answer is not one table."""
        import pyarrow as pa  # imports pyarrow: only for a table

        from kcheck.arrow import batch_of, schema_of
        from kcheck.documents.table import rows

        report = self.report()
        if report.table is None:
            raise UsageError(f"{report.verb} has more than one table; use to_dict()")
        batch = batch_of(list(rows(report, str)), report.columns)
        return pa.Table.from_batches([batch], schema_of(report.columns))


def _short(value: object) -> str:
    if isinstance(value, (str, int, float, Enum, Release)) or value is None:
        return repr(value)
    if isinstance(value, (tuple, list, dict)) and not hasattr(value, "_fields"):
        return f"<{counted(len(value), 'item')}>"
    return f"<{type(value).__name__}>"


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerAnswer(Answer):
    """An answer about the files of brokers, by a release."""

    release: Release
    """The Kafka release that is modelled."""
    collected: list[Finding]
    """The findings; complete once all values have been read."""
    checked: tuple[str, ...]
    """The paths that were read."""
    typed: CommandLine | None = field(default=None, repr=False)
    """The command that a function means; None in the command line, which knows it."""

    def document(self, verb: str, **fields: Unpack[ReportFields]) -> Report:
        """Return the answer as a report, with its findings and paths."""
        fields |= {"collected": self.collected, "checked": self.checked, "evidence": self.release.evidence}
        return self.as_report(verb, self.release.name, **fields)._replace(typed=self.typed)


def compared(rows: Iterator[Row]) -> tuple[Iterator[Row], tuple[Row, ...] | None]:
    """Return rows, all still unread, and the same rows for `outcomes`; None if there are too many."""
    first = tuple(islice(rows, COMPARED_COUNT_MAX + 1))
    return chain(first, rows), None if len(first) > COMPARED_COUNT_MAX else first


def outcomes_of(findings: Iterable[Finding]) -> Outcomes:
    """Return the places of each rule's findings, and their severity."""
    by_rule: dict[tuple[object, ...], list[str]] = {}
    for finding in findings:
        by_rule.setdefault((finding.id,), []).append(f"{finding.severity} {finding.where}")
    return {rule: sorted(places) for rule, places in by_rule.items()}


def name_of(topic: str | None, partition: int | None) -> str:
    """Return the name of a partition; a bare file has no partition."""
    return "bare file" if topic is None else partition_name(topic, partition)


def head(report: Report) -> dict[str, object]:
    """Return the first fields of every document."""
    return {
        "schema": f"kcheck.{report.verb}/1",
        "kcheck": __version__,
        **release_row(report.kafka, report.evidence),
    }


def release_row(kafka: str, said: ReleaseEvidence | None) -> dict[str, object]:
    """Return the fields of the release that an answer is for, and of its evidence."""
    return {"kafka": kafka} if said is None else {"kafka": kafka, "kafka_evidence": said.row()}
