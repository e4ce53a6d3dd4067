"""Encodes batches of a KRaft log as its leader appends them, and snapshots as a node writes them.

Kafka classes: BatchBuilder, KafkaRaftClient, RecordsSnapshotWriter, KRaftControlRecords 3.3 to 4.3.1.
"""

from base64 import urlsafe_b64decode
from collections.abc import Iterable, Sequence

from kcheck.model.cluster import Voter
from kcheck.model.java import unsigned_varint
from kcheck.records.batch import CONTROL, HEADER, NO_SEQUENCE, OVERHEAD, body_from, checksum
from kcheck.records.control_record import NAMES
from kcheck.records.new_entries import varint

_MAGIC, _NO_PRODUCER, _NULL = 2, -1, -1
_NO_TAGS = b"\0"
_KRAFT_VERSIONS = (0, 1)
"""The levels of kraft.version that every release with these records supports."""
_DYNAMIC = 1
"""The level of kraft.version that lets the log name the voters."""
_BATCH_COUNT_MAX = 500
"""The records in one batch of a snapshot."""

KeyedValue = tuple[bytes | None, bytes]
"""The key of a record, None without one, and its value."""


def raft_batch(
    offset: int, epoch: int, timestamp: int, entries: Sequence[KeyedValue], *, control: bool = False
) -> bytes:
    """Return one batch of these records."""
    records = b"".join(_record(delta, *entry) for delta, entry in enumerate(entries))
    size = HEADER.size - OVERHEAD.size + len(records)
    attributes = CONTROL if control else 0
    of_producer = (_NO_PRODUCER, _NO_PRODUCER, NO_SEQUENCE)
    fields = (attributes, len(entries) - 1, timestamp, timestamp, *of_producer, len(entries))
    unsealed = HEADER.pack(offset, size, epoch, _MAGIC, 0, *fields) + records
    crc = checksum(memoryview(unsealed)[body_from(_MAGIC) :], _MAGIC)
    return HEADER.pack(offset, size, epoch, _MAGIC, crc, *fields) + records


def _record(delta: int, key: bytes | None, value: bytes) -> bytes:
    of_key = varint(_NULL) if key is None else varint(len(key)) + key
    body = bytes(2) + varint(delta) + of_key + varint(len(value)) + value + varint(0)
    return varint(len(body)) + body


def voters_batch(offset: int, epoch: int, timestamp: int, voters: Iterable[Voter]) -> bytes:
    """Return a control batch with one record, KRAFT_VOTERS of version 0 (3.9 to 4.3.1)."""
    return raft_batch(offset, epoch, timestamp, [_voters(voters)], control=True)


def snapshot(values: Sequence[bytes], epoch: int, timestamp: int, voters: Sequence[Voter] = ()) -> bytes:
    """Return a snapshot of records without keys; with `voters` it names them, else the configuration does."""
    header = [_control("SNAPSHOT_HEADER", bytes(2) + timestamp.to_bytes(8, "big"))]
    if voters:
        header += [_control("KRAFT_VERSION", bytes(2) + _DYNAMIC.to_bytes(2, "big")), _voters(voters)]
    batches = [raft_batch(0, epoch, timestamp, header, control=True)]
    end = len(header)
    for start in range(0, len(values), _BATCH_COUNT_MAX):
        part = [(None, value) for value in values[start : start + _BATCH_COUNT_MAX]]
        batches.append(raft_batch(end, epoch, timestamp, part))
        end += len(part)
    batches.append(raft_batch(end, epoch, timestamp, [_control("SNAPSHOT_FOOTER", bytes(2))], control=True))
    return b"".join(batches)


def _control(name: str, fields: bytes) -> KeyedValue:
    """Return a control record of version 0, from its fields but the tags at their end."""
    return bytes(2) + NAMES.index(name).to_bytes(2, "big"), fields + _NO_TAGS


def _voters(voters: Iterable[Voter]) -> KeyedValue:
    rows = [_voter(voter) for voter in voters]
    return _control("KRAFT_VOTERS", bytes(2) + _count(len(rows)) + b"".join(rows))


def _voter(voter: Voter) -> bytes:
    endpoints = [_endpoint(listener) for listener in voter.endpoints]
    versions = b"".join(level.to_bytes(2, "big") for level in _KRAFT_VERSIONS) + _NO_TAGS
    directory = urlsafe_b64decode(f"{voter.directory_id}==")
    where = _count(len(endpoints)) + b"".join(endpoints)
    return voter.voter_id.to_bytes(4, "big") + directory + where + versions + _NO_TAGS


def _endpoint(listener: str) -> bytes:
    name, _, place = listener.partition("://")
    host, _, port = place.rpartition(":")
    return _text(name) + _text(host) + int(port).to_bytes(2, "big") + _NO_TAGS


def _text(text: str) -> bytes:
    data = text.encode()
    return _count(len(data)) + data


def _count(number: int) -> bytes:
    """Return the size of a compact array or string."""
    return unsigned_varint(number + 1)
