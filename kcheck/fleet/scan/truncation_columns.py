"""Truncation of many partitions at once, as columns; `truncation` and `lineage` of core/replication/ decide one.

It holds for followers that fetch with their last epoch (profile P5), and for caches whose epochs and offsets rise.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

NONE = -1
"""No offset."""
_NEVER = np.iinfo(np.int64).max


class Caches(NamedTuple):
    """Leader epoch caches: `size` entries of each from `begin` on. Those of one `content` are equal."""

    epoch: Numbers
    start: Numbers
    begin: Numbers
    size: Numbers
    content: Numbers


class ReplicaColumns(NamedTuple):
    """ReplicaColumns by partition, and by broker id in it: `group` is the partition, `first` its first replica."""

    caches: Caches
    log_start: Numbers
    log_end: Numbers
    high_watermark: Numbers
    first_segment: Numbers
    group: Numbers
    first: Numbers


class Pairs(NamedTuple):
    """Each replica as leader, and each other one of its partition as follower; `block` is where those of one begin.

    Both are numbers of replicas.
    """

    leader: Numbers
    follower: Numbers
    block: Numbers


class Forks(NamedTuple):
    """Where the logs of pairs diverge (`core.replication.lineage.Fork`); NONE for None. `shared`: the common end.

    Where that is not known, `shared` is up to where they do not contradict each other.
    """

    common_prefix: Numbers
    first_difference: Numbers
    shared: Numbers


class Afterwards(NamedTuple):
    """The logs of followers after their dialogues; `completes` is false where one goes on for ever."""

    log_end: Numbers
    first_segment: Numbers
    completes: Flags


def rising(caches: Caches) -> Flags:
    """Return which caches rise in both columns, from 0 on."""
    bad = (caches.epoch < 0) | (caches.start < 0)
    falls = (np.diff(caches.epoch) <= 0) | (np.diff(caches.start) <= 0)
    begins = np.zeros(len(bad) + 1, bool)
    begins[caches.begin] = True
    bad[1:] |= falls & ~begins[1:-1]
    count = np.concatenate(([0], np.cumsum(bad)))
    rises: Flags = count[caches.begin + caches.size] == count[caches.begin]
    return rises


def pairs_of(replicas: ReplicaColumns, counts: Numbers) -> Pairs:
    """Return the pairs; `counts` are the replicas of the partition of each replica."""
    every = np.arange(len(counts))
    size = counts - 1
    block = np.cumsum(size) - size
    leader = np.repeat(every, size)
    follower = replicas.first[leader] + np.arange(len(leader)) - block[leader]
    return Pairs(leader, follower + (follower >= leader), block)


def pair_of(replicas: ReplicaColumns, pairs: Pairs, leader: Numbers, follower: Numbers) -> Numbers:
    """Return the numbers of pairs."""
    pair: Numbers = pairs.block[leader] + follower - replicas.first[leader] - (follower > leader)
    return pair


def forks_of(replicas: ReplicaColumns, pairs: Pairs) -> Forks:
    """Return where the logs of each pair part."""
    one, other = pairs.leader, pairs.follower
    begin = np.maximum(replicas.log_start[one], replicas.log_start[other])
    end = np.minimum(replicas.log_end[one], replicas.log_end[other])
    overlap = begin < end
    content = replicas.caches.content
    half = np.flatnonzero((one < other) & overlap & (content[one] != content[other]))
    difference = np.full(len(one), NONE)
    difference[half] = _differences(replicas.caches, one[half], other[half], begin[half], end[half])
    # The other half is the same the other way round.
    difference[pair_of(replicas, pairs, other[half], one[half])] = difference[half]
    known_from = np.full(len(replicas.group), _NEVER)
    filled = replicas.caches.size > 0
    known_from[filled] = replicas.caches.start[replicas.caches.begin[filled]]
    known = ~overlap | (begin >= np.maximum(known_from[one], known_from[other]))
    lineage = np.minimum(replicas.log_start, replicas.log_end)
    meet = np.maximum(lineage[one], lineage[other]) <= end
    prefix = np.where(difference >= 0, difference, np.where(meet, end, NONE))
    prefix = np.where(known, prefix, NONE)
    apart = np.where(overlap, end, replicas.log_start[one])
    shared = np.where(prefix >= 0, prefix, np.where(difference >= 0, difference, apart))
    return Forks(prefix, difference, shared)


def _differences(caches: Caches, one: Numbers, other: Numbers, begin: Numbers, end: Numbers) -> Numbers:
    """Return the first offset in `[begin, end)` of which both caches know the epoch, and not the same; NONE."""
    alike = _alike(caches, one, other)
    at_one, at_other = (_start(caches, replica, alike) for replica in (one, other))
    nearer, farther = np.minimum(at_one, at_other), np.maximum(at_one, at_other)
    difference = np.maximum(nearer, begin)
    # After the entries that both have, only one goes on. Two empty caches do not differ.
    decided = (alike > 0) & ((farther > begin) | ((nearer == farther) & (nearer >= begin)))
    empty = (caches.size[one] == 0) | (caches.size[other] == 0)
    difference[(difference >= end) | empty] = NONE
    rest = np.flatnonzero(~decided & ~empty)
    if len(rest):
        difference[rest] = _by_offsets(caches, one[rest], other[rest], begin[rest], end[rest])
    return difference


def _alike(caches: Caches, one: Numbers, other: Numbers) -> Numbers:
    """Return the number of equal entries at the start of two caches."""
    size = np.minimum(caches.size[one], caches.size[other])
    some = np.flatnonzero(size)
    pair, at = expand(size[some])
    left, right = (caches.begin[replica[some]][pair] + at for replica in (one, other))
    differs = (caches.epoch[left] != caches.epoch[right]) | (caches.start[left] != caches.start[right])
    if len(some):
        begins = np.cumsum(size[some]) - size[some]
        size[some] = np.minimum.reduceat(np.where(differs, at, size[some][pair]), begins)
    return size


def _start(caches: Caches, replica: Numbers, number: Numbers) -> Numbers:
    """Return the start of the entry of that number, NEVER after the last one."""
    there = number < caches.size[replica]
    place = np.where(there, caches.begin[replica] + number, 0)
    return np.where(there, caches.start[place], _NEVER) if len(caches.start) else np.full(len(replica), _NEVER)


def _by_offsets(caches: Caches, one: Numbers, other: Numbers, begin: Numbers, end: Numbers) -> Numbers:
    """As `_differences`: look at each offset at which one of the two goes on."""
    sizes = caches.size[one], caches.size[other]
    count = 1 + sizes[0] + sizes[1]
    pair, at = expand(count)
    first = sizes[0][pair]
    place = np.where(at <= first, caches.begin[one][pair] + at - 1, caches.begin[other][pair] + at - 1 - first)
    offset = np.where(at == 0, begin[pair], caches.start[np.where(at == 0, 0, place)])
    epochs = []
    for replica in (one, other):
        before = count_below(caches.start, caches.begin[replica][pair], caches.size[replica][pair], offset, equal=True)
        known = np.where(before > 0, caches.begin[replica][pair] + before - 1, 0)
        epochs.append(np.where(before > 0, caches.epoch[known], NONE))
    differs = (epochs[0] >= 0) & (epochs[1] >= 0) & (epochs[0] != epochs[1])
    differs &= (offset >= begin[pair]) & (offset < end[pair])
    least = np.minimum.reduceat(np.where(differs, offset, _NEVER), np.cumsum(count) - count)
    return np.where(least == _NEVER, NONE, least)


def expand(sizes: Numbers) -> tuple[Numbers, Numbers]:
    """Return for each item of lists of these sizes the number of its list, and its own in it."""
    owner = np.repeat(np.arange(len(sizes)), sizes)
    return owner, np.arange(len(owner)) - (np.cumsum(sizes) - sizes)[owner]


def count_below(values: Numbers, begin: Numbers, size: Numbers, limit: Numbers, *, equal: bool) -> Numbers:
    """Return how many of `size` rising values from `begin` on are below a limit, or `equal` to it."""
    # Mostly all are: what is asked for is the end of a log.
    last = values[np.minimum(np.maximum(begin + size - 1, 0), len(values) - 1)] if len(values) else begin
    rest = np.flatnonzero((size > 0) & ((last > limit) if equal else (last >= limit)))
    below = size.copy()
    below[rest] = _count_below(values, begin[rest], size[rest], limit[rest], equal=equal)
    return below


def _count_below(values: Numbers, begin: Numbers, size: Numbers, limit: Numbers, *, equal: bool) -> Numbers:
    low, high = begin, begin + size
    for _ in range(int(size.max(initial=0)).bit_length()):
        middle = (low + high) >> 1
        value = values[np.minimum(middle, len(values) - 1)]
        is_below = (low < high) & ((value <= limit) if equal else (value < limit))
        low, high = np.where(is_below, middle + 1, low), np.where(is_below, high, middle)
    return low - begin


def dialogues(replicas: ReplicaColumns, pairs: Pairs) -> Afterwards:
    """Return the log ends that `core.replication.truncation.plan_truncation` leaves to each follower."""
    caches, leader, follower = replicas.caches, pairs.leader, pairs.follower
    logs = _Logs(replicas, follower)
    empty = np.flatnonzero(logs.size == 0)
    logs.truncate(empty, np.minimum(logs.high_watermark[empty], logs.log_end[empty]))
    # A new leader's epoch begins at its log end: entries from there on go.
    own = count_below(caches.start, caches.begin, caches.size, replicas.log_end, equal=False)
    completes = np.ones(len(leader), bool)
    # Who has the epochs of its leader, and no more records than that, stays as it is.
    same = (caches.content[leader] == caches.content[follower]) & (logs.size > 0)
    same &= (own[leader] == caches.size[leader]) & (replicas.log_start[leader] <= logs.log_end)
    active = np.flatnonzero(~(same & (logs.log_end <= replicas.log_end[leader])))
    while len(active):
        one, end = leader[active], logs.log_end[active]
        has_epoch = logs.size[active] > 0
        epoch = _epoch(caches, caches.begin[follower[active]] + logs.size[active] - 1, has_epoch)
        below = count_below(caches.epoch, caches.begin[one], own[one], epoch, equal=True)
        inside = below < own[one]
        end_of_epoch = np.where(inside, _value(caches.start, caches.begin[one] + below, inside), replicas.log_end[one])
        reply = np.where(below > 0, _epoch(caches, caches.begin[one] + below - 1, below > 0), epoch)
        is_there = end >= replicas.log_start[one]
        diverges = has_epoch & is_there & ((reply < epoch) | (end_of_epoch < end))
        fits = is_there & (end <= replicas.log_end[one])
        changed = np.zeros(len(active), bool)
        which = np.flatnonzero(diverges)
        to = logs.own_truncation(active[which], epoch[which], reply[which], end_of_epoch[which])
        changed[which] = logs.truncate(active[which], to)
        above = np.flatnonzero(~diverges & ~fits & (replicas.log_end[one] < end))
        changed[above] = logs.truncate(active[above], replicas.log_end[one[above]])
        behind = np.flatnonzero(~diverges & ~fits & (replicas.log_start[one] > end))
        logs.empty(active[behind], replicas.log_start[one[behind]])
        changed[behind] = True
        asks_again = diverges | ~fits
        completes[active[asks_again & ~changed]] = False
        active = active[asks_again & changed]
    return Afterwards(logs.log_end, logs.first_segment, completes)


def _value(values: Numbers, place: Numbers, there: Flags) -> Numbers:
    return values[np.where(there, place, 0)] if len(values) else place


def _epoch(caches: Caches, place: Numbers, there: Flags) -> Numbers:
    return np.where(there, _value(caches.epoch, place, there), NONE)


class _Logs:
    """The logs of followers while they change: of a cache the first `size` entries are left."""

    def __init__(self, replicas: ReplicaColumns, follower: Numbers) -> None:
        self._caches = replicas.caches
        self._begin = replicas.caches.begin[follower]
        self.size = replicas.caches.size[follower]
        self.log_end = replicas.log_end[follower]
        self.high_watermark = replicas.high_watermark[follower]
        self.first_segment = replicas.first_segment[follower]

    def truncate(self, which: Numbers, to: Numbers) -> Flags:
        """Truncate some, as `Log.truncateTo`; return of which anything changed."""
        end, size = self.log_end[which], self.size[which]
        limit = np.minimum(to, end)
        left = count_below(self._caches.start, self._begin[which], size, limit, equal=False)
        empties = (to < end) & (to < self.first_segment[which])
        self.size[which] = left
        self.log_end[which] = limit
        self.high_watermark[which] = np.minimum(self.high_watermark[which], limit)
        self.empty(which[empties], to[empties])
        changed: Flags = (limit < end) | (left < size)
        return changed

    def empty(self, which: Numbers, offset: Numbers) -> None:
        """Empty some, to begin at an offset (Log.truncateFullyAndStartAt)."""
        self.size[which] = 0
        for column in (self.log_end, self.first_segment, self.high_watermark):
            column[which] = offset

    def own_truncation(self, which: Numbers, epoch: Numbers, reply: Numbers, end: Numbers) -> Numbers:
        """Return where to truncate after a leader's answer (getOffsetTruncationState); `epoch` is the latest one."""
        begin, log_end = self._begin[which], self.log_end[which]
        before = count_below(self._caches.epoch, begin, self.size[which], reply, equal=True)
        matches = reply == epoch
        own_end = np.where(matches, log_end, _value(self._caches.start, begin + before, ~matches))
        own = np.where(before > 0, _epoch(self._caches, begin + before - 1, before > 0), reply)
        return np.minimum(np.where(own == reply, np.minimum(own_end, end), own_end), log_end)
