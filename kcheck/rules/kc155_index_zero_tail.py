"""The index of a closed segment ends in zeros.

What is wrong: a broker creates the index files of its last segment large and full of zeros, and trims them when it
closes the segment or shuts down cleanly. Here the zeros are still present: the file is a copy from a running broker,
or a file system lost the length.

What the broker does: it reads every slot as an entry. Lookups in the `.index` are slow or begin at the start of the
segment. The last slot of a `.timeindex` gives the age of the segment: zeros mean 1970, and retention deletes the
segment. A start after an unclean shutdown rebuilds both for the segments from the recovery point on. Up to 2.2 every
start does so if zeros follow an entry in a `.timeindex`, up to 1.1 if an `.index` has any zeros.

What to do: stop the broker, check that every batch of the `.log` is intact, and move both indexes of the segment
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
