"""Finds the records that brokers truncate when they start, and that no other replica here has.

Batches after a corrupt one may be intact. They can be saved before the broker starts.
"""

from collections.abc import Iterable, Iterator, Mapping

from kcheck.core.election.plans import PartitionElection
from kcheck.core.election.start_losses import IntactRun, RemovedAtStart
from kcheck.core.start.predictions import LogCut, LogDirPrediction, PartitionPrediction
from kcheck.core.start.startup import Outcome
from kcheck.disk.paths import join
from kcheck.disk.tree import path_at_home
from kcheck.model.entries import Offset
from kcheck.model.names import DirectoryState
from kcheck.model.source import Files, Source
from kcheck.model.unreadable import UnreadableError
from kcheck.segments.batches_after_damage import intact_batches
from kcheck.views.targets import Target

_RUNS_MAX = 100
"""The most runs of intact batches that are looked for in one segment."""


def removed_at_start(
    partitions: Iterable[PartitionElection], targets: Iterable[Target], starts: Mapping[str, LogDirPrediction]
) -> Iterator[RemovedAtStart]:
    """Yield the losses of starts that no replica makes up for; `starts` are by the paths of the targets."""
    ends = {
        (part.topic, part.partition): max(row.log_end_offset or Offset(0) for row in part.leaders.values())
        for part in partitions
        if part.leaders
    }
    for target in targets:
        start = starts[target.path]
        number = start.broker_id if target.broker_id is None else target.broker_id
        if number is None:
            continue
        for row in start.partitions:
            lost, end = row.lost, ends.get((row.directory.topic, row.directory.partition))
            is_served = row.directory.state is DirectoryState.CURRENT and row.outcome is Outcome.LOST
            if not is_served or lost is None or end is None or (lost.end is not None and lost.end <= end):
                continue
            folder = join(target.log_dir, row.dir)
            readable = tuple(_readable(row, end, target.tree.directory(folder)))
            yield RemovedAtStart(
                row.directory.topic, row.directory.partition, number, path_at_home(folder), end, lost.end, readable
            )


def _readable(row: PartitionPrediction, end: Offset, disk: Files) -> Iterator[IntactRun]:
    """Yield the intact batches of the truncated parts, from offset `end` on."""
    for cut in () if row.log is None else row.log.cuts:
        try:
            with disk.open(cut.name) as source:
                yield from _runs(source, cut, end)
        except UnreadableError:
            continue


def _runs(source: Source, cut: LogCut, end: Offset) -> Iterator[IntactRun]:
    """Yield the runs of intact batches in the truncated part of a segment."""
    position, after, size = cut.position, Offset(max(cut.end_offset, end) - 1), min(cut.size, source.size)
    for _ in range(_RUNS_MAX):
        run = intact_batches(source, position, size, base=cut.base_offset, after=after)
        if run is None:
            return
        yield IntactRun(run.base_offset, Offset(run.last_offset + 1), cut.name, run.position)
        position, after = run.position + 1, run.last_offset
