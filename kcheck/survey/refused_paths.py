"""Adds findings for paths that the file system refused, so that an answer without a file says so."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Protocol, TypeVar

from kcheck.disk.paths import join, split
from kcheck.disk.refusals import Refusals
from kcheck.disk.tree import tree_of
from kcheck.errors import KcheckError
from kcheck.model.finding import Finding, Location, Severity
from kcheck.model.names import META_PROPERTIES, parse_directory
from kcheck.model.unreadable import Unreadable, UnreadableCause
from kcheck.rules import kc001_unreadable


class HasFindings(Protocol):
    """An answer that takes more findings."""

    @property
    def collected(self) -> list[Finding]:
        """The findings."""


WithFindings = TypeVar("WithFindings", bound=HasFindings)


def complete(answer_of: Callable[[], WithFindings]) -> WithFindings:
    """Return an answer that has a finding for each path that was refused while it was made.

    An error of the command names the first of them.
    """
    with Refusals() as refused:
        try:
            answer = answer_of()
        except KcheckError as error:
            for path, words in refused.items():
                if words not in str(error):
                    error.args = (f"{error} ({path}: {words})",)
                break
            raise
    answer.collected.extend(refused_findings(refused, answer.collected))
    return answer


def refused_findings(refused: Mapping[str, str], known: Iterable[Finding]) -> Iterator[Finding]:
    """Yield a finding for each path that no known finding names, itself or by its directory."""
    if not refused:
        return
    findings = tuple(known)
    named = {path_of(finding.where) for finding in findings if _is_refusal(finding)}
    brokers = {finding.where.log_dir: finding.where.broker_id for finding in findings}
    for path, words in refused.items():
        if path not in named and split(path)[0] not in named:
            where = _location(path)
            where = where._replace(broker_id=brokers.get(where.log_dir))
            if tree_of(path).is_bundle and split(path)[1].endswith(".properties") and where.file != META_PROPERTIES:
                yield kc001_unreadable.settings_finding(where)
            else:
                yield kc001_unreadable.finding(where, Unreadable(UnreadableCause.REFUSED, words))


def path_of(where: Location) -> str:
    """Return the path of a location."""
    return join(where.log_dir or "", *filter(None, (where.dir, where.file)))


def _is_refusal(finding: Finding) -> bool:
    return finding.id == kc001_unreadable.RULE.id and finding.severity is not Severity.INFO


def _location(path: str) -> Location:
    """Return the place of a path (a partition directory, a file in one, or another entry of a log dir)."""
    folder, name = split(path)
    directory = parse_directory(name)
    if directory is not None:
        return Location(log_dir=folder, dir=name, topic=directory.topic, partition=directory.partition)
    log_dir, parent = split(folder)
    directory = parse_directory(parent)
    if directory is not None:
        return Location(log_dir=log_dir, dir=parent, topic=directory.topic, partition=directory.partition, file=name)
    return Location(log_dir=folder, file=name)
