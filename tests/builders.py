"""Small log dirs made byte by byte, as brokers lay them out: batches, indexes, checkpoints, whole directories."""

import os
import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastcrc import crc32

from kcheck.formats.offset_index import OFFSET_INDEX_ENTRY
from kcheck.formats.time_index import TIME_INDEX_ENTRY
from kcheck.model.names import LEADER_EPOCHS, META_PROPERTIES, RECOVERY_POINT, segment_prefix
from kcheck.model.source import SHORT_SIZE_MAX, BytesSource, DirectoryEntries, Filled, Source
from kcheck.model.unreadable import UnreadableCause, UnreadableError
from kcheck.records.batch import HEADER, LEGACY, OVERHEAD, TIMESTAMP

HEADER_SIZE = HEADER.size
FIRST_TIMESTAMP = 1_700_000_000_000

Offsets = Mapping[str, int]
"""What an offset checkpoint says: `topic-partition` to offset."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A batch that was made: its bytes, and what its header says."""

    data: bytes
    base_offset: int
    last_offset: int


def batch(
    base_offset: int,
    count: int = 1,
    *,
    epoch: int = 0,
    last_offset: int | None = None,
    payload: bytes = b"",
    timestamp: int = FIRST_TIMESTAMP,
    magic: int = 2,
    attributes: int = 0,
    producer: tuple[int, int] = (-1, -1),
    sequence: int = -1,
    max_timestamp: int | None = None,
) -> Made:
    """Return a batch of magic 2 with the right CRC-32C; `last_offset` where compaction left gaps.

    The payload stands where the records would: nothing here looks into them.
    """
    highest = timestamp + count if max_timestamp is None else max_timestamp
    last = base_offset + count - 1 if last_offset is None else last_offset
    size = HEADER.size - OVERHEAD.size + len(payload)
    after_crc = struct.pack(">hiqqqhii", attributes, last - base_offset, timestamp, highest, *producer, sequence, count)
    crc = crc32.iscsi(after_crc + payload)
    head = struct.pack(">qiibI", base_offset, size, epoch, magic, crc)
    return Made(data=head + after_crc + payload, base_offset=base_offset, last_offset=last)


def varint(number: int) -> bytes:
    """Return a number as records hold it: zigzag, seven bits a byte (ByteUtils.writeVarlong)."""
    raw = number << 1 if number >= 0 else ~number << 1 | 1
    data = b""
    while raw > 127:
        data += bytes([raw & 127 | 128])
        raw >>= 7
    return data + bytes([raw])


def sized(part: bytes | None) -> bytes:
    """Return bytes with their size before them, -1 for null."""
    return varint(-1) if part is None else varint(len(part)) + part


def record(
    offset_delta: int = 0,
    timestamp_delta: int = 0,
    *,
    key: bytes | None = None,
    value: bytes | None = b"value",
    headers: Sequence[tuple[bytes, bytes | None]] = (),
) -> bytes:
    """Return a record of magic 2."""
    body = bytes(1) + varint(timestamp_delta) + varint(offset_delta) + sized(key) + sized(value) + varint(len(headers))
    return sized(body + b"".join(sized(name) + sized(content) for name, content in headers))


def batch_of(base_offset: int, *records: bytes, **how: Any) -> Made:
    """Return a batch of these records; the largest timestamp is the first, unless told otherwise."""
    how = {"count": len(records), "max_timestamp": how.get("timestamp", FIRST_TIMESTAMP), **how}
    return batch(base_offset, how.pop("count"), payload=how.pop("payload", b"".join(records)), **how)


def message(offset: int, value: bytes = b"value", *, magic: int = 1, codec: int = 0) -> Made:
    """Return a message of magic 0 or 1, or with a codec the wrapper whose last offset is `offset`."""
    stamp = TIMESTAMP.pack(FIRST_TIMESTAMP) if magic == 1 else b""
    body = struct.pack(">bb", magic, codec) + stamp + struct.pack(">ii", -1, len(value)) + value
    data = LEGACY.pack(offset, 4 + len(body), zlib.crc32(body), magic, codec) + body[2:]
    return Made(data=data, base_offset=offset, last_offset=offset)


def log(batches: Iterable[Made]) -> bytes:
    """Return the bytes of a `.log`."""
    return b"".join(made.data for made in batches)


def run(first: int, last: int, *, epoch: int = 0, count: int = 10, payload: bytes = b"x" * 39) -> list[Made]:
    """Return batches of `count` records that hold the offsets `first` to `last`, all in one epoch; each 100 bytes."""
    return [
        batch(base, min(count, last - base + 1), epoch=epoch, payload=payload) for base in range(first, last + 1, count)
    ]


def readable_run(first: int, last: int, *, epoch: int = 0, value: bytes = b"x") -> list[Made]:
    """Return batches of ten records that can be read, with the offsets `first` to `last`, all in one epoch."""
    records = [record(number, value=value) for number in range(10)]
    return [batch_of(base, *records[: last - base + 1], epoch=epoch) for base in range(first, last + 1, 10)]


def index_of(batches: Sequence[Made], base_offset: int, *, every: int = 1) -> bytes:
    """Return the offset index that a broker has after appending each batch: from the second on, its last offset."""
    data, position = b"", 0
    for number, made in enumerate(batches):
        if number and number % every == 0:
            data += OFFSET_INDEX_ENTRY.pack(made.last_offset - base_offset, position)
        position += len(made.data)
    return data


def index(*entries: tuple[int, int]) -> bytes:
    """Return an offset index of (relative offset, position)."""
    return b"".join(OFFSET_INDEX_ENTRY.pack(*entry) for entry in entries)


def times(*entries: tuple[int, int]) -> bytes:
    """Return a time index of (timestamp, relative offset)."""
    return b"".join(TIME_INDEX_ENTRY.pack(*entry) for entry in entries)


def epochs(*entries: tuple[int, int]) -> bytes:
    """Return a leader-epoch-checkpoint of (epoch, start offset)."""
    return checkpoint(f"{epoch} {start}" for epoch, start in entries)


def offsets(entries: Offsets) -> bytes:
    """Return an offset checkpoint of `topic-partition` to offset."""
    return checkpoint("{} {} {}".format(*name.rpartition("-")[::2], offset) for name, offset in entries.items())


def checkpoint(lines: Iterable[str]) -> bytes:
    """Return a checkpoint with these entry lines."""
    found = list(lines)
    return "\n".join(["0", str(len(found)), *found, ""]).encode("utf-8", "surrogateescape")


def meta_properties(broker_id: int, *, cluster_id: str = "c1uster-AAAAAAAAAAAAAA", version: int = 1) -> bytes:
    """Return meta.properties as a broker writes it, without the comment lines that tell the time."""
    key = "node.id" if version else "broker.id"
    return f"cluster.id={cluster_id}\n{key}={broker_id}\nversion={version}\n".encode()


def partition_metadata(topic_id: str = "MkU3OEVBNTcwNTJENDM2Qg") -> bytes:
    """Return partition.metadata."""
    return f"version: 0\ntopic_id: {topic_id}".encode()


def write(folder: Path, files: Mapping[str, bytes]) -> Path:
    """Write files into a folder, made where it is missing; returns the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder


def partition_dir(
    path: Path,
    segments: Sequence[Sequence[Made]],
    *,
    epoch_entries: Sequence[tuple[int, int]] | None = ((0, 0),),
    index_every: int | None = 1,
    tail: bytes = b"",
    base_offset: int = 0,
) -> Path:
    """Write a partition directory; `tail` stands behind the last batch of the last segment.

    Without `index_every` no segment has an index; an empty segment stands at `base_offset`.
    """
    files: dict[str, bytes] = {}
    for number, batches in enumerate(segments):
        base = batches[0].base_offset if batches else base_offset
        name = segment_prefix(base)
        files[f"{name}.log"] = log(batches) + (tail if number == len(segments) - 1 else b"")
        if index_every is not None:
            files[f"{name}.index"] = index_of(batches, base, every=index_every)
    if epoch_entries is not None:
        files[LEADER_EPOCHS] = epochs(*epoch_entries)
    return write(path, files)


def log_dir(
    path: Path,
    *,
    broker_id: int | None = 1,
    cluster_id: str = "c1uster-AAAAAAAAAAAAAA",
    clean: bool = True,
    **checkpoints: Offsets,
) -> Path:
    """Write the top of a log dir; `recovery_point`, `high_watermark`, `log_start` and `cleaner` say offsets.

    recovery-point-offset-checkpoint is always there, as in every log dir that a broker has used.
    """
    names = {
        "recovery_point": RECOVERY_POINT,
        "high_watermark": "replication-offset-checkpoint",
        "log_start": "log-start-offset-checkpoint",
        "cleaner": "cleaner-offset-checkpoint",
    }
    files = {names[key]: offsets(entries) for key, entries in {"recovery_point": {}, **checkpoints}.items()}
    if broker_id is not None:
        files[META_PROPERTIES] = meta_properties(broker_id, cluster_id=cluster_id)
    if clean:
        files[".kafka_cleanshutdown"] = b'{"version":0,"brokerEpoch":7}'
    return write(path, files)


def broker(
    path: Path,
    batches: Sequence[Made],
    *,
    broker_id: int = 1,
    partition: str = "t-0",
    epoch_entries: Sequence[tuple[int, int]] = ((0, 0),),
    high_watermark: int | None = None,
    recovery_point: int | None = None,
    clean: bool = True,
    tail: bytes = b"",
) -> Path:
    """Write a log dir with one partition of one segment; its checkpoints name the log end unless told otherwise."""
    end = batches[-1].last_offset + 1 if batches else 0
    mark = end if high_watermark is None else high_watermark
    point = end if recovery_point is None else recovery_point
    log_dir(
        path,
        broker_id=broker_id,
        clean=clean,
        recovery_point={partition: point},
        high_watermark={partition: mark},
        log_start={},
    )
    partition_dir(path / partition, [batches], epoch_entries=epoch_entries, tail=tail)
    write(path / partition, {"partition.metadata": partition_metadata()})
    return path


def flip_byte(path: Path, position: int) -> None:
    """Turn every bit of one byte, so that damage is always damage; a negative position counts from the end."""
    path.write_bytes(flipped(path.read_bytes(), position))


def flipped(data: bytes, position: int) -> bytes:
    """Return the bytes with every bit of one of them turned, as `flip_byte`."""
    changed = bytearray(data)
    changed[position] ^= 0xFF
    return bytes(changed)


def fingerprint(folder: Path) -> dict[str, tuple[int, ...]]:
    """Return what must stay as it is: every name below a folder with mode, size, and times in nanoseconds."""
    found: dict[str, tuple[int, ...]] = {}
    for path in sorted([folder, *folder.rglob("*")]):
        status = os.lstat(path)
        times = (status.st_atime_ns, status.st_mtime_ns, status.st_ctime_ns)
        found[str(path.relative_to(folder))] = (status.st_ino, status.st_mode, status.st_size, *times)
    return found


class BytesFiles:
    """A directory in memory."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._files = files

    def entries(self) -> DirectoryEntries:
        """Return the names as `Files.entries`."""
        return DirectoryEntries({name: len(data) for name, data in self._files.items()})

    @contextmanager
    def open(self, name: str) -> Iterator[Source]:
        """Open a file as `Files.open`."""
        yield BytesSource(self._bytes(name))

    def read_short(self, name: str) -> bytes | None:
        """Return a file as `Files.read_short`."""
        data = self._bytes(name)
        return data if len(data) <= SHORT_SIZE_MAX else None

    def read_filled(self, name: str) -> Filled:
        """Return a file as `Files.read_filled`."""
        data = self._bytes(name)
        return Filled(data, len(data))

    def read_whole(self, name: str) -> bytes:
        """Return a file as `Files.read_whole`."""
        return self._bytes(name)

    def readable_size(self, name: str) -> int:
        """Return a size as `Files.readable_size`."""
        return len(self._bytes(name))

    def _bytes(self, name: str) -> bytes:
        if name not in self._files:
            raise UnreadableError("No such file or directory", UnreadableCause.MISSING)
        return self._files[name]
