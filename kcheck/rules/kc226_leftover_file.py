"""A file is left over from a deletion, a compaction or a write that was interrupted.

What is wrong: nothing. `.deleted` waits for its removal, `.cleaned` is the output of a compaction or a split that was
not finished, `.swap` the output of one that was, `.tmp` a small file that was being written.

What the broker does at its next start: it removes `.deleted` and `.cleaned`, puts `.swap` in the place of the
segments that it replaces, and writes over `.tmp`.

What to do: nothing.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.names import CLEANED, DELETED, SWAP, TEMPORARY, parse_file
from kcheck.model.release import Release
from kcheck.model.views import PartitionView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._partition import served
from kcheck.rules._words import DATA_MAX, counted, kafka, listed

EFFECTS = {
    DELETED: "removes them",
    CLEANED: "removes them",
    SWAP: "puts them in the place of the segments that they replace",
    TEMPORARY: "writes over them",
}


def check(view: PartitionView, release: Release) -> Iterable[Finding]:
    """Find the leftovers of each kind, where segments were looked at."""
    if view.read is None or not served(view):
        return
    named = [(name, parse_file(name).suffix) for name in sorted(view.files)]
    for suffix, effect in EFFECTS.items():
        names = [name for name, found in named if found == suffix]
        if names:
            yield RULE.finding(
                view.where,
                f"{counted(len(names), f'{suffix} file')}: {listed(names)}",
                effect=f"{kafka(release)} {effect} at its next start.",
                advice="Nothing has to be done.",
                data={"suffix": suffix, "count": len(names), "files": tuple(names[:DATA_MAX])},
            )


RULE = Rule(
    id="KC226",
    name="leftover-file",
    severity=Severity.INFO,
    scope=Scope.PARTITION,
    check=check,
    page=__doc__,
)
