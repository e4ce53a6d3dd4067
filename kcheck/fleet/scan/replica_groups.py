"""Groups the replicas of a fleet by partition, in bounded memory, by merging sorted runs on a disk."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from math import prod
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from kcheck.disk.output import create, discard, make_directory, read_again
from kcheck.disk.paths import join
from kcheck.fleet.scan.arrow_take import Flags, Numbers, joined, taken, taken_in_parts
from kcheck.fleet.scan.replicas import FIELDS, KEY, OF_TOPIC

if TYPE_CHECKING:
    import pyarrow as pa

_HELD_SIZE = 8 << 20
"""Bytes of replicas that are held until they are sorted and written as a run."""
_HELD_COUNT = 64
"""Number of batches in memory before they are joined, as small batches take much more memory."""
_RUN_COUNT = 16
"""Number of runs of a level that are merged into one of the next. At most so many of each are read at once."""
_READ_COUNT = 2048
"""Rows of a sorted run that are read at a time."""
_GROUP_COUNT = 8192
"""Partitions in a batch."""
_SHARED = ("cluster", "topic", "broker", "log_dir")
"""Texts that are written once, not with each replica."""

GroupKey = tuple[bool, str, str, int]
"""Cluster, topic and partition in their order. Rows without cluster come first. Complete topics use partition 0."""
TopicKey = tuple[str | None, str]
"""Cluster and topic."""


class Groups:
    """Replicas that are put together. A context: the folder for its runs is removed again."""

    def __init__(self, folder: str, fields: Sequence[str] = FIELDS) -> None:
        """Take the columns next to KEY that the replicas have."""
        self._folder = folder
        self._fields = fields
        self._held: list[pa.RecordBatch] = []
        self._held_size = 0
        self._runs: list[_SortedFile] = []
        self._run_count = 0

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(self, *_: object) -> None:
        """Remove what was written."""
        if self._runs:
            discard(self._folder)

    def add(self, batch: "pa.RecordBatch") -> None:
        """Take replicas: KEY of `fleet/scan/replicas.py` and the fields."""
        if batch.num_rows:
            self._held.append(_encoded(batch))
            self._held_size += self._held[-1].get_total_buffer_size()
            if len(self._held) == _HELD_COUNT:
                self._held = [joined(self._held)]
            if self._held_size >= _HELD_SIZE:
                self._spill()

    def batches(self) -> "Iterator[pa.RecordBatch]":
        """Yield the partitions, as `fleet/scan/comparison.py` takes them, sorted by cluster, topic and number."""
        if not self._runs:
            yield from _merged([_SortedReplicas(self._sorted())] if self._held else [], self._fields)
            return
        if self._held:
            self._spill()
        # What a partition needs of its topic is counted first: so only one partition has to fit into memory.
        of_topics = self._brokers_of_topics()
        runs = [_SortedReplicas(_with_count(part, of_topics) for part in _read(run.path)) for run in self._runs]
        yield from _merged(runs, self._fields)

    def _brokers_of_topics(self) -> dict[TopicKey, int]:
        """Return on how many brokers a partition of each topic is, at most."""
        counts: dict[TopicKey, int] = {}
        for replicas in _by_partition(self._runs, (*KEY, "broker_id")):
            topics, begins, brokers = _partitions(replicas)
            for at, count in zip(begins, _largest(topics[begins], brokers), strict=True):
                key = _topic(replicas, int(at))
                counts[key] = max(counts.get(key, 0), int(count))
        return counts

    def _sorted(self) -> "Iterator[pa.RecordBatch]":
        """Yield what is held, sorted, in parts."""
        replicas = joined(self._held)
        self._held, self._held_size = [], 0
        yield from map(_narrowed, taken_in_parts(replicas, _order(replicas), _READ_COUNT))

    def _spill(self) -> None:
        if not self._runs:
            make_directory(self._folder)
        self._write(0, self._sorted())
        while len(self._runs) >= _RUN_COUNT and (level := self._runs[-1].level) == self._runs[-_RUN_COUNT].level:
            last, self._runs = self._runs[-_RUN_COUNT:], self._runs[:-_RUN_COUNT]
            self._write(level + 1, _merged_parts(last))
            for run in last:
                discard(run.path)

    def _write(self, level: int, parts: "Iterator[pa.RecordBatch]") -> None:
        """Write a run of sorted replicas; older runs have a level that is not smaller."""
        import pyarrow as pa

        path = join(self._folder, f"{self._run_count}.arrow")
        packed = pa.ipc.IpcWriteOptions(compression="lz4", use_threads=False)
        first = next(parts)
        with create(path) as stream, pa.ipc.new_stream(stream, first.schema, options=packed) as writer:
            for part in chain((first,), parts):
                writer.write_batch(part)
        self._runs.append(_SortedFile(level, path))
        self._run_count += 1


class _SortedFile(NamedTuple):
    """A file of sorted replicas. One of a higher level was merged from _RUN_COUNT of the level below."""

    level: int
    path: str


def _read(path: str) -> "Iterator[pa.RecordBatch]":
    import pyarrow as pa

    alone = pa.ipc.IpcReadOptions(use_threads=False)  # A part is too small for several threads.
    with read_again(path) as stream, pa.ipc.open_stream(stream, options=alone) as reader:
        yield from reader


def _by_partition(runs: Sequence[_SortedFile], names: Sequence[str] | None = None) -> "Iterator[pa.RecordBatch]":
    """Yield the replicas of runs, sorted, these columns of them and OF_TOPIC; a topic need not fit into memory."""
    parts = ((part.select(names or part.schema.names) for part in _read(run.path)) for run in runs)
    return _in_order([_SortedReplicas(_with_count(part, {}) for part in of_run) for of_run in parts])


def _merged_parts(runs: Sequence[_SortedFile]) -> "Iterator[pa.RecordBatch]":
    """Yield the replicas of runs, sorted, in parts that know of no other texts than theirs."""
    import pyarrow as pa

    for replicas in _by_partition(runs):
        for at in range(0, replicas.num_rows, _READ_COUNT):
            part = replicas.slice(at, _READ_COUNT)
            names = [name for name in part.schema.names if name != OF_TOPIC]
            texts = {name: part.column(name).dictionary_decode() for name in _SHARED}
            yield _encoded(pa.record_batch({name: texts.get(name, part.column(name)) for name in names}))


class _SortedReplicas:
    """Sorted replicas, read part by part, and taken by topic, or by partition if they have OF_TOPIC."""

    def __init__(self, parts: "Iterator[pa.RecordBatch]") -> None:
        self._parts = parts
        self._part = next(parts, None)
        self._at = 0

    @property
    def is_over(self) -> bool:
        """True if all of it was taken."""
        return self._part is None

    def reaches(self) -> GroupKey:
        """Return the last topic, or partition, in the part that was read."""
        assert self._part is not None
        return _key(self._part, self._part.num_rows - 1)

    def take(self, upto: GroupKey) -> "Iterator[pa.RecordBatch]":
        """Yield what belongs to topics, or partitions, up to this one."""
        while self._part is not None:
            part = self._part
            end = bisect_right(range(part.num_rows), upto, lo=self._at, key=lambda row: _key(part, row))
            if end > self._at:
                yield part.slice(self._at, end - self._at)
            self._at = end
            if end < part.num_rows:
                return
            self._part, self._at = next(self._parts, None), 0


def grouped(batches: "Iterable[pa.RecordBatch]") -> "Iterator[pa.RecordBatch]":
    """Yield the partitions of replicas that are sorted: KEY and FIELDS, as `Groups` takes them.

    With OF_TOPIC topics need not be complete, and only one partition has to fit into memory.
    """
    return _merged([_SortedReplicas(_encoded(batch) for batch in batches if batch.num_rows)], FIELDS)


def _key(batch: "pa.RecordBatch", row: int) -> GroupKey:
    cluster = batch.column("cluster")[row].as_py()
    partition = batch.column("partition")[row].as_py() if OF_TOPIC in batch.schema.names else 0
    return cluster is not None, cluster or "", batch.column("topic")[row].as_py(), partition


def _merged(runs: Sequence[_SortedReplicas], names: Sequence[str]) -> "Iterator[pa.RecordBatch]":
    for replicas in _in_order(runs):
        yield from _grouped(replicas, names)


def _in_order(runs: Sequence[_SortedReplicas]) -> "Iterator[pa.RecordBatch]":
    """Yield the replicas of all runs, sorted."""
    is_sorted = len(runs) == 1
    while runs := [run for run in runs if not run.is_over]:
        upto = min(run.reaches() for run in runs)
        replicas = joined([part for run in runs for part in run.take(upto)])
        yield replicas if is_sorted else taken(replicas, _order(replicas))


def _topic(batch: "pa.RecordBatch", row: int) -> TopicKey:
    return batch.column("cluster")[row].as_py(), batch.column("topic")[row].as_py()


def _with_count(part: "pa.RecordBatch", of_topics: Mapping[TopicKey, int]) -> "pa.RecordBatch":
    """Return sorted replicas with OF_TOPIC; 0 where it is not known yet."""
    import pyarrow as pa

    begins = np.flatnonzero(_changes(_topics(part)))
    counts = [of_topics.get(_topic(part, int(at)), 0) for at in begins]
    column = np.repeat(counts, np.diff(np.append(begins, part.num_rows)))
    return part.append_column(OF_TOPIC, pa.array(column, pa.int64()))


def _encoded(batch: "pa.RecordBatch") -> "pa.RecordBatch":
    """Return replicas with each of the texts that many of them share written once."""
    import pyarrow as pa

    texts = {name: batch.column(name).dictionary_encode() for name in _SHARED}
    return pa.record_batch({name: texts.get(name, batch.column(name)) for name in batch.schema.names})


def _narrowed(batch: "pa.RecordBatch") -> "pa.RecordBatch":
    """Return sorted replicas that know of no other topics than theirs."""
    import pyarrow as pa

    at = batch.schema.get_field_index("topic")
    indices = batch.column(at).indices
    begins = _changes(indices.to_numpy())
    own = batch.column(at).dictionary.take(indices.filter(pa.array(begins)))
    return batch.set_column(
        at, "topic", pa.DictionaryArray.from_arrays(pa.array(np.cumsum(begins) - 1, pa.int32()), own)
    )


def _order(batch: "pa.RecordBatch") -> Numbers:
    """Return the order of sorted replicas; equal ones stay in their order."""
    keys = [_topics(batch), *(batch.column(name).to_numpy(zero_copy_only=False) for name in ("partition", "broker_id"))]
    keys = [key - key.min() for key in keys]
    widths = [int(key.max()) + 1 for key in keys]
    if prod(widths) > np.iinfo(np.int64).max:
        order: Numbers = np.lexsort(keys[::-1])
        return order
    # Sorting by one number goes along what is sorted already.
    topic, partition, broker = keys
    return np.argsort((topic * widths[1] + partition) * widths[2] + broker, kind="stable")


def _topics(batch: "pa.RecordBatch") -> Numbers:
    """Return the number of the topic of each replica, in their order."""
    clusters, topics = batch.column("cluster"), batch.column("topic")
    return _ranks(clusters) * len(topics.dictionary) + _ranks(topics)


def _ranks(texts: "pa.DictionaryArray") -> Numbers:
    """Return the number of each text in their order; -1 for null."""
    from pyarrow import compute

    ranks = np.full(len(texts.dictionary) + 1, -1)
    ranks[compute.array_sort_indices(texts.dictionary).to_numpy()] = np.arange(len(texts.dictionary))
    numbers = texts.indices.fill_null(-1) if texts.null_count else texts.indices
    ranked: Numbers = ranks.take(numbers.to_numpy())
    return ranked


def _grouped(replicas: "pa.RecordBatch", names: Sequence[str]) -> "Iterator[pa.RecordBatch]":
    """Yield partitions; replicas are sorted, and of complete topics unless they have OF_TOPIC."""
    import pyarrow as pa

    topic, begins, brokers = _partitions(replicas)
    has_count = OF_TOPIC in replicas.schema.names
    of_topic = replicas.column(OF_TOPIC).to_numpy()[begins] if has_count else _largest(topic[begins], brokers)
    offsets = np.append(begins, replicas.num_rows)
    keys = replicas.select(KEY).take(pa.array(begins))
    fields = [replicas.schema.field(name) for name in names]
    structs = pa.StructArray.from_arrays([replicas.column(name) for name in names], fields=fields)
    groups = pa.RecordBatch.from_arrays(
        [*keys.columns, pa.array(of_topic), pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), structs)],
        names=[*KEY, OF_TOPIC, "replicas"],
    )
    for at in range(0, groups.num_rows, _GROUP_COUNT):
        yield groups.slice(at, _GROUP_COUNT)


def _partitions(replicas: "pa.RecordBatch") -> tuple[Numbers, Numbers, Numbers]:
    """Return the topics of sorted replicas, where their partitions begin, and on how many brokers each of these is."""
    topic = _topics(replicas)
    begin = _changes(topic) | _changes(replicas.column("partition").to_numpy())
    begins: Numbers = np.flatnonzero(begin)
    brokers = begin | _changes(replicas.column("broker_id").to_numpy(zero_copy_only=False))
    return topic, begins, np.add.reduceat(brokers, begins, dtype=np.int64)


def _changes(values: Numbers) -> Flags:
    """Return which values differ from the value before them."""
    changed = np.ones(len(values), bool)
    changed[1:] = values[1:] != values[:-1]
    return changed


def _largest(topic: Numbers, count: Numbers) -> Numbers:
    """Return for each partition the largest count of its topic."""
    begins = np.flatnonzero(_changes(topic))
    largest: Numbers = np.repeat(np.maximum.reduceat(count, begins), np.diff(np.append(begins, len(topic))))
    return largest
