"""The order in which Java's and Scala's hash tables iterate over longs, as producers in a snapshot.

Java turns a bucket of more than eight longs into a tree if the table has 64 buckets or more. This module does not.
"""

from collections.abc import Iterable

from kcheck.model.release import HashTable

_INT = (1 << 32) - 1
_SIGN = 1 << 31
_SCALA_FACTOR = 0x9E3775CD
_BUCKET_COUNT_MIN = 16
_TREE_BUCKET_COUNT_MIN = 64
_LIST_SIZE_MAX = 8

Buckets = list[list[int]]


def in_order(keys: Iterable[int], table: HashTable) -> list[int]:
    """Return longs in the iteration order of a table; `keys` are distinct, not negative, in the order of insertion."""
    inserted = list(keys)
    if len(inserted) < 2:
        return inserted
    if table is HashTable.SCALA_2_12:
        return _in_scala_2_12_order(inserted)
    if table is HashTable.SCALA_2_13:
        return _in_scala_2_13_order(inserted)
    return _in_java_order(inserted, in_front=table is HashTable.JAVA_COMPUTED)


def _hash(key: int) -> int:
    return (key ^ key >> 32) & _INT


def _folded(key: int) -> int:
    return _hash(key) ^ _hash(key) >> 16


def _in_java_order(keys: list[int], *, in_front: bool) -> list[int]:
    """Return the order of java.util.HashMap; `in_front`: computeIfAbsent inserts a key first in its bucket."""
    buckets: Buckets = [[] for _ in range(_BUCKET_COUNT_MIN)]
    for count, key in enumerate(keys, 1):
        if in_front and count - 1 > len(buckets) * 3 // 4:
            buckets = _grown(buckets)
        bucket = buckets[_folded(key) & len(buckets) - 1]
        bucket.insert(0 if in_front else len(bucket), key)
        crowded = len(bucket) > _LIST_SIZE_MAX - in_front and len(buckets) < _TREE_BUCKET_COUNT_MIN
        if crowded or (count > len(buckets) * 3 // 4 and not in_front):
            buckets = _grown(buckets)
    return [key for bucket in buckets for key in bucket]


def _grown(buckets: Buckets) -> Buckets:
    grown: Buckets = [[] for _ in range(2 * len(buckets))]
    for key in (key for bucket in buckets for key in bucket):
        grown[_folded(key) & len(grown) - 1].append(key)
    return grown


def _in_scala_2_13_order(keys: list[int]) -> list[int]:
    """Return the order of scala.collection.mutable.HashMap in Scala 2.13: each bucket is sorted by signed hash."""
    bucket_count = _BUCKET_COUNT_MIN
    while len(keys) >= bucket_count * 3 // 4:
        bucket_count *= 2
    return sorted(keys, key=lambda key: (_folded(key) & bucket_count - 1, _folded(key) ^ _SIGN))


def _in_scala_2_12_order(keys: list[int]) -> list[int]:
    """Return the order of scala.collection.mutable.HashMap in Scala 2.11 and 2.12: the last bucket first."""
    buckets: Buckets = [[] for _ in range(_BUCKET_COUNT_MIN)]
    for count, key in enumerate(keys, 1):
        _put(buckets, key)
        if count > len(buckets) * 3 // 4:
            smaller, buckets = buckets, [[] for _ in range(2 * len(buckets))]
            for moved in (moved for bucket in reversed(smaller) for moved in bucket):
                _put(buckets, moved)
    return [key for bucket in reversed(buckets) for key in bucket]


def _put(buckets: Buckets, key: int) -> None:
    mixed = _hash(key) * _SCALA_FACTOR & _INT
    mixed = int.from_bytes(mixed.to_bytes(4, "little"), "big") * _SCALA_FACTOR & _INT
    rotated = (mixed >> 4 | mixed << 28) & _INT
    buckets[rotated * len(buckets) >> 32].insert(0, key)
