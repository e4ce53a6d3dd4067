"""Log dirs that are made at random, to be damaged: `made`, with larger segments and more producers than real ones."""

import struct
from pathlib import Path
from random import Random

from kcheck.formats.offset_index import OFFSET_INDEX_ENTRY
from kcheck.formats.producer_snapshot import ProducerSnapshot, serialize
from kcheck.formats.time_index import TIME_INDEX_ENTRY
from kcheck.model.names import META_PROPERTIES, PARTITION_METADATA
from tests.builders import Made, batch_of, log_dir, partition_dir, partition_metadata, record, write
from tests.oracle.jars import numbers

PRODUCER_IDS = (*range(0, 144, 16), *range(1000, 5000, 1000), 1 << 32, (1 << 33) + 7, *range(200, 220))
"""Many of them share a bucket of a hash table."""
TIME = 1_700_000_000_000


def made(random: Random, folder: Path, release: str) -> tuple[tuple[Path, ...], dict[str, object]]:
    """Make a log dir of one or two partitions, with larger segments and indexes than the brokers' ones have."""
    names = random.sample(("a-0", "b.c-1", "long_name-12"), random.choice((1, 1, 2)))
    interval = random.choice((1, 300, 1000, 4096))
    points, starts = {}, {}
    for name in names:
        first, segments, epochs = _segments(random)
        path = partition_dir(folder / "data1" / name, segments, epoch_entries=epochs, index_every=None)
        write(path, {PARTITION_METADATA: partition_metadata()})
        for batches in segments:
            _derive(path, batches, interval, empty_snapshot=random.random() < 0.7)
        end = segments[-1][-1].last_offset + 1
        points[name] = random.choice((0, end, end, segments[-1][0].base_offset, random.randint(first, end)))
        if random.random() < 0.4:
            starts[name] = random.choice((first, first + 1, random.randint(first, end)))
    log_dir(
        folder / "data1", clean=random.random() < 0.5, recovery_point=points, high_watermark=points, log_start=starts
    )
    if numbers(release) < (3,):
        write(folder / "data1", {META_PROPERTIES: b"version=0\nbroker.id=1\n"})
    config: dict[str, object] = {"segment.index.bytes": random.choice((1200, 4096, 10 << 20))}
    return (folder / "data1",), config | {"index.interval.bytes": interval}


def _segments(random: Random) -> tuple[int, list[list[Made]], list[tuple[int, int]]]:
    """Return the first offset, the batches of each segment, and the epochs."""
    first = offset = random.choice((0, 0, 100))
    epoch = random.choice((0, 3))
    segments: list[list[Made]] = []
    producers = _Producers(random)
    epochs = [(epoch, offset)]
    for _ in range(random.randint(1, 4)):
        batches = []
        for _ in range(random.choice((1, 3, 20, 60))):
            if random.random() < 0.05:
                epoch += random.choice((1, 2))
                epochs.append((epoch, offset))
            batches.append(producers.batch(offset, epoch))
            offset = batches[-1].last_offset + 1 + (random.random() < 0.02)
        segments.append(batches)
    return first, segments, epochs


class _Producers:
    """Writes batches: plain ones, or those of producers, some of them in transactions."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._ids = random.sample(PRODUCER_IDS, random.choice((0, 1, 3, 8, 20)))
        self._open: list[int] = []
        self._sequences = dict.fromkeys(self._ids, 0)

    def batch(self, offset: int, epoch: int) -> Made:
        """Return the next batch."""
        how: dict[str, int] = {"epoch": epoch, "timestamp": TIME + offset}
        if self._open and self._random.random() < 0.3:
            of = self._open.pop(self._random.randrange(len(self._open)))
            marker = record(key=struct.pack(">hh", 0, self._random.randrange(2)), value=struct.pack(">hi", 0, 0))
            return batch_of(offset, marker, attributes=0x30, producer=(of, 0), **how)
        count = self._random.choice((1, 2, 10))
        records = [record(delta, value=bytes(self._random.choice((5, 40)))) for delta in range(count)]
        if not self._ids:
            return batch_of(offset, *records, **how)
        of = self._random.choice(self._ids)
        if of % 3 == 0 and of not in self._open:
            self._open.append(of)
        sequence = self._sequences[of]
        self._sequences[of] += count
        in_transaction = 0x10 if of in self._open else 0
        return batch_of(offset, *records, attributes=in_transaction, producer=(of, 0), sequence=sequence, **how)


def _derive(path: Path, batches: list[Made], interval: int, *, empty_snapshot: bool) -> None:
    """Write the indexes that a broker has after appending each batch, and a snapshot without producers."""
    base, position, since = batches[0].base_offset, 0, 0
    offsets, times, stamp = b"", b"", 0
    for made in batches:
        if since > interval:
            offsets += OFFSET_INDEX_ENTRY.pack(made.last_offset - base, position)
            times += TIME_INDEX_ENTRY.pack(stamp, made.last_offset - base)
            since = 0
        stamp = TIME + made.base_offset
        position += len(made.data)
        since += len(made.data)
    times += TIME_INDEX_ENTRY.pack(stamp, batches[-1].base_offset - base)
    write(path, {f"{base:020d}.index": offsets, f"{base:020d}.timeindex": times})
    if empty_snapshot and base:
        write(path, {f"{base:020d}.snapshot": serialize(ProducerSnapshot(version=1, producers=()))})
