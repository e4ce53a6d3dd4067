"""Tells whether a KRaft node starts with a given `bootstrap.checkpoint`.

Kafka classes: BootstrapDirectory, BatchFileReader, BootstrapMetadata, MetadataVersion.fromFeatureLevel 3.3 to 4.3.1.
"""

from kcheck.model.parsed import BrokerReads
from kcheck.model.release import Release
from kcheck.records import control_record
from kcheck.records.batch import CORRUPT, HEADER, MAGIC_AT, body_from, checksum, entry_size, header_of, is_modern
from kcheck.records.record import Record, Unread, read_records

_METADATA_VERSION = "metadata.version"
_KRAFT_CONTROLS = control_record.NAMES[2:]
_VERSION_MAX = 2**15 - 1


class _RefusedError(Exception):
    """The node refuses the file and does not start; the message says why."""


def bootstrap_reads(data: bytes, release: Release) -> BrokerReads[None]:
    """Return as `error` why a KRaft node does not start with this `bootstrap.checkpoint`, None if it may start.

    From 3.3 the node looks for a metadata.version record. It verifies no CRC: it reads a corrupt batch anyway, or fails
    on its contents.
    """
    if not release.reads_bootstrap_checkpoint:
        return BrokerReads(None)
    at, has_version = 0, False
    while (size := entry_size(data, at, remaining=len(data) - at)) is not None:
        if size == CORRUPT:
            return BrokerReads(None, f"no valid batch at position {at}")
        try:
            has_version |= _has_version(memoryview(data)[at : at + size], release)
        except _RefusedError as why:
            return BrokerReads(None, f"the batch at position {at}: {why}")
        at += size
    return BrokerReads(None, None if has_version else f"no {_METADATA_VERSION} record")


def _has_version(batch: memoryview, release: Release) -> bool:
    """Return whether a batch has a metadata.version record; from 4.0 an undamaged batch is not decoded."""
    if is_modern(batch[MAGIC_AT]) and len(batch) < HEADER.size:
        raise _RefusedError(f"its {len(batch)} bytes are too few for a header")
    header, has_version = header_of(batch, total=len(batch)), False
    if not release.refuses_newer_metadata_versions and header.crc == checksum(
        batch[body_from(header.magic) :], header.magic
    ):
        return _METADATA_VERSION.encode() in bytes(batch)
    if not header.record_count and is_modern(batch[MAGIC_AT]):
        raise _RefusedError("it has no records")
    for record in read_records(batch):
        if isinstance(record, Unread):
            if not record.passed:
                raise _RefusedError(f"record {record.number} is unreadable: {record.message}")
        elif header.control:
            _check_control(record, release)
        else:
            has_version |= _is_version(record, release)
    return has_version


def _check_control(record: Record, release: Release) -> None:
    """Raise if a control record is unreadable or of an unexpected type."""
    control = control_record.parse(record.key, record.value)
    expected = _KRAFT_CONTROLS if release.knows_voter_records else _KRAFT_CONTROLS[:3]
    if control.problem is not None or control.name not in expected:
        raise _RefusedError(control.problem or f"unexpected control record of type {control.type}")


def _is_version(record: Record, release: Release) -> bool:
    """Return whether this is a metadata.version record; raise if it is unreadable or its level is unknown."""
    from kcheck.schemas.decode import read_varint  # only where a batch is decoded
    from kcheck.schemas.records import decoder

    value, decode = None if record.value is None else bytes(record.value), decoder("metadata")
    message = decode(None, value).value
    assert message is not None
    if value is not None and not message.damaged and 0 < (message.version or 0) <= _VERSION_MAX:
        # The node reads an unknown version as the newest one, and these records have only version 0.
        start = end = 0
        for _ in ("frame version", "type", "version"):
            start, end = end, (read_varint(value, end) or (0, 0))[1]
        message = decode(None, value[:start] + b"\0" + value[end:]).value or message
    if message.data is None:
        raise _RefusedError(f"the record at offset {record.offset}: {message.problem}")
    if message.name != "FeatureLevelRecord" or message.data["name"] != _METADATA_VERSION:
        return False
    level, most = message.data["featureLevel"], release.metadata_version_max
    if most is not None and not (isinstance(level, int) and 0 < level <= most):
        raise _RefusedError(f"{_METADATA_VERSION} has unknown level {level}, the highest known one is {most}")
    return True
