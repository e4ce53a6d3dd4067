"""Finds metadata.version of nodes and of the cluster in bytes of a KRaft log or snapshot, by a search.

Kafka classes: RegisterBrokerRecord, RegisterControllerRecord, FeatureLevelRecord 3.3 to 4.3.1. An idle controller
writes two batches a second, and few of a million have a registration. A search for the name of the feature skips all
others. This module is not public, because no file has this format.
"""

from collections.abc import Iterator
from typing import NamedTuple

from kcheck.records.batch import HEADER, MAGIC_AT, OVERHEAD, body_from, checksum, header_of
from kcheck.records.record import Record, read_records

FEATURE = b"\x11metadata.version"
"""The name as the records hold it, after its size plus one."""
_MAGIC = 2
_NO_PRODUCER = b"\xff" * 14
"""The producer id, its epoch and its first sequence in the header of every batch of the log: -1."""
_NO_PRODUCER_AT = 43
_REGISTER_BROKER, _FEATURE_LEVEL, _REGISTER_CONTROLLER = 0, 12, 27
_AFTER_FRAME = 3
"""The size of frame version, type and version, a byte each in these records."""
_BATCHES_MAX = 512
"""Maximum number of decoded batches. The newest registrations of a cluster are in its last ones."""


class Features(NamedTuple):
    """The metadata.version in a record."""

    node_id: int | None
    """The node that registered; None for the level of the cluster."""
    lowest: int
    """The lowest level that the node knows."""
    highest: int
    """The highest one; both are the level of the cluster."""


def features(data: bytes) -> Iterator[Features]:
    """Yield the features in intact batches of `data`, from the last batch and record to the first.

    `data` may begin and end inside of a batch.
    """
    end = len(data)
    for _ in range(_BATCHES_MAX):
        hit = data.rfind(FEATURE, 0, end)
        if hit < 0:
            return
        batch = _batch_around(data, hit)
        end = hit if batch is None else batch
        if batch is not None:
            size = OVERHEAD.size + OVERHEAD.unpack_from(data, batch)[1]
            records = [record for record in read_records(data[batch : batch + size]) if isinstance(record, Record)]
            yield from (said for record in reversed(records) if (said := _said(bytes(record.value or b""))))


def _batch_around(data: bytes, at: int) -> int | None:
    """Return the position of the intact batch of magic 2 that contains the byte `at`; None without one."""
    start = data.rfind(_NO_PRODUCER, 0, at) - _NO_PRODUCER_AT
    if start < 0 or data[start + MAGIC_AT] != _MAGIC or start + HEADER.size > at:
        return None
    end = start + OVERHEAD.size + OVERHEAD.unpack_from(data, start)[1]
    if not at < end <= len(data):
        return None
    crc = header_of(data[start:end], total=end - start).crc
    return start if crc == checksum(data[start + body_from(_MAGIC) : end], _MAGIC) else None


def _said(value: bytes) -> Features | None:
    """Return the metadata.version in a record; None if it names none."""
    name, kind = value.find(FEATURE), value[1:2]
    if name < 0:
        return None
    first, second = (
        int.from_bytes(value[at : at + 2], "big", signed=True)
        for at in (name + len(FEATURE), name + len(FEATURE) + 2)
    )  # fmt: skip
    if kind == bytes([_FEATURE_LEVEL]) and name == _AFTER_FRAME:
        return Features(None, first, first)
    if kind in (bytes([_REGISTER_BROKER]), bytes([_REGISTER_CONTROLLER])):
        return Features(int.from_bytes(value[_AFTER_FRAME : _AFTER_FRAME + 4], "big", signed=True), first, second)
    return None
