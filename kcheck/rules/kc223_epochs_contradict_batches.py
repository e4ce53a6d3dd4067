"""The leader-epoch-checkpoint contradicts the leader epochs of the batches.

What is wrong: Each batch carries the epoch of its leader. The file lists the first offset of each epoch. The two
disagree about a batch. The file belongs to another replica, was edited, or lost lines.

What the broker does: It trusts the file. As a leader it gives its followers wrong end offsets; as a follower it asks
for wrong epochs. Replicas truncate at wrong offsets, or stay different without any error.

What to do: Do not let this replica lead while another one is in sync. Let the broker re-replicate it. Or stop the
broker and rebuild the file from the batch headers of all segments.

See: operations/support-ticket.md
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import pairwise

from kcheck.core.replication.leader_epochs import latest_epoch
from kcheck.model.entries import Epoch, EpochEntries, Offset
from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.segments import EpochRun
from kcheck.model.views import PartitionView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._epochs import REFETCH_OR_REBUILD, lines_of_file
from kcheck.rules._words import DATA_MAX, and_further, kafka


def check(view: PartitionView, release: Release) -> Iterable[Finding]:
    """Compare each run of batches of one epoch with the file, from its first entry and the log start on.

    Lines that do not rise are KC201.
    """
    cache = lines_of_file(view.epochs, release)
    rising = all(one < other and one.start_offset < other.start_offset for one, other in pairwise(cache))
    wrong = [*_contradictions(view, cache)] if cache and rising else []
    if not wrong:
        return
    assert view.epochs is not None
    run, offset = wrong[0]
    stated = _stated(cache, offset)
    yield RULE.finding(
        view.epochs.where,
        f"the file gives offset {offset} epoch {stated}, but the batch has epoch {run.epoch}"
        f"{and_further(len(wrong), 'run of batches', 'runs of batches')}",
        effect=f"{kafka(release)} trusts the file, so replicas truncate at wrong offsets.",
        advice=f"Do not let this replica lead while another one is in sync. {REFETCH_OR_REBUILD}",
        data={
            "count": len(wrong),
            "runs": tuple({**run._asdict(), "stated": _stated(cache, at)} for run, at in wrong[:DATA_MAX]),
        },
    )


def _contradictions(view: PartitionView, cache: EpochEntries) -> Iterator[tuple[EpochRun, Offset]]:
    """Yield each run with the first of its two ends for which the file has another epoch.

    Epochs above the last epoch of the file are KC206.
    """
    latest, start = latest_epoch(cache), max(cache[0].start_offset, view.log_start_offset or Offset(0))
    for segment in view.read or ():
        for run in segment.epochs:
            if run.last_offset >= start and run.epoch <= latest:
                for offset in (Offset(max(run.first_offset, start)), run.last_offset):
                    if _stated(cache, offset) != run.epoch:
                        yield run, offset
                        break


def _stated(cache: EpochEntries, offset: Offset) -> Epoch:
    """Return the epoch of an offset at or above the first entry, as LeaderEpochFileCache.epochForOffset (3.5) does."""
    return cache[bisect_right(cache, offset, key=lambda entry: entry.start_offset) - 1].epoch


RULE = Rule(severity=Severity.ERROR, scope=Scope.READ_PARTITION, check=check, depends_on_others=True)
