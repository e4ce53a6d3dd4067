"""Finds segments that retention takes for old: their time index ends in zeros or in an entry out of order."""

from collections.abc import Iterable, Iterator
from itertools import pairwise

from kcheck.core.premises.facts import MisdatedRecords
from kcheck.core.start.predictions import LoadedLog, LogDirPrediction, PartitionPrediction
from kcheck.core.start.startup import Outcome
from kcheck.disk.paths import join
from kcheck.formats.time_index import TIME_INDEX_ENTRY
from kcheck.model.entries import Offset
from kcheck.model.names import TopicPartition, log_name, segment_prefix
from kcheck.model.source import Files
from kcheck.model.unreadable import UnreadableError
from kcheck.segments.batches import Walk
from kcheck.views.targets import Target


def misdated_records(starts: Iterable[tuple[Target, LogDirPrediction]]) -> Iterator[MisdatedRecords]:
    """Yield the records of segments that the last entry of their time index dates before them.

    In a store nothing is looked at: each look is a request.
    """
    for target, start in starts:
        if target.tree.is_remote and not target.tree.is_bundle:
            continue
        for row in start.partitions:
            log = row.replica_log
            if log is None or row.outcome in (Outcome.STRAY, Outcome.DELETED):
                continue
            try:
                with target.tree.directory(join(target.path, row.dir)) as files:
                    yield from _of_log(files, start.path, row, log)
            except UnreadableError:
                continue  # It is a finding of its own.


def _of_log(files: Files, log_dir: str, row: PartitionPrediction, log: LoadedLog) -> Iterator[MisdatedRecords]:
    """Yield the records of each run of such segments."""
    partition, run = TopicPartition(row.directory.topic, row.directory.partition), None
    for base, following in pairwise((*log.bases, log.log_end_offset)):
        dated = _dated(files, row, Offset(base)) if base < following else None
        if dated is None:
            if run is not None:
                yield run
            run = None
        elif run is None:
            start = max(Offset(base), log.log_start_offset)
            run = MisdatedRecords(partition, log_dir, start, Offset(following), dated, base == log.bases[0])
        else:
            run = run._replace(end=Offset(following), timestamp=max(dated, run.timestamp))
    if run is not None:
        yield run


def _dated(files: Files, row: PartitionPrediction, base: Offset) -> int | None:
    """Return the timestamp that a time index gives its segment, if it is older than the records; else None.

    Only its last two slots are read, and batches up to the first newer one if these are out of order or zeros. A
    negative timestamp counts as none: then the time of the `.log` decides (LogSegment.largestTimestamp).
    """
    name = segment_prefix(base) + ".timeindex"
    after = row.after.get(name)
    if after is not None and after.file is None:
        return None  # The start rebuilds it.
    try:
        with files.open(name) as index:
            count = index.size // TIME_INDEX_ENTRY.size
            kept = min(count, 2) * TIME_INDEX_ENTRY.size
            slots = index.pread(kept, count * TIME_INDEX_ENTRY.size - kept)
        if len(slots) < kept:
            return None  # The file became shorter.
        times = [entry[0] for entry in TIME_INDEX_ENTRY.iter_unpack(slots)]
        if not times or times[-1] < 0 or (times[-1] > 0 and times[-1] >= times[0]):
            return None
        with files.open(log_name(base)) as source:
            newer = times[0] > times[-1] or any((batch.max_timestamp or 0) > times[-1] for batch in Walk(source))
    except UnreadableError:
        return None
    return times[-1] if newer else None
