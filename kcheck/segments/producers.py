"""The producers of a log across segments (ProducerStateManager, ProducerAppendInfo 0.11 to 4.3.1).

`kcheck.segments.producer_tracking` reads each segment by itself, so that processes can share them.
"""

from collections import Counter

from kcheck.model.entries import Offset
from kcheck.model.producers import FaultySequence, Range, Seen, SequenceFault
from kcheck.model.segments import FAULT_COUNT_MAX

PRODUCER_COUNT_MAX = 50_000
"""At most this many producers are followed at a time."""

CUT_COUNT_MAX = 16
"""Number of last snapshots within one segment that are checked, as a broker leaves one or two there."""

SEQUENCES = 1 << 31
"""Sequence numbers continue at 0 after 2^31 - 1 (DefaultRecordBatch.incrementSequence)."""
FAR = 1 << 62
"""Above every offset and every row."""


class SequenceFaults:
    """The first faults of sequence numbers, and how many there are."""

    def __init__(self) -> None:
        """Start with none."""
        self.kept: list[FaultySequence] = []
        self.counts: Counter[SequenceFault] = Counter()

    def take(self, faulty: FaultySequence) -> None:
        """Count one more."""
        self.counts[faulty.fault] += 1
        if self.counts[faulty.fault] <= FAULT_COUNT_MAX:
            self.kept.append(faulty)


def check_sequence(
    producer_id: int,
    epoch: int,
    batch: tuple[int, int],
    before: tuple[int, int],
    solid_from: int,
    faults: SequenceFaults,
) -> None:
    """Check that a batch (first offset, first sequence) continues the one before (last offset, last sequence).

    A sequence of 0 is not checked. Group coordinators always write 0, and old producers restart at 0 when records are
    deleted.
    """
    further = (batch[1] - before[1]) % SEQUENCES
    if batch[1] <= 0 or before[1] < 0 or further == 1:
        return
    fault = SequenceFault.GAP if 1 < further < SEQUENCES // 2 else SequenceFault.REPEATED
    if fault is SequenceFault.REPEATED or solid_from <= before[0] + 1:
        faults.take(FaultySequence(fault, producer_id, epoch, Offset(batch[0]), batch[1], Offset(before[0]), before[1]))


def join_ranges(a: Range, b: Range, faults: SequenceFaults) -> Range:
    """Return two ranges as one; `b` follows `a`."""
    goes_on = a.end_offset == b.first_offset
    producers = dict(a.producers)
    for producer_id, after in b.producers.items():
        before = producers.get(producer_id)
        producers[producer_id] = after if before is None else _after(before, after)
        if before is not None and before.last_offset >= 0 and before.last_epoch == after.first_epoch:
            solid = a.solid_from if goes_on and after.solid_from == b.first_offset else after.solid_from
            batch = after.first_offset, after.first_sequence
            check_sequence(
                producer_id, after.first_epoch, batch, (before.last_offset, before.last_sequence), solid, faults
            )  # fmt: skip
    solid = a.solid_from if goes_on and b.solid_from == b.first_offset else b.solid_from
    return Range(a.first_offset, b.end_offset, solid, producers)


def _after(before: Seen, after: Seen) -> Seen:
    """Return the state of a producer over both ranges."""
    if after.first_offset < 0:
        data = before[1:8]
    else:
        data = (*(before if before.first_offset >= 0 else after)[1:5], *after[5:8])
    epoch = after.epoch if after.epoch >= 0 else before.epoch
    offsets = max(before.control_offset, after.control_offset), max(before.ended_offset, after.ended_offset)
    still_open = before.open_from if after.control_offset < 0 <= before.open_from else after.open_from
    return Seen(epoch, *data, *offsets, still_open)
