"""A log dir in use is looked at twice where something seems wrong: its broker writes while kcheck looks.

Files are read one after the other, so an index may be older than its segment, a file be missing that is made a moment
later, or a partition stand in the log dir that it moves to and still in the one that it comes from. What is really
wrong is still so when it is looked at again.
"""

from collections.abc import Collection, Iterable

from kcheck.disk.lock import locked_by
from kcheck.disk.walk import is_directory, join
from kcheck.model.finding import Finding, Severity
from kcheck.model.views import LogDirView


def suspects(log_dir: str, findings: Iterable[Finding]) -> frozenset[str]:
    """Return the partition directories of a log dir to look at again: none if no process holds it."""
    named = frozenset(finding.where.dir for finding in findings if finding.where.dir is not None and _counts(finding))
    return named if named and locked_by(log_dir) is not None else frozenset()


def confirmed(
    suspect: Collection[str], findings: Iterable[Finding], second_findings: Iterable[Finding]
) -> list[Finding]:
    """Return what was found without that which the second look does not find in the same file."""
    still_there = {_key(finding) for finding in second_findings}
    return [
        finding
        for finding in findings
        if finding.where.dir not in suspect or not _counts(finding) or _key(finding) in still_there
    ]


def remaining(view: LogDirView) -> LogDirView:
    """Return a log dir without the partitions that have left it."""
    return view._replace(
        partitions=tuple(partition for partition in view.partitions if not has_left(view, partition.where.dir or ""))
    )


def has_left(view: LogDirView | None, name: str) -> bool:
    """Whether a directory is gone that was there: a broker moves partitions from one of its log dirs to another."""
    if view is None or view.locked_by is None:
        return False
    return not is_directory(join(view.where.log_dir or "", name))


def _counts(finding: Finding) -> bool:
    return finding.severity is not Severity.INFO


def _key(finding: Finding) -> tuple[str, str | None, str | None]:
    return finding.id, finding.where.dir, finding.where.file
