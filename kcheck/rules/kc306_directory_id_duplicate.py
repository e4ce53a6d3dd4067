"""Two log dirs of one broker have the same directory.id, so the broker does not start.

What is wrong: In 3.7 and later each log dir has its own id in meta.properties. Two are equal, because a log dir or its
meta.properties was copied.

What the broker does: In 3.7 and later it does not start ("Duplicate directory ID"). Older releases do not look.

What to do: Find out which log dir is the copy. Its partitions are in the other one too, or it is newer. Then remove the
line directory.id from its meta.properties. The broker creates a new id, and the controller sees a new log dir.
"""

from collections.abc import Iterable

from kcheck.core.start.identity import Identity, identity
from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.views import LogDirView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._words import kafka
from kcheck.words import listed


def check(views: tuple[LogDirView, ...], release: Release) -> Iterable[Finding]:
    """Find the ids that several log dirs have."""
    if not release.has_directory_ids:
        return
    by_id: dict[str, list[Identity]] = {}
    for view in views:
        known = identity(view)
        directory_id = None if known is None else known.get("directory.id")
        if known is not None and directory_id is not None:
            by_id.setdefault(directory_id, []).append(known)
    for directory_id in sorted(by_id):
        twins = by_id[directory_id]
        paths = [str(known.view.where.log_dir) for known in twins]
        for twin in twins[1:]:
            yield RULE.finding(
                twin.file.where,
                f"{listed(paths)} have the same directory.id {directory_id}",
                effect=f"{kafka(release)} does not start (Duplicate directory ID).",
                advice="Find out which log dir is the copy, and remove the line directory.id from its meta.properties. "
                "The broker creates a new id.",
                data={"directory_id": directory_id, "log_dirs": tuple(paths)},
            )


RULE = Rule(severity=Severity.FATAL, scope=Scope.BROKER, check=check)
