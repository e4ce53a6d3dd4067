"""What a verb found, ready to leave: JSON rows and findings. Renderers look at nothing else."""

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from kcheck.model.finding import Finding, Severity

Row = Mapping[str, object]
"""A JSON object: values are str, int, bool, None, rows, and tuples of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The answer of one verb.

    `body` holds the fields of the JSON document beside schema, kcheck and kafka, in their order; each of its tuples of
    rows is a list of objects there and `kind`-tagged lines in ndjson, tagged with `kinds` where a row names no kind
    itself. `table` names the field that csv shows, None where the answer is not one table.
    """

    verb: str
    kafka: str
    body: Mapping[str, object]
    findings: tuple[Finding, ...] = ()
    table: str | None = None
    kinds: Mapping[str, str] | None = None

    def summary(self) -> dict[str, int]:
        """Return how many findings there are of each severity."""
        counts = {str(severity): 0 for severity in Severity}
        for finding in self.findings:
            counts[finding.severity] += 1
        return counts


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A report with what the command line needs to know: the paths read, and whether something could not be."""

    report: Report
    checked: tuple[str, ...] = ()
    unfinished: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which partitions are meant: topic patterns (`*`, `?`, `[...]`), partitions as `N` or `topic-N`; empty is all."""

    topics: tuple[str, ...] = ()
    partitions: tuple[str, ...] = ()

    def has(self, topic: str, partition: int) -> bool:
        """Whether this partition is meant."""
        if self.topics and not any(fnmatchcase(topic, pattern) for pattern in self.topics):
            return False
        return not self.partitions or not {str(partition), f"{topic}-{partition}"}.isdisjoint(self.partitions)


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
        "repair": None,
    }
