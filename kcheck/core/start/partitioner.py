"""Partitions that Kafka gives to keys.

Producers: DefaultPartitioner 0.9 to 3.9, BuiltInPartitioner 3.3 to 4.3.1, Utils.murmur2. Coordinators:
GroupMetadataManager.partitionFor and TransactionStateManager.partitionFor 0.9 to 3.9, GroupCoordinatorService 3.6 to
4.3.1.
"""

from collections.abc import Callable, Iterable
from itertools import count as naturals
from itertools import islice

from kcheck.model.java import java_hash
from kcheck.model.names import CONSUMER_OFFSETS, TRANSACTION_STATE

_SEED, _FACTOR, _SHIFT = 0x9747B28C, 0x5BD1E995, 24
_INT, _POSITIVE = 0xFFFFFFFF, 0x7FFFFFFF
_NAME_AT = 4
"""A key of an internal topic begins with its type and the size of a name, of two bytes each."""
_COINCIDENCES = 10**6
"""Keys show another partition if fewer than one of this many logs has such keys by chance."""
_NAMES_MAX = 64
"""Groups or transactional ids to compare."""
COORDINATED = frozenset((CONSUMER_OFFSETS, TRANSACTION_STATE))
"""The topics whose partitions brokers choose. All others get them from producers, which may have their own method."""


def _murmur2(data: bytes) -> int:
    """Return the unsigned 32 bits of Utils.murmur2."""
    value, whole = _SEED ^ len(data), len(data) & ~3
    for at in range(0, whole, 4):
        word = int.from_bytes(data[at : at + 4], "little") * _FACTOR & _INT
        value = (value * _FACTOR & _INT) ^ ((word ^ word >> _SHIFT) * _FACTOR & _INT)
    if whole < len(data):
        value = (value ^ int.from_bytes(data[whole:], "little")) * _FACTOR & _INT
    value = (value ^ value >> 13) * _FACTOR & _INT
    return value ^ value >> 15


def of_producer(key: bytes) -> int:
    """Return the hash of a key; its remainder is the partition."""
    return _murmur2(key) & _POSITIVE


def of_coordinator(key: bytes) -> int | None:
    """Return the hash of a group or transactional id; its remainder is the partition. None if the key has none."""
    name = _name_in(key)
    return None if name is None else _of_name(name)


def _of_name(name: str) -> int:
    return abs(java_hash(name)) & _POSITIVE


def _name_in(key: bytes) -> str | None:
    """Return the group or transactional id in a key; None if the key has none."""
    size = int.from_bytes(key[2:_NAME_AT], "big")
    name = key[_NAME_AT : _NAME_AT + size]
    return name.decode(errors="replace") if len(key) >= _NAME_AT and len(name) == size else None


def homeless(topic: str, keys: Iterable[bytes], own: int, count: int) -> tuple[str, ...]:
    """Return the groups or transactional ids of a log that belong to another of `count` partitions.

    At most 64 names are compared. If a topic gets more partitions, most names belong to another one.
    """
    if topic not in COORDINATED:
        return ()
    names = islice((name for name in map(_name_in, keys) if name is not None), _NAMES_MAX)
    return tuple(sorted(name for name in set(names) if _of_name(name) % count != own))


def partition_of_keys(topic: str, keys: Iterable[bytes], own: int, count: int) -> tuple[int, int] | None:
    """Return the partition of `count` to which these keys belong instead of `own`, and how many were compared.

    None if one belongs to `own`, if they belong to several partitions, or if they are too few. Reads no more keys than
    necessary. One group or transactional id is enough, because brokers choose its partition.
    """
    hashed: Callable[[bytes], int | None] = of_coordinator if topic in COORDINATED else of_producer
    enough = next(number for number in naturals(1) if count**number >= (count - 1) * _COINCIDENCES)
    least, most = (1, _NAMES_MAX) if topic in COORDINATED else (enough, enough)
    other, seen = own, set[int]()
    for key in keys:
        value = hashed(key)
        if value is None or value in seen:
            continue
        place = value % count
        if place == own or (seen and place != other):
            return None
        other = place
        seen.add(value)
        if len(seen) == most:
            break
    return (other, len(seen)) if len(seen) >= least else None
