"""Finds the partition of `__remote_log_metadata` that has the records of a partition."""

import struct
from binascii import a2b_base64

_MASK = 0xFFFFFFFF
_SEED, _MULTIPLIER = 0x9747B28C, 0x5BD1E995


def metadata_partition(topic_id: str, partition: int, count: int) -> int | None:
    """Return the number of the metadata partition, of `count`; None for an invalid topic id.

    RemoteLogMetadataTopicPartitioner 3.6 to 4.3.1 hashes the two halves of the id and the partition (Objects.hash). The
    result is Utils.toPositive(Utils.murmur2(hash as 4 bytes)) modulo the count.
    """
    try:
        high, low = struct.unpack(">QQ", a2b_base64(f"{topic_id}==".replace("-", "+").replace("_", "/")))
    except (ValueError, struct.error):
        return None
    number = 1
    for part in (low ^ low >> 32, high ^ high >> 32, partition):
        number = 31 * number + (part & _MASK) & _MASK
    return (_murmur2(number) & 0x7FFFFFFF) % count


def _murmur2(number: int) -> int:
    """Return Kafka's murmur2 of an int as 4 big-endian bytes."""
    word = int.from_bytes(number.to_bytes(4, "big"), "little")
    word = word * _MULTIPLIER & _MASK
    word = (word ^ word >> 24) * _MULTIPLIER & _MASK
    digest = (_SEED ^ 4) * _MULTIPLIER & _MASK ^ word
    digest = (digest ^ digest >> 13) * _MULTIPLIER & _MASK
    return digest ^ digest >> 15
