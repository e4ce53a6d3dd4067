"""The records of `__remote_log_metadata` for a bundle: topics, ids, offsets, epochs, times and sizes.

Batches keep their sizes. Metadata that the plugin of a store has added, such as names of objects, become zeros.
"""

from binascii import a2b_base64
from collections.abc import Callable
from typing import Any

from kcheck.records.batch import CODEC_MASK, HEADER, checksum
from kcheck.records.record import Record, read_records
from kcheck.schemas.records import decoder

_NAME_AT = 3
"""The frame version, the record type and the version have a byte each; the name of the topic follows."""
_TYPES = (0, 1)


def masked_segments(batch: bytes, rename: Callable[[str], str]) -> bytes | None:
    """Return a batch of `__remote_log_metadata`; None if it is compressed or not as brokers write.

    `batch` has magic 2, no control records, and a right CRC, like the result. `rename` gives a topic a name of the same
    size in bytes.
    """
    if int.from_bytes(batch[21:23], "big") & CODEC_MASK:
        return None
    masked = bytearray(batch)
    for record in read_records(batch):
        if not isinstance(record, Record) or record.headers or record.key is not None or record.value is None:
            return None
        value = bytes(record.value)
        kept = _value(value, rename)
        if kept is None or len(kept) != len(value):
            return None
        # The number of headers, one byte, is the last of a record.
        value_at = HEADER.size + record.position + record.size - 1 - len(value)
        masked[value_at : value_at + len(value)] = kept
    masked[17:21] = checksum(memoryview(masked)[21:], 2).to_bytes(4, "big")
    return bytes(masked)


def _value(value: bytes, rename: Callable[[str], str]) -> bytes | None:
    """Return the value of a record with its evidence; None if it is of another type, or has unknown parts."""
    message = decoder("remote-log")(None, value).value
    if message is None or message.data is None or message.type not in _TYPES or message.unknown:
        return None
    fields: Any = message.data
    name = fields["remoteLogSegmentId"]["topicIdPartition"]["name"].encode()
    at = _NAME_AT + (1 if len(name) < 0x7F else 2)
    if value[at : at + len(name)] != name:
        return None
    value = value[:at] + rename(name.decode()).encode() + value[at + len(name) :]
    custom = a2b_base64(fields["customMetadata"] or "")
    if not custom:
        return value
    return value.replace(custom, bytes(len(custom))) if value.count(custom) == 1 else None
