"""The file of `--owners`, which maps patterns of topics to teams, and the table of owners in a run."""

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

from kcheck.arrow import batch_of
from kcheck.disk.tree import tree_of
from kcheck.errors import UsageError
from kcheck.fleet.run import name_order, written_run
from kcheck.fleet.run_output import RunOutput
from kcheck.model.unreadable import UnreadableError
from kcheck.tables import owners

_SIZE_MAX = 4 << 20
_COLUMNS = ("topic", "owner", "cluster")
_TABLES = ("partitions", "cluster_partitions")
"""The tables with the topics of a run."""
_FORMATS = {".csv": ",", ".tsv": "\t"}
_ROWS = 16_384


class OwnerRule(NamedTuple):
    """A row of the file, for topics with matching names in all clusters or in matching ones."""

    owner: str
    topic: str
    cluster: str | None = None

    def matches(self, cluster: str | None, topic: str) -> bool:
        """Return whether a topic is of this owner."""
        return fnmatchcase(topic, self.topic) and (
            self.cluster is None or (cluster is not None and fnmatchcase(cluster, self.cluster))
        )


def owner_rules(path: str | None) -> tuple[OwnerRule, ...]:
    """Return the rows of a .csv, .tsv or .json file, none without one. UsageError if the file or a row is invalid."""
    if path is None:
        return ()
    try:
        text = tree_of(path).read_whole(path, size_max=_SIZE_MAX, follow=True).decode("utf-8-sig")
        rows = _json(path, text) if path.endswith(".json") else _table(path, text)
        return tuple(_rule(path, number, row) for number, row in enumerate(rows, start=1))
    except (UnreadableError, UnicodeError, csv.Error, ValueError, RecursionError) as error:
        raise UsageError(f"--owners {path}: {error}") from error


def _table(path: str, text: str) -> Iterator[Mapping[str, object]]:
    delimiter = _FORMATS.get(path[-4:])
    if delimiter is None:
        raise UsageError(f"--owners {path}: name a .csv, .tsv or .json file")
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    names = reader.fieldnames or ()
    if {*names} - {*_COLUMNS} or not {"topic", "owner"} <= {*names}:
        raise UsageError(f"--owners {path}: the first line names the columns topic and owner, and at most cluster")
    yield from reader


def _json(path: str, text: str) -> Sequence[Mapping[str, object]]:
    """Return the rows of `{"PATTERN": "OWNER"}`, or of a list of objects."""
    document = json.loads(text)
    if isinstance(document, dict):
        return [{"topic": topic, "owner": owner} for topic, owner in document.items()]
    if isinstance(document, list) and all(isinstance(row, dict) and {*row} <= {*_COLUMNS} for row in document):
        return document
    raise UsageError(f'--owners {path}: write {{"PATTERN": "OWNER"}}, or a list of objects with topic and owner')


def _rule(path: str, number: int, row: Mapping[str, object]) -> OwnerRule:
    topic, owner, cluster = (row.get(name) or None for name in _COLUMNS)
    if not isinstance(topic, str) or not isinstance(owner, str) or not isinstance(cluster, str | None) or None in row:
        raise UsageError(f"--owners {path}: row {number} needs a topic and an owner, both texts")
    owner.encode()  # UnicodeError: half of a surrogate pair, from JSON.
    return OwnerRule(owner, topic, cluster)


def add_owners(output: RunOutput, rules: Sequence[OwnerRule]) -> None:
    """Write the owner of each topic of the run that is being written."""
    run = written_run(output, _TABLES)
    topics = {row for name in _TABLES for row in run.values(name, ("cluster", "topic")) if row[1] is not None}
    rows = []
    for cluster, topic in sorted(topics, key=lambda row: (name_order(row[0]), row[1])):
        owner = next((rule.owner for rule in rules if rule.matches(cluster, topic)), None)
        if owner is not None:
            rows.append((cluster, topic, owner))
    for at in range(0, len(rows), _ROWS):
        output.write("owners", batch_of(rows[at : at + _ROWS], owners.TABLE.run_columns))
