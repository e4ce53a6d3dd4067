"""leader-epoch-checkpoint out of what the batches carry: nothing in it is invented."""

from bisect import bisect_left
from collections.abc import Iterable
from itertools import accumulate
from typing import NamedTuple

from kcheck.model.entries import Epoch, EpochEntries, EpochEntry, Offset
from kcheck.model.segments import EpochRun


class RebuiltEpochs(NamedTuple):
    """The entries; those that the batches do not show and that do not contradict them; those that were left out.

    `late` are the epochs of which the first batch is known, and not whether they began there.
    """

    entries: EpochEntries
    unseen: EpochEntries
    dropped: EpochEntries
    late: tuple[Epoch, ...]


def rebuild(runs: Iterable[EpochRun], stated: EpochEntries, *, log_end: int) -> RebuiltEpochs | None:
    """Return the epochs that the batches prove, and what the file states beside them without a contradiction.

    None where the epochs of the batches fall: then one of these is wrong itself. An epoch that has lost all its
    records, or that never had any, can be known from the file alone.
    """
    proven = _proven(run for run in runs if run.first_offset < log_end)
    if proven is None:
        return None
    starts: dict[Epoch, set[Offset]] = {}
    bounds = _Bounds(proven, log_end)
    for entry in stated:
        if bounds.agree(entry):
            starts.setdefault(entry.epoch, set()).add(entry.start_offset)
    # Two lines about one epoch contradict each other, so neither is believed.
    told = {epoch: next(iter(offsets)) for epoch, offsets in starts.items() if len(offsets) == 1}
    known = {run.epoch: told.get(run.epoch, run.first_offset) for run in proven}
    entries: list[EpochEntry] = []
    for epoch in sorted(known.keys() | told.keys()):
        start = known.get(epoch, told.get(epoch, Offset(0)))
        before = entries[-1].start_offset if entries else -1
        if epoch not in known and start <= before:
            continue
        while entries and entries[-1].start_offset >= start:
            entries.pop()  # It has no batch: two proven epochs never begin at one offset.
        entries.append(EpochEntry(epoch, start))
    kept = tuple(entries)
    among = frozenset(kept)
    return RebuiltEpochs(
        entries=kept,
        unseen=tuple(entry for entry in kept if entry.epoch not in known),
        dropped=tuple(entry for entry in stated if entry not in among),
        late=tuple(epoch for epoch in known if epoch not in told),
    )


def _proven(runs: Iterable[EpochRun]) -> list[EpochRun] | None:
    """Return a run for each epoch, None where they do not rise."""
    found: list[EpochRun] = []
    for run in runs:
        if run.epoch < 0:
            continue
        if found and run.epoch < found[-1].epoch:
            return None
        if found and run.epoch == found[-1].epoch:
            found[-1] = found[-1]._replace(last_offset=run.last_offset)
        else:
            found.append(run)
    return found


class _Bounds:
    """What the batches allow a line to say, whichever runs there are: looked up, not gone through.

    `behind[n]` is the last offset of the first n runs, `before[n]` the first offset of those from number n on.
    """

    def __init__(self, proven: list[EpochRun], log_end: int) -> None:
        self._epochs = [run.epoch for run in proven]
        self._firsts = [run.first_offset for run in proven]
        self._log_end = log_end
        self._behind = [-1, *accumulate((int(run.last_offset) for run in proven), max)]
        falling = accumulate((int(run.first_offset) for run in reversed(proven)), min)
        self._before = [*reversed(list(falling)), log_end + 1]

    def agree(self, entry: EpochEntry) -> bool:
        """Whether no batch contradicts a line of the file."""
        if entry.epoch < 0 or not 0 <= entry.start_offset <= self._log_end:
            return False
        at = bisect_left(self._epochs, entry.epoch)
        has_batch = at < len(self._epochs) and self._epochs[at] == entry.epoch
        if has_batch and entry.start_offset > self._firsts[at]:
            return False
        return self._behind[at] < entry.start_offset < self._before[at + has_batch]
