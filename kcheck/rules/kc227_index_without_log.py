"""An index file has no `.log`.

What is wrong: Each segment has a `.log` and its indexes. This one was removed, moved or not copied, and its records are
missing from this replica. kcheck does not report an index next to a `.log.deleted`, because the broker removes the
`.log` of a segment first.

What the broker does: When it starts, it deletes the index files and continues without the segment. Consumers cannot
read the offsets of that segment, and no error says so.

What to do: Find the `.log`. If another replica is in sync, let the broker re-replicate this one.
"""

from collections.abc import Iterable

from kcheck.model.finding import Claimed, Finding, Severity
from kcheck.model.names import DELETED, FileKind, files_beside_segments, parse_file, segment_prefix
from kcheck.model.release import Release
from kcheck.model.views import PartitionView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._partition import says, served
from kcheck.rules._segments import REFETCH
from kcheck.rules._words import DATA_MAX, kafka
from kcheck.words import listed

_KINDS = (FileKind.INDEX, FileKind.TIME_INDEX, FileKind.TRANSACTION_INDEX)


def check(view: PartitionView, release: Release) -> Iterable[Finding]:
    """Find the index files of segments that have no log, where segments were looked at."""
    if not served(view):
        return
    named = [(name, parse_file(name)) for name in files_beside_segments(view.files) if name not in view.directories]
    alone = [
        name
        for name, file in named
        if file.kind in _KINDS and file.canonical and not file.suffix and file.offset is not None
        and not view.files & {segment_prefix(file.offset) + ending for ending in (".log", ".log" + DELETED)}
    ]  # fmt: skip
    if alone:
        yield RULE.finding(
            view.where,
            f"no .log for {listed(alone)}",
            effect=says(
                f"{kafka(release)} deletes them at its next start and carries on without the segment.", Claimed.LOADS
            ),
            advice=f"Find the .log. {REFETCH}",
            data={"count": len(alone), "files": tuple(alone[:DATA_MAX])},
        )


RULE = Rule(severity=Severity.ERROR, scope=Scope.READ_PARTITION, check=check, depends_on_others=True)
