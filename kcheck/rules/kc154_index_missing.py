"""A segment with batches has no offset index or no time index.

What is wrong: a broker makes both files with the segment (the time index from 0.10.1 on). One was removed or not
copied.

What the broker does: without the `.index` it reads the whole segment at its next start and writes both anew; in doing
so it cuts the log at the first batch that is not whole. Without the `.timeindex` alone it makes an empty one and does
not fill it: retention then goes by the time of the file, and lookups by time begin at its start.

What to do: nothing for a missing `.index`, if every batch of the `.log` is whole (kcheck check --depth crc). For a
missing `.timeindex`, move the `.index` aside too, with the broker stopped, so that both are written anew.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.names import segment_prefix
from kcheck.model.release import Release
from kcheck.model.segments import SegmentView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._words import kafka


def check(view: SegmentView, release: Release) -> Iterable[Finding]:
    """Find a segment of a partition directory without its index files."""
    prefix = segment_prefix(view.base_offset)
    if not view.batches or not view.files:
        return
    if f"{prefix}.index" not in view.files:
        yield _finding(view, f"{prefix}.index", f"{kafka(release)} reads the segment through and writes it anew")
    elif f"{prefix}.timeindex" not in view.files and release.has_time_indexes:
        effect = f"{kafka(release)} makes an empty one: retention goes by the time of the file"
        yield _finding(view, f"{prefix}.timeindex", effect)


def _finding(view: SegmentView, name: str, effect: str) -> Finding:
    return RULE.finding(
        view.where._replace(file=name),
        "it is missing beside the .log",
        effect=f"{effect}.",
        advice="Check that every batch of the .log is whole before the broker starts: kcheck check --depth crc.",
        data={"batches": view.batches},
    )


RULE = Rule(
    id="KC154",
    name="index-missing",
    severity=Severity.WARNING,
    scope=Scope.SEGMENT,
    check=check,
    page=__doc__,
)
