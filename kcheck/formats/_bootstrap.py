"""What a node of KRaft makes of `bootstrap.checkpoint` at its start.

BootstrapDirectory, BatchFileReader, BootstrapMetadata and MetadataVersion.fromFeatureLevel 3.3 to 4.3.1.
"""

from kcheck.formats import _control_record
from kcheck.formats._record import Record, Unread, read_records
from kcheck.formats.record_batch import CORRUPT, HEADER, MAGIC_AT, body_from, checksum, entry_size, header_of, is_modern
from kcheck.model.parsed import BrokerReads
from kcheck.model.release import Release

_METADATA_VERSION = "metadata.version"
_OF_KRAFT = _control_record.NAMES[2:]
_VERSION_MAX = 2**15 - 1


class _RefusedError(Exception):
    """What ends the start; the message says why."""


def bootstrap_reads(data: bytes, release: Release) -> BrokerReads[None]:
    """Return why no node of KRaft starts with this `bootstrap.checkpoint`, None where it may.

    From 3.3 on it looks for a metadata.version, and at no CRC: what does not match it is read all the same, or refused.
    """
    if not release.reads_bootstrap_checkpoint:
        return BrokerReads(None)
    at, found = 0, False
    while (size := entry_size(data, at, remaining=len(data) - at)) is not None:
        if size == CORRUPT:
            return BrokerReads(None, f"no batch begins at position {at}")
        try:
            found |= _names_version(memoryview(data)[at : at + size], release)
        except _RefusedError as why:
            return BrokerReads(None, f"the batch at position {at}: {why}")
        at += size
    return BrokerReads(None, None if found else f"it names no {_METADATA_VERSION}")


def _names_version(batch: memoryview, release: Release) -> bool:
    """Whether a batch names the metadata.version; one that is as it was written is decoded only for its level."""
    if is_modern(batch[MAGIC_AT]) and len(batch) < HEADER.size:
        raise _RefusedError(f"its {len(batch)} bytes are no header")
    header, found = header_of(batch, total=len(batch)), False
    body = batch[body_from(header.magic) :]
    if not release.refuses_newer_metadata_versions and header.crc == checksum(body, header.magic):
        return _METADATA_VERSION.encode() in bytes(batch)
    if not header.record_count and is_modern(batch[MAGIC_AT]):
        raise _RefusedError("it holds no record")
    for record in read_records(batch):
        if isinstance(record, Unread):
            if not record.passed:
                raise _RefusedError(f"record {record.number} cannot be read: {record.message}")
        elif header.control:
            _look_at_control(record, release)
        else:
            found |= _is_version(record, release)
    return found


def _look_at_control(record: Record, release: Release) -> None:
    said = _control_record.parse(record.key, record.value)
    known = _OF_KRAFT if release.knows_voter_records else _OF_KRAFT[:3]
    if said.problem is not None or said.name not in known:
        raise _RefusedError(said.problem or f"the control record of the type {said.type} does not belong there")


def _is_version(record: Record, release: Release) -> bool:
    """Whether a record names the metadata.version; one that cannot be read, or of an unknown level, ends the start."""
    from kcheck.formats._messages.decode import read_varint  # only where a batch is decoded
    from kcheck.formats._messages.records import decoder

    value, decode = None if record.value is None else bytes(record.value), decoder("metadata")
    said = decode(None, value).value
    assert said is not None
    if value is not None and not said.damaged and 0 < (said.version or 0) <= _VERSION_MAX:
        # A version above the known is read as the newest: the records that stand there have but one.
        at = behind = 0
        for _ in ("frame version", "type", "version"):
            at, behind = behind, (read_varint(value, behind) or (0, 0))[1]
        said = decode(None, value[:at] + b"\0" + value[behind:]).value or said
    if said.data is None:
        raise _RefusedError(f"the record at offset {record.offset}: {said.problem}")
    if said.name != "FeatureLevelRecord" or said.data["name"] != _METADATA_VERSION:
        return False
    level, most = said.data["featureLevel"], release.metadata_version_max
    if most is not None and not (isinstance(level, int) and 0 < level <= most):
        raise _RefusedError(f"{_METADATA_VERSION} has the level {level}, up to {most} is known")
    return True
