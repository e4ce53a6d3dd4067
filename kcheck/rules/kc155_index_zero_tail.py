"""The index of a closed segment ends in zeros.

What is wrong: a broker makes the index files of its last segment large and full of zeros, and cuts them when it
closes the segment or stops cleanly. Here the zeros are still there: a copy of a running broker, or a file system that
lost the length.

What the broker does: it takes every slot for an entry. Lookups in the `.index` are slow or begin at the start of the
segment. The last slot of a `.timeindex` tells how old the segment is: zeros make it as old as 1970, and retention
deletes the segment. A start after an unclean stop builds both anew for the segments from the recovery point on. Up to
2.2 every start does so where the zeros of a `.timeindex` stand behind an entry, up to 1.1 where an `.index` has any.

What to do: stop the broker, make sure that every batch of the `.log` is whole, and move both indexes of the segment
aside; they are written anew at the start.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.segments import SegmentView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._segments import REBUILD, closed, rebuilt, rebuilt_or_unnoticed
from kcheck.rules._words import counted


def check(view: SegmentView, release: Release) -> Iterable[Finding]:
    """Find zeros behind the entries of an index that was closed."""
    if not closed(view) or not view.batches:
        return
    for index, unnoticed in (
        (view.offset_index, "lookups in it are slow"),
        (view.time_index, "the segment looks as old as 1970, and retention deletes it"),
    ):
        if index is not None and index.room:
            yield RULE.finding(
                index.where,
                f"{counted(index.room, 'zero byte')} behind {counted(index.entries, 'entry', 'entries')}",
                effect=rebuilt_or_unnoticed(view, release, unnoticed),
                advice=REBUILD,
                severity=Severity.ERROR
                if index is view.time_index and not rebuilt(view, release)
                else Severity.WARNING,
                data={"room": index.room, "entries": index.entries},
            )


RULE = Rule(severity=Severity.ERROR, scope=Scope.SEGMENT, check=check)
