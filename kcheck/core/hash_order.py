"""The order in which hash tables of Java and Scala tell longs that were put into them: producers in a snapshot.

A bucket that Java makes a tree of (more than eight longs, in a table of 64 buckets or more) is taken for a list.
"""

from collections.abc import Iterable

from kcheck.model.release import HashTable

_INT = (1 << 32) - 1
_SIGN = 1 << 31
_SCALA_FACTOR = 0x9E3775CD
_ROOM = 16
_TREE_ROOM_MIN = 64
_LIST_SIZE_MAX = 8

Buckets = list[list[int]]


def in_order(keys: Iterable[int], table: HashTable) -> list[int]:
    """Return different longs, which are not negative, as a table tells them; they come in the order they were put."""
    put = list(keys)
    if len(put) < 2:
        return put
    if table is HashTable.SCALA_2_12:
        return _in_scala_2_12_order(put)
    if table is HashTable.SCALA_2_13:
        return _in_scala_2_13_order(put)
    return _in_java_order(put, in_front=table is HashTable.JAVA_COMPUTED)


def _hash(key: int) -> int:
    return (key ^ key >> 32) & _INT


def _folded(key: int) -> int:
    return _hash(key) ^ _hash(key) >> 16


def _in_java_order(keys: list[int], *, in_front: bool) -> list[int]:
    """Return them as java.util.HashMap does; `in_front`: each by computeIfAbsent, which puts it first in its bucket."""
    buckets: Buckets = [[] for _ in range(_ROOM)]
    for count, key in enumerate(keys, 1):
        if in_front and count - 1 > len(buckets) * 3 // 4:
            buckets = _grown(buckets)
        bucket = buckets[_folded(key) & len(buckets) - 1]
        bucket.insert(0 if in_front else len(bucket), key)
        crowded = len(bucket) > _LIST_SIZE_MAX - in_front and len(buckets) < _TREE_ROOM_MIN
        if crowded or (count > len(buckets) * 3 // 4 and not in_front):
            buckets = _grown(buckets)
    return [key for bucket in buckets for key in bucket]


def _grown(buckets: Buckets) -> Buckets:
    found: Buckets = [[] for _ in range(2 * len(buckets))]
    for key in (key for bucket in buckets for key in bucket):
        found[_folded(key) & len(found) - 1].append(key)
    return found


def _in_scala_2_13_order(keys: list[int]) -> list[int]:
    """Return them as scala.collection.mutable.HashMap of Scala 2.13 does: a bucket is sorted by its signed hashes."""
    room = _ROOM
    while len(keys) >= room * 3 // 4:
        room *= 2
    return sorted(keys, key=lambda key: (_folded(key) & room - 1, _folded(key) ^ _SIGN))


def _in_scala_2_12_order(keys: list[int]) -> list[int]:
    """Return them as scala.collection.mutable.HashMap of Scala 2.11 and 2.12 does: from the last bucket on."""
    buckets: Buckets = [[] for _ in range(_ROOM)]
    for count, key in enumerate(keys, 1):
        _put(buckets, key)
        if count > len(buckets) * 3 // 4:
            before, buckets = buckets, [[] for _ in range(2 * len(buckets))]
            for each in (each for chain in reversed(before) for each in chain):
                _put(buckets, each)
    return [key for chain in reversed(buckets) for key in chain]


def _put(buckets: Buckets, key: int) -> None:
    mixed = _hash(key) * _SCALA_FACTOR & _INT
    mixed = int.from_bytes(mixed.to_bytes(4, "little"), "big") * _SCALA_FACTOR & _INT
    rotated = (mixed >> 4 | mixed << 28) & _INT
    buckets[rotated * len(buckets) >> 32].insert(0, key)
