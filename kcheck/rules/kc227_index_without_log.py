"""An index file stands alone: its `.log` is missing.

What is wrong: each segment has a `.log` beside its indexes. Here it is gone: it was removed, moved or not copied. Its
records are missing in this replica. Where it is named `.log.deleted` the broker was removing the segment, the `.log`
first: that is not told.

What the broker does: it deletes the index files at its next start, and goes on without the segment. Offsets that
stood only there cannot be read; no error tells so.

What to do: find the `.log`. If another replica is in sync, let this one be fetched anew.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.names import DELETED, FileKind, files_beside_segments, parse_file, segment_prefix
from kcheck.model.release import Release
from kcheck.model.views import PartitionView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._partition import served
from kcheck.rules._segments import REFETCH
from kcheck.rules._words import DATA_MAX, kafka, listed

_KINDS = (FileKind.INDEX, FileKind.TIME_INDEX, FileKind.TRANSACTION_INDEX)


def check(view: PartitionView, release: Release) -> Iterable[Finding]:
    """Find the index files of segments that have no log, where segments were looked at."""
    if not served(view):
        return
    named = [(name, parse_file(name)) for name in files_beside_segments(view.files) if name not in view.directories]
    alone = [
        name
        for name, found in named
        if found.kind in _KINDS and found.canonical and not found.suffix and found.offset is not None
        and not view.files & {segment_prefix(found.offset) + ending for ending in (".log", ".log" + DELETED)}
    ]  # fmt: skip
    if alone:
        yield RULE.finding(
            view.where,
            f"the .log is missing beside {listed(alone)}",
            effect=f"{kafka(release)} deletes them at its next start and goes on without the segment.",
            advice=f"Find the .log. {REFETCH}",
            data={"count": len(alone), "files": tuple(alone[:DATA_MAX])},
        )


RULE = Rule(
    id="KC227",
    name="index-without-log",
    severity=Severity.ERROR,
    scope=Scope.READ_PARTITION,
    check=check,
    page=__doc__,
)
