"""A leader-epoch-checkpoint holds a negative epoch or a negative offset.

What is wrong: The line is well formed, but leader epochs and offsets are never negative. The file was edited or
corrupted.

What the broker does: 2.7 and later do not start because of this one line. A -delete, -future or -stray directory is
enough. 0.11 to 2.6 use the line unchanged and may answer followers wrongly.

What to do: Stop the broker and keep a copy of the file outside every log dir. If another replica is in sync, move the
partition directory outside every log dir and let the broker re-replicate it. Otherwise rebuild the file from the batch
headers of all segments.
"""

from array import array
from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.release import EpochLoad, Release
from kcheck.model.views import FileView
from kcheck.rules._checkpoints import LEADER_EPOCH_KIND
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._entries import line_of, on_line
from kcheck.rules._epochs import REFETCH_OR_REBUILD, entry_rows, entry_words, has_negative, lines_of_file
from kcheck.rules._words import DATA_MAX, and_further, kafka


def check(view: FileView, release: Release) -> Iterable[Finding]:
    """Find the lines with a negative number."""
    entries = lines_of_file(view, release)
    if not has_negative(entries):
        return
    negative = array("q", (i for i, entry in enumerate(entries) if has_negative((entry,))))
    kept = release.epoch_load is EpochLoad.E1
    yield RULE.finding(
        on_line(view, negative[0]),
        f"line {line_of(negative[0])}: {entry_words(entries[negative[0]])}{and_further(len(negative), 'line')}",
        effect=f"{kafka(release)} uses the line unchanged, and may give followers a wrong end offset of an epoch."
        if kept
        else f"{kafka(release)} does not start, because of this line in one partition.",
        advice=f"Keep a copy of the file outside every log dir. {REFETCH_OR_REBUILD}",
        severity=Severity.ERROR if kept else Severity.FATAL,
        data={"entries": entry_rows(tuple(entries[i] for i in negative[:DATA_MAX]))},
    )


RULE = Rule(severity=Severity.FATAL, scope=Scope.FILE, check=check, kinds=(LEADER_EPOCH_KIND,))
