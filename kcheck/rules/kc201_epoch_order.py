"""The lines of a leader-epoch-checkpoint do not rise.

What is wrong: Each line must have a higher epoch and a higher start offset than the line above. One line does not. Only
a hand edit, two joined files or a disk error can cause this. One exception is normal, and kcheck reports it as info.
Brokers of 2.0.0 and earlier wrote two epochs with the same start offset when a leader had written nothing.

What the broker does:

- In 2.7 and later it replays the lines from the top. Each line removes every line above that contradicts it, so the
  last line always wins. The lines `0 0`, `5 200`, `3 100` are loaded as `0 0`, `3 100`. The broker can lose epochs that
  the log really has.
- From 0.11 to 2.6 it uses the lines unchanged, and epoch lookups return wrong offsets.

With epochs missing or wrong, the replica truncates too much as a follower. As a leader it gives its followers wrong end
offsets, and their logs diverge from its own without any error.

What to do: Do not let this replica lead until the file is right. If another replica is in sync, stop the broker and
move this partition directory outside every log dir. The broker then re-replicates it. Otherwise rebuild the file from
the batch headers of all segments. Never invent epochs.
"""

from array import array
from collections.abc import Iterable

from kcheck.core.replication.leader_epochs import read_lines, rise
from kcheck.model.entries import EpochEntries
from kcheck.model.finding import Finding, Severity
from kcheck.model.release import EpochLoad, Release
from kcheck.model.views import FileView
from kcheck.rules._checkpoints import LEADER_EPOCH_KIND
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._entries import line_of, on_line
from kcheck.rules._epochs import REFETCH_OR_REBUILD, entry_rows, entry_words, has_negative, lines_of_file
from kcheck.rules._words import and_further, kafka
from kcheck.words import counted, listed


def check(view: FileView, release: Release) -> Iterable[Finding]:
    """Find the first line that is not above the one before."""
    entries = lines_of_file(view, release)
    if rise(entries) or has_negative(entries):
        return  # KC205: from 2.7 the load ends there.
    # What does not fall, and yet does not rise, has the offset of the line before it.
    falls = any(_falls(entries, i) for i in range(1, len(entries)))
    wrong = array("q", (i for i in range(1, len(entries)) if _falls(entries, i) or not (falls or _rises(entries, i))))
    first, loaded = wrong[0], read_lines(entries, release)
    yield RULE.finding(
        on_line(view, first),
        f"line {line_of(first)}: {entry_words(entries[first])} follows {entry_words(entries[first - 1])}"
        + and_further(len(wrong), "line"),
        effect=_effect(entries, loaded, release),
        advice=f"Do not let this replica lead. {REFETCH_OR_REBUILD}"
        if falls
        else "Nothing. An old broker wrote this, and the later epoch has the data.",
        severity=Severity.ERROR if falls else Severity.INFO,
        data={"entries": entry_rows(entries), "loaded": entry_rows(loaded)},
    )


def _falls(entries: EpochEntries, index: int) -> bool:
    before, entry = entries[index - 1], entries[index]
    return entry.epoch <= before.epoch or entry.start_offset < before.start_offset


def _rises(entries: EpochEntries, index: int) -> bool:
    return entries[index].start_offset > entries[index - 1].start_offset


def _effect(entries: EpochEntries, loaded: EpochEntries, release: Release) -> str:
    if release.epoch_load is EpochLoad.E1:
        return f"{kafka(release)} uses the lines unchanged, and an epoch lookup can return a wrong offset."
    kept = frozenset(loaded)
    count = sum(entry not in kept for entry in entries)
    dropped = listed((entry_words(entry) for entry in entries if entry not in kept), count)
    return (
        f"{kafka(release)} replays the lines, and the last one wins. It keeps {len(loaded)} of "
        f"{counted(len(entries), 'entry')} and ignores {dropped or 'a repeated line'}."
    )


RULE = Rule(severity=Severity.ERROR, scope=Scope.FILE, check=check, kinds=(LEADER_EPOCH_KIND,), depends_on_others=True)
