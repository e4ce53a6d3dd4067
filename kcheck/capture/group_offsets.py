"""Committed offsets for a bundle, with group, topic, partition, offset, epoch and times, and nothing else.

Batches keep their sizes. Metadata of a commit is `x`, and of all other records only the type is left.
"""

from collections.abc import Callable
from typing import Any

from kcheck.capture.metadata import replaced
from kcheck.core.replication.group_offsets import COMMIT_TYPES, TYPE_SIZE
from kcheck.records.batch import CODEC_MASK, HEADER, checksum
from kcheck.records.record import Record, read_records
from kcheck.schemas.records import decoder

NewNames = tuple[Callable[[str], str], Callable[[str], str]]
"""The function that gives a group, and a topic, a name of the same size in bytes."""
_NULL_SIZE, _NUMBER_SIZE = 1, 4
_VARINT_BITS = 7


def masked_commits(batch: bytes, names: NewNames) -> bytes | None:
    """Return a batch of `__consumer_offsets` with its evidence; None if it is compressed or not as coordinators write.

    `batch` has magic 2, no control records, and a right CRC, like the result.
    """
    if int.from_bytes(batch[21:23], "big") & CODEC_MASK:
        return None
    masked = bytearray(batch)
    for record in read_records(batch):
        if not isinstance(record, Record) or record.headers or record.key is None:
            return None
        key, value = bytes(record.key), None if record.value is None else bytes(record.value)
        parts = _commit(key, value, names) if key.startswith(COMMIT_TYPES) else _type_alone(key, value)
        if parts is None:
            return None
        # The number of headers, one byte, is the last of a record.
        value_at = HEADER.size + record.position + record.size - 1 - len(value or b"")
        key_at = value_at - (_NULL_SIZE if value is None else _varint_size(len(value))) - len(key)
        masked[key_at : key_at + len(key)] = parts[0]
        masked[value_at : value_at + len(value or b"")] = parts[1]
    masked[17:21] = checksum(memoryview(masked)[21:], 2).to_bytes(4, "big")
    return bytes(masked)


def _commit(key: bytes, value: bytes | None, names: NewNames) -> tuple[bytes, bytes] | None:
    """Return the masked key and value of a commit, of the same sizes; None if it cannot be decoded."""
    messages = decoder("offsets")(key, value)
    if not _is_whole(messages.key) or not (value is None or _is_whole(messages.value)):
        return None
    assert messages.key is not None
    fields: Any = messages.key.data
    texts = [rename(fields[name]).encode() for name, rename in zip(("group", "topic"), names, strict=True)]
    new_key = key[:TYPE_SIZE] + b"".join(len(text).to_bytes(2, "big") + text for text in texts) + key[-_NUMBER_SIZE:]
    new_value = b""
    if value is not None:
        assert messages.value is not None
        fields = messages.value.data
        metadata = fields["metadata"]
        new_value = replaced(value, metadata, "x" * len(metadata.encode())) if metadata else value
        if new_value == value and metadata.strip("x"):
            return None
    return (new_key, new_value) if len(new_key) == len(key) else None


def _is_whole(message: Any) -> bool:
    """Return whether a message was decoded, and is nothing else next to its known fields."""
    return message is not None and message.data is not None and not message.left and not message.unknown


def _type_alone(key: bytes, value: bytes | None) -> tuple[bytes, bytes]:
    """Return a record of which only the type is left."""
    return key[:TYPE_SIZE].ljust(len(key), b"\0"), bytes(len(value or b""))


def _varint_size(size: int) -> int:
    """Return how many bytes a size takes as a zigzag varint."""
    return max((2 * size).bit_length() + _VARINT_BITS - 1, _VARINT_BITS) // _VARINT_BITS
