"""The index of a closed segment ends in zeros.

What is wrong: A broker creates the index files of its last segment large and full of zeros. It trims them when it
closes the segment or shuts down cleanly. The zeros are still present. The file is a copy from a running broker, or a
file system lost the length.

What the broker does: It reads every slot as an entry. Lookups in the `.index` are slow or begin at the first batch of
the segment. The last slot of a `.timeindex` gives the age of the segment. Zeros mean 1970, and retention deletes the
segment. After an unclean shutdown it rebuilds both for the segments from the recovery point on. 2.2 and earlier always
do so if zeros follow an entry in a `.timeindex`. 1.1 and earlier do so if an `.index` has any zeros.

What to do: Stop the broker, and check that every batch of the `.log` is intact. Then move both indexes of the segment
aside. The broker rebuilds them when it starts.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.segments import SegmentView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._segments import REBUILD, closed, rebuilt, rebuilt_or_unnoticed
from kcheck.words import counted


def check(view: SegmentView, release: Release) -> Iterable[Finding]:
    """Find zeros after the entries of a closed index."""
    if not closed(view) or not view.batches:
        return
    for index, unnoticed in (
        (view.offset_index, "lookups in it are slow"),
        (view.time_index, "the segment appears to be from 1970, and retention deletes it"),
    ):
        if index is not None and index.room:
            yield RULE.finding(
                index.where,
                f"{counted(index.room, 'zero byte')} after {counted(index.entries, 'entry')}",
                effect=rebuilt_or_unnoticed(view, release, unnoticed),
                advice=REBUILD,
                severity=Severity.ERROR
                if index is view.time_index and not rebuilt(view, release)
                else Severity.WARNING,
                data={"room": index.room, "entries": index.entries},
            )


RULE = Rule(severity=Severity.ERROR, scope=Scope.SEGMENT, check=check)
