"""A producer snapshot is of an offset that the log does not reach.

What is wrong: the `.snapshot` was written to the disk, and batches before it were not when the power failed; or the
end of the log was cut or damaged.

What the broker does: it deletes it at its next start, and takes an older one.

What to do: nothing for the snapshot. But the log had reached that offset once: see whether what is missing is on
another replica before this one leads.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.names import FileKind, files_beside_segments, parse_file
from kcheck.model.release import Release
from kcheck.model.views import PartitionView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._partition import served
from kcheck.rules._words import DATA_MAX, counted, kafka, listed


def check(view: PartitionView, release: Release) -> Iterable[Finding]:
    """Compare the names of the snapshots with the log end."""
    end = view.log_end_offset
    if end is None or not served(view):
        return
    parsed = ((parse_file(name), name) for name in files_beside_segments(view.files))
    names = [
        name
        for found, name in parsed
        if found.kind is FileKind.PRODUCER_SNAPSHOT and not found.suffix and (found.offset or 0) > end
    ]
    if names:
        yield RULE.finding(
            view.where,
            f"{counted(len(names), 'producer snapshot')} above the log end {end}: {listed(names)}",
            effect=f"{kafka(release)} deletes what is above its log end at its next start.",
            advice="See whether another replica has what is missing, before this one leads.",
            data={"log_end_offset": end, "count": len(names), "files": tuple(names[:DATA_MAX])},
        )


RULE = Rule(severity=Severity.INFO, scope=Scope.READ_PARTITION, check=check)
