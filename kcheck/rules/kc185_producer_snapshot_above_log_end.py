"""A producer snapshot is above the log end offset.

What is wrong: The `.snapshot` was written to disk, but batches before it were not when the power failed. Or the end of
the log was truncated or is corrupt.

What the broker does: When it starts, it deletes the snapshot and loads an older one.

What to do: Nothing for the snapshot. But the log once reached that offset. Before this replica leads, check whether
another replica has the missing records.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.names import FileKind, files_beside_segments, parse_file
from kcheck.model.release import Release
from kcheck.model.views import PartitionView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._partition import served
from kcheck.rules._words import DATA_MAX, kafka
from kcheck.words import counted, listed


def check(view: PartitionView, release: Release) -> Iterable[Finding]:
    """Compare the names of the snapshots with the log end."""
    end = view.log_end_offset
    if end is None or not served(view):
        return
    parsed = ((parse_file(name), name) for name in files_beside_segments(view.files))
    names = [
        name
        for file, name in parsed
        if file.kind is FileKind.PRODUCER_SNAPSHOT and not file.suffix and (file.offset or 0) > end
    ]
    if names:
        yield RULE.finding(
            view.where,
            f"{counted(len(names), 'producer snapshot')} above the log end offset {end}: {listed(names)}",
            effect=f"{kafka(release)} deletes every snapshot above its log end offset when it starts.",
            advice="Before this replica leads, check whether another one has the missing records.",
            data={"log_end_offset": end, "count": len(names), "files": tuple(names[:DATA_MAX])},
        )


RULE = Rule(severity=Severity.INFO, scope=Scope.READ_PARTITION, check=check, depends_on_others=True)
