"""The producers of a log, gone over from segment to segment (ProducerStateManager, ProducerAppendInfo 0.11 to 4.3.1).

Each segment is followed by itself, in `kcheck.segments.producer_tracking`, so that segments can be read side by side.
"""

from collections import Counter

from kcheck.model.entries import Offset
from kcheck.model.producers import FaultySequence, Range, Seen, SequenceFault
from kcheck.model.segments import FAULT_COUNT_MAX

PRODUCER_COUNT_MAX = 50_000
"""So many producers are followed at a time."""

CUT_COUNT_MAX = 16
"""So many snapshots inside of one segment are held against it, the last ones: a broker leaves one or two there."""

SEQUENCES = 1 << 31
"""Sequence numbers begin again at 0 behind 2^31 - 1 (DefaultRecordBatch.incrementSequence)."""
FAR = 1 << 62
"""Above every offset and every row."""


class Faults:
    """The faults of sequences: a few of them, and how many there are."""

    def __init__(self) -> None:
        """Begin with none."""
        self.kept: list[FaultySequence] = []
        self.counts: Counter[SequenceFault] = Counter()

    def take(self, faulty: FaultySequence) -> None:
        """Count one more."""
        self.counts[faulty.fault] += 1
        if self.counts[faulty.fault] <= FAULT_COUNT_MAX:
            self.kept.append(faulty)


def compare(
    producer_id: int, epoch: int, batch: tuple[int, int], before: tuple[int, int], solid_from: int, faults: Faults
) -> None:
    """Tell how the sequences of a batch go on: (first offset, first sequence) after (last offset, last sequence).

    A sequence of 0 is none: group coordinators write no other, and old producers began again when records were deleted.
    """
    further = (batch[1] - before[1]) % SEQUENCES
    if batch[1] <= 0 or before[1] < 0 or further == 1:
        return
    fault = SequenceFault.GAP if 1 < further < SEQUENCES // 2 else SequenceFault.REPEATED
    if fault is SequenceFault.REPEATED or solid_from <= before[0] + 1:
        faults.take(FaultySequence(fault, producer_id, epoch, Offset(batch[0]), batch[1], Offset(before[0]), before[1]))


def joined(a: Range, b: Range, faults: Faults) -> Range:
    """Return two ranges as one, b behind a."""
    goes_on = a.end_offset == b.first_offset
    producers = dict(a.producers)
    for producer_id, after in b.producers.items():
        before = producers.get(producer_id)
        producers[producer_id] = after if before is None else _after(before, after)
        if before is not None and before.last_offset >= 0 and before.last_epoch == after.first_epoch:
            solid = a.solid_from if goes_on and after.solid_from == b.first_offset else after.solid_from
            batch = after.first_offset, after.first_sequence
            compare(
                producer_id, after.first_epoch, batch, (before.last_offset, before.last_sequence), solid, faults
            )  # fmt: skip
    solid = a.solid_from if goes_on and b.solid_from == b.first_offset else b.solid_from
    return Range(a.first_offset, b.end_offset, solid, producers)


def _after(before: Seen, after: Seen) -> Seen:
    """Return a producer with what it did next."""
    if after.first_offset < 0:
        data = before[1:8]
    else:
        data = (*(before if before.first_offset >= 0 else after)[1:5], *after[5:8])
    epoch = after.epoch if after.epoch >= 0 else before.epoch
    offsets = max(before.control_offset, after.control_offset), max(before.ended_offset, after.ended_offset)
    still_open = before.open_from if after.control_offset < 0 <= before.open_from else after.open_from
    return Seen(epoch, *data, *offsets, still_open)
