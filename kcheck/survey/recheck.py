"""Confirms findings in a log dir that a broker is using, by reading these partitions again.

kcheck reads files one after another while the broker writes. So an index may be older than its segment, or a file may
appear a moment later. A partition that moves may be in two log dirs. Real corruption is still there on the second read.
"""

from collections.abc import Collection, Iterable

from kcheck.disk.local import LOCAL
from kcheck.disk.lock import locked_by
from kcheck.disk.paths import join
from kcheck.model.finding import Finding, Severity
from kcheck.model.views import LogDirView


def suspects(log_dir: str, findings: Iterable[Finding]) -> frozenset[str]:
    """Return the partition directories to read again; none if no process holds the log dir's lock."""
    named = frozenset(finding.where.dir for finding in findings if finding.where.dir is not None and _counts(finding))
    return named if named and locked_by(log_dir) is not None else frozenset()


def confirmed(
    suspect: Collection[str], findings: Iterable[Finding], second_findings: Iterable[Finding]
) -> list[Finding]:
    """Return the findings that the second read confirms in the same file."""
    still_there = {_key(finding) for finding in second_findings}
    return [
        finding
        for finding in findings
        if finding.where.dir not in suspect or not _counts(finding) or _key(finding) in still_there
    ]


def remaining(view: LogDirView) -> LogDirView:
    """Return a log dir without the partitions that have moved away."""
    return view._replace(
        partitions=tuple(partition for partition in view.partitions if not has_left(view, partition.where.dir or ""))
    )


def has_left(view: LogDirView | None, name: str) -> bool:
    """Return whether a directory no longer exists, as a broker moves partitions between its log dirs."""
    if view is None or view.locked_by is None:
        return False
    return not LOCAL.is_directory(join(view.where.log_dir or "", name))


def _counts(finding: Finding) -> bool:
    return finding.severity is not Severity.INFO


def _key(finding: Finding) -> tuple[str, str | None, str | None]:
    return finding.id, finding.where.dir, finding.where.file
