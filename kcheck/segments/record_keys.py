"""The keys of the newest records of a log."""

from collections.abc import Generator, Iterator, Sequence

from kcheck.model.entries import Batch, Offset
from kcheck.model.names import log_name
from kcheck.model.source import Files, JudgedSource, Source
from kcheck.records.batch import CONTROL
from kcheck.records.record import Record, read_records
from kcheck.segments.batches import Walk, tail_start

_READ_SIZE_MAX = 4 << 20
"""kcheck reads at most this much of a log, before and after decompression of a batch."""
_LAST_SIZE_MAX = 256 << 10
"""A longer segment is read from its last index entry on."""
_NEWEST_MAGIC = 2


def keyed_records(source: Source, batch: Batch, size_max: int) -> Iterator[tuple[bytes, Record]]:
    """Yield the keys of a batch with their records; nothing for a control batch.

    At most `size_max` bytes are read after decompression.
    """
    if not batch.attributes & CONTROL:
        for record in read_records(source.pread(batch.size, batch.position), size_max):
            if isinstance(record, Record) and record.key is not None:
                yield bytes(record.key), record


def newest_keys(files: Files, bases: Sequence[Offset]) -> Generator[bytes, None, None]:
    """Yield the keys of records, segment by segment from the newest one back, up to a corrupt batch.

    A bundle has no records, and so no keys.
    """
    left = _READ_SIZE_MAX
    for base in reversed(bases):
        with files.open(log_name(base)) as source:
            if isinstance(source, JudgedSource):
                return
            for batch in Walk(source):
                left -= batch.size
                if left < 0 or batch.magic > _NEWEST_MAGIC:
                    return
                for key, _ in keyed_records(source, batch, _READ_SIZE_MAX):
                    yield key


def last_live_keys(files: Files, bases: Sequence[Offset]) -> tuple[bytes, ...]:
    """Return the keys at the end of the newest segment with keys, up to a corrupt batch, without deleted keys."""
    for base in reversed(bases):
        with files.open(log_name(base)) as source:
            if isinstance(source, JudgedSource):
                return ()
            position = 0 if source.size <= _LAST_SIZE_MAX else tail_start(files, source, base).position
            live: dict[bytes, bool] = {}
            for batch in Walk(source, position=position):
                if batch.magic <= _NEWEST_MAGIC:
                    for key, record in keyed_records(source, batch, _READ_SIZE_MAX):
                        live[key] = record.value is not None
        if live:
            return tuple(key for key, is_live in live.items() if is_live)
    return ()
