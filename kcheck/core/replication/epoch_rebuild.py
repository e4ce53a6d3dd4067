"""Rebuilds leader-epoch-checkpoint from the epochs in the batches and from the lines that no batch contradicts."""

from bisect import bisect_left
from collections.abc import Iterable
from itertools import accumulate
from typing import NamedTuple

from kcheck.model.entries import Epoch, EpochEntries, EpochEntry, Offset
from kcheck.model.segments import EpochRun


class RebuiltEpochs(NamedTuple):
    """The entries of the new file, and where they come from."""

    entries: EpochEntries
    """All entries, in order."""
    unseen: EpochEntries
    """Epochs taken from the old file. They have no batch, and no batch contradicts them."""
    dropped: EpochEntries
    """Lines of the old file that the batches contradict."""
    late: tuple[Epoch, ...]
    """Epochs without a usable line. They start at their first batch, though they may have begun earlier."""


def rebuild(runs: Iterable[EpochRun], stated: EpochEntries, *, log_end: int) -> RebuiltEpochs | None:
    """Return the epochs of the batches, with the lines of the old file (`stated`) that agree with them.

    None if the epochs of the batches fall, as a batch is then wrong. An epoch that has lost all its records, or never
    had any, is only in the file.
    """
    proven = _run_per_epoch(run for run in runs if run.first_offset < log_end)
    if proven is None:
        return None
    starts: dict[Epoch, set[Offset]] = {}
    bounds = _StartBounds(proven, log_end)
    for entry in stated:
        if bounds.agree(entry):
            starts.setdefault(entry.epoch, set()).add(entry.start_offset)
    # Two lines about one epoch contradict each other, so neither counts.
    from_file = {epoch: next(iter(offsets)) for epoch, offsets in starts.items() if len(offsets) == 1}
    with_batches = {run.epoch: from_file.get(run.epoch, run.first_offset) for run in proven}
    entries: list[EpochEntry] = []
    for epoch in sorted(with_batches.keys() | from_file.keys()):
        start = with_batches.get(epoch, from_file.get(epoch, Offset(0)))
        last_start = entries[-1].start_offset if entries else -1
        if epoch not in with_batches and start <= last_start:
            continue
        while entries and entries[-1].start_offset >= start:
            entries.pop()  # It has no batch: two epochs with batches never start at one offset.
        entries.append(EpochEntry(epoch, start))
    kept = frozenset(entries)
    return RebuiltEpochs(
        entries=tuple(entries),
        unseen=tuple(entry for entry in entries if entry.epoch not in with_batches),
        dropped=tuple(entry for entry in stated if entry not in kept),
        late=tuple(epoch for epoch in with_batches if epoch not in from_file),
    )


def _run_per_epoch(runs: Iterable[EpochRun]) -> list[EpochRun] | None:
    """Return one run for each epoch; None if the epochs fall. Batches without an epoch are skipped."""
    merged: list[EpochRun] = []
    for run in runs:
        if run.epoch < 0:
            continue
        if merged and run.epoch < merged[-1].epoch:
            return None
        if merged and run.epoch == merged[-1].epoch:
            merged[-1] = merged[-1]._replace(last_offset=run.last_offset)
        else:
            merged.append(run)
    return merged


class _StartBounds:
    """Between which offsets an epoch may start, by the batches of the other epochs; one look-up for each line.

    `last_of_first[n]` is the last offset of the first n runs, `first_from[n]` the first offset of run n and later.
    """

    def __init__(self, proven: list[EpochRun], log_end: int) -> None:
        self._epochs = [run.epoch for run in proven]
        self._firsts = [run.first_offset for run in proven]
        self._log_end = log_end
        self._last_of_first = [-1, *accumulate((int(run.last_offset) for run in proven), max)]
        falling = accumulate((int(run.first_offset) for run in reversed(proven)), min)
        self._first_from = [*reversed(list(falling)), log_end + 1]

    def agree(self, entry: EpochEntry) -> bool:
        """Return whether no batch contradicts a line of the file."""
        if entry.epoch < 0 or not 0 <= entry.start_offset <= self._log_end:
            return False
        at = bisect_left(self._epochs, entry.epoch)
        has_batch = at < len(self._epochs) and self._epochs[at] == entry.epoch
        if has_batch and entry.start_offset > self._firsts[at]:
            return False
        return self._last_of_first[at] < entry.start_offset < self._first_from[at + has_batch]
