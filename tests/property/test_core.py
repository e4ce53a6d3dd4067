"""Properties of every epoch cache, and of every two logs that share a prefix."""

from collections.abc import Sequence
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcheck.core.releases.releases import TABLE, release
from kcheck.core.replication.dialogue import Dialogue, Leader, Replica, Status
from kcheck.core.replication.leader_epochs import (
    around,
    assign,
    assign_to,
    end_offset_for,
    epoch_for_offset,
    load,
    read_lines,
    rise,
    truncate_from_end,
    truncate_from_start,
    unsorted,
)
from kcheck.core.replication.lineage import EpochRange, Fork, fork, lineage_of_batches, lineage_of_cache, ranges
from kcheck.core.replication.truncation import elected, plan_truncation
from kcheck.model.entries import Batch, EpochEntries, EpochEntry
from kcheck.model.release import Assign, EpochLoad, Lookup, Release
from tests import strategies
from tests.property import reference_epochs as reference
from tests.strategies import EPOCH_OF_THE_ELECTION, Histories, complete_cache

RELEASES = [release(row.last) for row in TABLE]
REPLAYING = [chosen for chosen in RELEASES if chosen.epoch_load in (EpochLoad.E2, EpochLoad.E3, EpochLoad.E4)]
P3, P4, P5, P5_280 = release("2.6.0"), release("2.7"), release("4.3"), release("2.8.0")
NUMBERS = st.integers(-2, 42)


def _pairs(cache: EpochEntries) -> reference.Entries:
    return [(entry.epoch, entry.start_offset) for entry in cache]


@given(cache=strategies.caches(), requested=NUMBERS, log_end=NUMBERS, lookup=st.sampled_from(Lookup))
def test_an_end_offset_is_found_as_by_parting_the_cache(
    cache: EpochEntries, requested: int, log_end: int, lookup: Lookup
) -> None:
    found = end_offset_for(cache, requested, log_end_offset=log_end, lookup=lookup)
    assert reference.end_offset_for(_pairs(cache), requested, log_end, lookup) == (found.epoch, found.end_offset)


@given(cache=strategies.caches().filter(rise), requested=NUMBERS, log_end=NUMBERS, lookup=st.sampled_from(Lookup))
def test_the_entries_around_an_epoch_decide_about_its_end(
    cache: EpochEntries, requested: int, log_end: int, lookup: Lookup
) -> None:
    """The few entries that decide about an epoch give the answer of the cache."""
    found = around(cache, requested)
    assert len(found) <= 4
    assert end_offset_for(cache, requested, log_end_offset=log_end, lookup=lookup) == end_offset_for(
        found, requested, log_end_offset=log_end, lookup=lookup
    )
    assert [*found[-1:]] == [*cache[-1:]]


@given(cache=strategies.caches(), epoch=NUMBERS, start=NUMBERS, how=st.sampled_from(Assign))
def test_an_epoch_is_assigned_as_entry_by_entry(cache: EpochEntries, epoch: int, start: int, how: Assign) -> None:
    expected = reference.assign(_pairs(cache), epoch, start, how)
    if expected is None:
        with pytest.raises(ValueError, match="epoch"):
            assign(cache, epoch, start, how=how)
    else:
        assert expected == _pairs(assign(cache, epoch, start, how=how))


@given(cache=strategies.caches(), found=st.lists(st.tuples(NUMBERS, NUMBERS), max_size=12), how=st.sampled_from(Assign))
def test_many_epochs_are_assigned_as_one_by_one(cache: EpochEntries, found: list[tuple[int, int]], how: Assign) -> None:
    """Assigning in place equals assigning to copies, also for files whose entries do not rise."""
    entries, loose = [*cache], unsorted(cache, how)
    for epoch, start in found:
        with suppress(ValueError):
            loose = assign_to(entries, EpochEntry(epoch, start), how=how, unsorted=loose)
        with suppress(ValueError):
            cache = assign(cache, epoch, start, how=how)
        assert _pairs(cache) == _pairs(tuple(entries))


@given(cache=strategies.caches(), offset=NUMBERS, how=st.sampled_from(Assign))
def test_a_cache_is_cut_as_entry_by_entry(cache: EpochEntries, offset: int, how: Assign) -> None:
    assert reference.truncate_from_end(_pairs(cache), offset) == _pairs(truncate_from_end(cache, offset))
    twin = reference.clear_earliest if how is Assign.IGNORE else reference.truncate_from_start
    assert twin(_pairs(cache), offset) == _pairs(truncate_from_start(cache, offset, how=how))


@given(both=strategies.histories(), requested=st.integers(-1, EPOCH_OF_THE_ELECTION))
def test_a_complete_cache_answers_for_the_records(both: Histories, requested: int) -> None:
    """An epoch ends where the records of the next larger one begin."""
    log = both.leader
    found = end_offset_for(complete_cache(log), requested, log_end_offset=len(log), lookup=Lookup.L3)
    expected = reference.end_of_epoch(log, requested) if requested >= 0 else (-1, -1)
    assert expected == (found.epoch, found.end_offset)
    for offset, epoch in enumerate(log):
        assert epoch_for_offset(complete_cache(log), offset) == epoch


@given(both=strategies.histories(), offset=st.integers(0, 40))
def test_a_cache_is_cut_as_its_log_is(both: Histories, offset: int) -> None:
    """A truncated complete cache is the complete cache of the truncated log."""
    log = both.leader
    assert truncate_from_end(complete_cache(log), offset) == complete_cache(log[:offset])
    if offset < len(log):
        left = tuple(EpochEntry(e.epoch, e.start_offset + offset) for e in complete_cache(log[offset:]))
        for how in Assign:
            assert truncate_from_start(complete_cache(log), offset, how=how) == left


@given(cache=strategies.caches(), epoch=st.integers(0, 42), start=st.integers(0, 42))
def test_both_ways_of_removing_agree_on_a_rising_cache(cache: EpochEntries, epoch: int, start: int) -> None:
    """2.7 removes entries from the end; 2.0.1 searched them all."""
    rising = read_lines([entry for entry in cache if entry.epoch >= 0 and entry.start_offset >= 0], P5)
    assert assign(rising, epoch, start, how=Assign.FILTER) == assign(rising, epoch, start, how=Assign.POP)


@given(
    cache=strategies.caches(), log_start=st.integers(0, 42), size=st.integers(1, 42), chosen=st.sampled_from(RELEASES)
)
def test_a_loaded_cache_is_loaded_again_as_it_is(
    cache: EpochEntries, log_start: int, size: int, chosen: Release
) -> None:
    """A second restart changes nothing if there are records; from 2.7 the cache rises and lies within the log.

    Before, lines that fall stay as they are, and a cut at the end looks at the last of them alone.
    """
    lines = [entry for entry in cache if entry.epoch >= 0 and entry.start_offset >= 0]
    if chosen not in REPLAYING:
        lines.sort(key=lambda entry: entry.start_offset)
    log_end = log_start + size

    def loaded(entries: EpochEntries) -> EpochEntries:
        return load(
            entries, log_end_offset=log_end, log_start_checkpoint=log_start, first_segment=log_start, release=chosen
        )

    once = loaded(tuple(lines))
    assert loaded(once) == once
    if chosen in REPLAYING:
        assert list(once) == sorted(once, key=lambda entry: entry.start_offset)
        assert len({entry.epoch for entry in once}) == len({entry.start_offset for entry in once}) == len(once)
        assert all(log_start <= entry.start_offset < max(log_end, log_start + 1) for entry in once)


def _plan(both: Histories, caches: tuple[EpochEntries, EpochEntries], mark: int, chosen: Release) -> Dialogue:
    follower, log = caches
    leader = elected(Leader(cache=log, log_end_offset=len(both.leader)), EPOCH_OF_THE_ELECTION, release=chosen)
    replica = Replica(cache=follower, log_end_offset=len(both.follower), high_watermark=mark)
    return plan_truncation(replica, leader, release=chosen)


def _cut_count(found: Dialogue) -> int:
    return sum(getattr(step, "truncate_to", None) is not None for step in found.steps)


@given(both=strategies.histories(), mark=st.integers(0, 30), chosen=st.sampled_from([P3, P4, P5, P5_280]))
def test_complete_caches_lead_to_the_fork(both: Histories, mark: int, chosen: Release) -> None:
    """From 2.0.1 exactly there, with at most one truncation for each entry of the follower, and a complete cache."""
    caches = complete_cache(both.follower), complete_cache(both.leader)
    found = _plan(both, caches, min(mark, both.fork), chosen)
    assert (found.after.log_end_offset, found.status) == (both.fork, Status.OK)
    assert found.after.cache == complete_cache(both.follower[: both.fork])
    assert _cut_count(found) <= max(len(caches[0]), 1)


@st.composite
def with_silent_elections(draw: st.DrawFn) -> tuple[Histories, tuple[EpochEntries, EpochEntries]]:
    """Return two logs and their caches; each cache may end with an epoch without records."""
    both = draw(strategies.histories())
    taken = {*both.follower, *both.leader}
    caches = []
    for log in (both.follower, both.leader):
        cache = complete_cache(log)
        free = [epoch for epoch in range(max(log, default=-1) + 1, EPOCH_OF_THE_ELECTION) if epoch not in taken]
        if free and draw(st.booleans()):
            epoch = draw(st.sampled_from(free))
            taken.add(epoch)
            cache = (*cache, EpochEntry(epoch, len(log)))
        caches.append(cache)
    return both, (caches[0], caches[1])


@given(case=with_silent_elections(), mark=st.integers(0, 30))
def test_asking_and_fetching_end_at_the_same_offset(
    case: tuple[Histories, tuple[EpochEntries, EpochEntries]], mark: int
) -> None:
    """Truncation on fetch reaches the same end, also after an election without records."""
    both, caches = case
    asked, fetched = (_plan(both, caches, min(mark, both.fork), chosen) for chosen in (P4, P5))
    assert (asked.after.log_end_offset, asked.status) == (fetched.after.log_end_offset, fetched.status)
    assert fetched.status is Status.OK
    assert max(_cut_count(asked), _cut_count(fetched)) <= max(len(caches[0]), 1)
    assert not caches[0] or fetched.after.log_end_offset == both.fork


@given(both=strategies.histories(), mark=st.integers(0, 30), chosen=st.sampled_from(RELEASES))
def test_every_dialogue_ends(both: Histories, mark: int, chosen: Release) -> None:
    """No release extends the follower's log; the ranges kept, lost and fetched again lie within it."""
    caches = complete_cache(both.follower), complete_cache(both.leader)
    before = len(both.follower)
    found = _plan(both, caches, min(mark, before), chosen)
    after = found.after.log_end_offset
    assert 0 <= after <= before
    assert found.status in (Status.OK, Status.NEVER_COMPLETES)
    where = _fork_of_caches(both)
    cost = ranges(where, log_start_offset=0, before=before, after=after)
    assert cost.certain
    offsets = [set(range(*part)) if part else set() for part in (cost.kept_divergent, cost.lost, cost.refetched)]
    assert offsets == [
        set(range(both.fork, after)),
        set(range(max(after, both.fork), before)),
        set(range(after, both.fork)),
    ]


def _fork_of_caches(both: Histories) -> Fork:
    lineages = [
        lineage_of_cache(complete_cache(log), log_start_offset=0, log_end_offset=len(log))
        for log in (both.follower, both.leader)
    ]
    return fork(*lineages, a_end=len(both.follower), b_end=len(both.leader))


def _batches(draw: st.DrawFn, log: Sequence[int]) -> list[Batch]:
    """Return the log as batches of one epoch each."""
    found: list[Batch] = []
    base = 0
    for offset, epoch in enumerate(log):
        if offset + 1 == len(log) or log[offset + 1] != epoch or draw(st.booleans()):
            found.append(Batch(100 * base, 100, 2, base, offset, epoch, offset - base + 1, None, 0, 0))
            base = offset + 1
    return found


@given(both=strategies.histories(), data=st.data())
def test_caches_and_batches_tell_the_same_fork(both: Histories, data: st.DataObject) -> None:
    """The first offset where the epochs of the records differ, however they are batched."""
    differ = both.fork if both.fork < min(len(both.follower), len(both.leader)) else None
    assert _fork_of_caches(both) == Fork(both.fork, differ)
    lineages = [lineage_of_batches(_batches(data.draw, log)) for log in (both.follower, both.leader)]
    assert fork(*lineages, a_end=len(both.follower), b_end=len(both.leader)) == Fork(both.fork, differ)


@given(both=strategies.histories(), lost=st.integers(0, 8))
def test_entries_that_are_missing_never_give_a_wrong_fork(both: Histories, lost: int) -> None:
    """A cache without its first entries leaves the start open; the fork is then unknown."""
    caches = complete_cache(both.follower)[lost:], complete_cache(both.leader)
    ours, theirs = (
        lineage_of_cache(cache, log_start_offset=0, log_end_offset=len(log))
        for cache, log in zip(caches, (both.follower, both.leader), strict=True)
    )
    found = fork(ours, theirs, a_end=len(both.follower), b_end=len(both.leader))
    assert found.common_prefix in (both.fork, None)
    assert found.first_difference is None or found.first_difference >= both.fork
    assert all(isinstance(run, EpochRange) and run.start < run.end for run in (*ours, *theirs))
