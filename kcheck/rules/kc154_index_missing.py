"""A segment with batches has no offset index or no time index.

What is wrong: A broker creates both files with the segment (the time index in 0.10.1 and later). One was removed or not
copied.

What the broker does: Without the `.index` it reads all batches of the segment when it starts. It rebuilds both files.
It truncates the log at the first batch that is not intact. Without only the `.timeindex` it creates an empty one and
does not fill it. Retention uses the modification time of the file, and lookups by time begin at the first batch of the
segment.

What to do: Nothing for a missing `.index`, if every batch of the `.log` is intact (kcheck check --depth crc). For a
missing `.timeindex`, stop the broker and move the `.index` aside too, so that the broker rebuilds both.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.names import segment_prefix
from kcheck.model.release import Release
from kcheck.model.segments import SegmentView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._segments import lacks_index
from kcheck.rules._words import kafka


def check(view: SegmentView, release: Release) -> Iterable[Finding]:
    """Find a segment of a partition directory that lacks an index file."""
    prefix = segment_prefix(view.base_offset)
    if not view.batches or not view.files:
        return
    if f"{prefix}.index" not in view.files:
        yield _finding(view, f"{prefix}.index", f"{kafka(release)} reads all of the segment and rebuilds it")
    elif f"{prefix}.timeindex" not in view.files and release.has_time_indexes:
        effect = f"{kafka(release)} creates an empty one, and retention uses the modification time of the file"
        yield _finding(view, f"{prefix}.timeindex", effect)


def _finding(view: SegmentView, name: str, effect: str) -> Finding:
    return RULE.finding(
        view.where._replace(file=name),
        "missing next to the .log",
        effect=f"{effect}.",
        advice="Before the broker starts, check that every batch of the .log is intact (kcheck check --depth crc).",
        data={"batches": view.batches},
    )


RULE = Rule(severity=Severity.WARNING, scope=Scope.SEGMENT, check=check, when=lacks_index)
