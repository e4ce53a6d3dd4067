"""Finds the order in which a new controller fences running brokers. It determines which replicas stay in sync.

A controller that starts finds all of them with the same time of contact. Sources: ClusterControlManager.activate,
BrokerHeartbeatManager (3.9 and earlier), BrokerHeartbeatTracker (4.0 and later), TimelineHashMap, ConcurrentHashMap.
"""

from collections.abc import Collection, Iterable, Mapping

from kcheck.core.election.start_order import StartOrder
from kcheck.model.cluster import BrokerRegistration
from kcheck.model.release import Release

_LONG, _INT, _HASH = (1 << 64) - 1, (1 << 32) - 1, (1 << 31) - 1
_GOLDEN = 0x9E3779B97F4A7C15
"""BaseHashTable.findSlot: Knuth's multiplicative hashing."""
_SLOTS_MIN = 2
_BINS_MIN = 16
_TREE_BINS_MIN = 64
_LIST_SIZE_MAX = 8
Bins = list[list[tuple[int, int]]]
"""Hash and broker."""


def fences_alone(fenced: Collection[int], known: Collection[int], release: Release, order: StartOrder) -> bool:
    """Return whether controllers fence several brokers, all of them known, before one starts."""
    is_race = len(fenced) > 1 and release.fences_in_hash_order
    return is_race and {*fenced} <= {*known} and not order.together


def fencing_order(brokers: Mapping[int, BrokerRegistration], release: Release) -> tuple[int, ...]:
    """Return the running brokers of the metadata, in the order in which a new controller fences them.

    `brokers` are in the order of their first registration. Their sessions end at the same time. In 3.9 and earlier the
    order of the registrations in the controller counts. 4.0 and later use the order of a map of ids and epochs. The
    controller fills the map in the order of the registrations.
    """
    running = [number for number in _registrations(brokers) if not brokers[number].fenced]
    if not release.fences_in_hash_order:
        return tuple(running)
    start = 0 if release.hashes_broker_epochs_as_record else 31 * 31
    return _of_map(((start + 31 * number + _folded(brokers[number].epoch or 0)) & _INT, number) for number in running)


def _folded(epoch: int) -> int:
    return (epoch ^ epoch >> 32) & _INT


def _registrations(brokers: Iterable[int]) -> list[int]:
    """Return brokers as TimelineHashMap iterates over them, by slots, and within a slot the last one first.

    A table also grows before a registration is replaced. Every registration is replaced once its broker is unfenced.
    """
    places = {number: -at for at, number in enumerate(brokers)}
    slots = _SLOTS_MIN
    while 3 * (len(places) + 1) > 4 * slots:
        slots *= 2
    shift = 65 - slots.bit_length()
    return sorted(places, key=lambda number: ((number * _GOLDEN & _LONG) >> shift, places[number]))


def _of_map(entries: Iterable[tuple[int, int]]) -> tuple[int, ...]:
    """Return brokers as ConcurrentHashMap iterates over them, inserted with their hash codes one after the other.

    Many brokers in one bin make a small table at least four times as large. kcheck does not model the trees of large
    tables.
    """
    bins: Bins = [[] for _ in range(_BINS_MIN)]
    for count, (code, number) in enumerate(entries, 1):
        spread = (code ^ code >> 16) & _HASH
        chosen = bins[spread & len(bins) - 1]
        chosen.append((spread, number))
        is_crowded = len(chosen) > _LIST_SIZE_MAX and len(bins) < _TREE_BINS_MIN
        wanted = 4 * len(bins) if is_crowded else count + 1
        while 3 * len(bins) < 4 * wanted:
            bins = _grown(bins)
    return tuple(number for entries in bins for _, number in entries)


def _grown(bins: Bins) -> Bins:
    """Return twice as many bins. The last entries that stay together keep their order; earlier entries are reversed."""
    grown: Bins = [[] for _ in range(2 * len(bins))]
    for at, entries in enumerate(bins):
        last = len(entries)
        while last and entries[last - 1][0] & len(bins) == entries[-1][0] & len(bins):
            last -= 1
        for entry in (*reversed(entries[:last]), *entries[last:]):
            grown[at + (entry[0] & len(bins))].append(entry)
    return grown
