"""A file is left over from an interrupted deletion, compaction or write.

What is wrong: Nothing. Each suffix has a meaning. `.deleted` waits to be removed, and `.tmp` is a small file that was
being written. `.cleaned` is the output of an unfinished compaction or split, `.swap` of a finished one.

What the broker does when it starts: It removes `.deleted` and `.cleaned`. It also removes a `.swap` whose offset is not
below the lowest `.cleaned`, because it belongs to an unfinished split. 3.0 and later then remove every numbered file
from the lowest `.swap` to the end of the last one. They rename all `.swap` files. 2.8 and earlier put a `.log.swap` in
the place of the segments with its offsets, and mark those for deletion. An `.index.swap` without a `.log.swap` stays.
It overwrites `.tmp`.

What to do: Nothing. The data of the finding lists the files that the next start removes and renames.

See: operations/disk-full.md
"""

from collections.abc import Iterable

from kcheck.core.start.leftovers import Leftovers, after_start, ends_start
from kcheck.model.finding import Claimed, Finding, Severity
from kcheck.model.names import CLEANED, DELETED, SWAP, TEMPORARY, files_beside_segments, parse_file
from kcheck.model.release import Release
from kcheck.model.views import PartitionView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._partition import says, served
from kcheck.rules._words import DATA_MAX, escaped, kafka
from kcheck.words import counted, listed

SUFFIXES = (DELETED, CLEANED, SWAP, TEMPORARY)


def check(view: PartitionView, release: Release) -> Iterable[Finding]:
    """Find the leftovers of each kind, where segments were looked at."""
    if not served(view):
        return
    named = [(name, parse_file(name).suffix) for name in files_beside_segments(view.files)]
    for suffix in SUFFIXES:
        names = [name for name, own_suffix in named if own_suffix == suffix]
        if names:
            bad = next(
                (
                    file_name
                    for file_name, own_suffix in named
                    if own_suffix in (CLEANED, SWAP) and ends_start(file_name, release)
                ),
                None,
            )
            yield _finding(view, suffix, names, next_start(view, release), release, bad=bad)


def next_start(view: PartitionView, release: Release) -> Leftovers:
    """Return the effect of the next start on the leftovers of a partition whose segments were read."""
    swaps = {swap.base_offset: swap.end_offset for swap in view.swaps}
    segments = {segment.base_offset: segment.end_offset for segment in view.read or ()}
    return after_start(view.files, swaps, segments, release)


def _finding(
    view: PartitionView, suffix: str, names: list[str], after: Leftovers, release: Release, *, bad: str | None
) -> Finding:
    removed = [name for name in names if name in after.removed]
    renamed = [name for name in names if name in after.renamed]
    data = {"suffix": suffix, "count": len(names), "files": tuple(names[:DATA_MAX])}
    fails = bad is not None and suffix not in (DELETED, TEMPORARY)
    if suffix == TEMPORARY:
        effects = ["overwrites them"]
    elif fails:
        effects = [f"fails on the name of {escaped(bad or '')}"]
    else:
        kept = len(names) - len(removed) - len(renamed)
        replaced = sorted(after.removed - set(names)) if suffix == SWAP and renamed else []
        replaced = [name for name in replaced if not parse_file(name).suffix]
        effects = [f"removes {_them(removed, names)}"] if removed else []
        effects += [f"ignores {counted(kept, 'file')}"] if kept else []
        effects += [f"renames {_them(renamed, names)}"] if renamed else []
        effects += [f"removes the files that they replace: {listed(replaced)}"] if replaced else []
        data |= {"removed": tuple(removed[:DATA_MAX]), "renamed": tuple(renamed[:DATA_MAX])}
        data |= {"replaced": tuple(replaced[:DATA_MAX])}
    words = f"{kafka(release)} {', '.join(effects)} at its next start."
    return RULE.finding(
        view.where,
        f"{counted(len(names), f'{suffix} file')}: {listed(names)}",
        effect=says(words, Claimed.FAILS) if fails else words,
        advice="Nothing.",
        data=data,
    )


def _them(some: list[str], names: list[str]) -> str:
    return "them" if len(some) == len(names) else listed(some)


RULE = Rule(severity=Severity.INFO, scope=Scope.READ_PARTITION, check=check)
