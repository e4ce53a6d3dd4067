"""The batch that names the voters of a KRaft quorum, as a leader appends it (KRaftControlRecords, 3.9 to 4.3.1)."""

from base64 import urlsafe_b64decode
from collections.abc import Iterable

from kcheck.model.cluster import Voter
from kcheck.records.batch import CONTROL, HEADER, NO_SEQUENCE, OVERHEAD, body_from, checksum
from kcheck.records.control_record import NAMES
from kcheck.records.new_entries import varint

_MAGIC, _NO_PRODUCER = 2, -1
_NO_TAGS = b"\0"
_KRAFT_VERSIONS = (0, 1)
"""The levels of kraft.version that every release with such records supports."""


def voters_batch(offset: int, epoch: int, timestamp: int, voters: Iterable[Voter]) -> bytes:
    """Return a control batch with one record, KRAFT_VOTERS of version 0."""
    key = bytes(2) + NAMES.index("KRAFT_VOTERS").to_bytes(2, "big")
    rows = [_voter(voter) for voter in voters]
    value = bytes(2) + _count(len(rows)) + b"".join(rows) + _NO_TAGS
    record = bytes(3) + varint(len(key)) + key + varint(len(value)) + value + varint(0)
    records = varint(len(record)) + record
    size = HEADER.size - OVERHEAD.size + len(records)
    fields = (CONTROL, 0, timestamp, timestamp, _NO_PRODUCER, _NO_PRODUCER, NO_SEQUENCE, 1)
    unsealed = HEADER.pack(offset, size, epoch, _MAGIC, 0, *fields) + records
    crc = checksum(memoryview(unsealed)[body_from(_MAGIC) :], _MAGIC)
    return HEADER.pack(offset, size, epoch, _MAGIC, crc, *fields) + records


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
    """Return the size of a compact array or string: an unsigned varint of the size plus one."""
    number, data = number + 1, bytearray()
    while number > 0x7F:
        data.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes((*data, number))
