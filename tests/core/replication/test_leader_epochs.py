"""LeaderEpochFileCache against recorded vectors."""

from typing import Any

import pytest

from kcheck.core.releases.releases import release
from kcheck.core.replication.leader_epochs import (
    around,
    assign,
    end_offset_for,
    epoch_for_offset,
    latest_epoch,
    load,
    read_lines,
    truncate_from_end,
    truncate_from_start,
)
from kcheck.core.start.segments import loaded_high_watermark
from kcheck.model.entries import EpochEntries, EpochEntry
from kcheck.model.release import Assign, Lookup
from tests.core.replication.vectors import cache, every, name, pairs

_HOW = {"le_2_0_0": (Assign.IGNORE,), "ge_2_0_1": (Assign.FILTER, Assign.POP), "ge_3_5_0": (Assign.POP,)}
_KAFKA = {"le_2_8": ("1.1", "2.6", "2.8"), "2.7-2.8": ("2.7", "2.8"), "ge_3_0": ("3.0", "3.9", "4.3")}
_KAFKA |= {"le_2_3": ("1.1", "2.3"), "ge_2_4": ("2.4", "4.3")}


@pytest.mark.parametrize(("vector", "lookup"), every("lookup"), ids=name)
def test_end_offset_for(vector: dict[str, Any], lookup: str) -> None:
    """The end offset, and from KIP-279 on the largest epoch not above the requested one."""
    end = end_offset_for(
        cache(vector["cache"]), vector["requested_epoch"], log_end_offset=vector["leo"], lookup=Lookup(lookup)
    )
    answer = end.end_offset if end.epoch is None else [end.epoch, end.end_offset]
    assert vector["expect"][lookup] == answer


def _after(vector: dict[str, Any], how: Assign) -> EpochEntries | int | None:
    before, arguments = cache(vector["cache"]), vector["args"]
    match vector["op"]:
        case "assign":
            return assign(before, *arguments, how=how)
        case "truncate_from_end":
            return truncate_from_end(before, *arguments)
        case "truncate_from_start":
            return truncate_from_start(before, *arguments, how=how)
    return epoch_for_offset(before, *arguments)


@pytest.mark.parametrize(("vector", "group"), every("cache_ops"), ids=name)
def test_changes(vector: dict[str, Any], group: str) -> None:
    """The cache after assign and the two truncations."""
    for how in _HOW[group]:
        after = _after(vector, how)
        assert vector["expect"][group] == (pairs(after) if isinstance(after, tuple) else after), how


@pytest.mark.parametrize(("vector", "group"), every("load"), ids=name)
def test_load(vector: dict[str, Any], group: str) -> None:
    """The cache after a broker has loaded the log (LogLoader.load)."""
    for kafka in _KAFKA[group]:
        loaded = load(
            cache(vector["file"]),
            log_end_offset=vector["next_offset"],
            log_start_checkpoint=vector["log_start_checkpoint"],
            first_segment=vector["first_segment"],
            release=release(kafka),
        )
        assert vector["expect"][group] == pairs(loaded), kafka


@pytest.mark.parametrize(("vector", "group"), every("hw_load"), ids=name)
def test_high_watermark_at_load(vector: dict[str, Any], group: str) -> None:
    """The checkpoint, bounded by the log."""
    for kafka in _KAFKA[group]:
        high_watermark = loaded_high_watermark(
            vector["checkpoint"], log_start=vector["log_start"], log_end=vector["leo"], release=release(kafka)
        )
        assert vector["expect"][group] == high_watermark, kafka


@pytest.mark.parametrize("how", list(Assign))
def test_a_negative_epoch_is_refused(how: Assign) -> None:
    """The broker throws an AssertionError up to 2.0.0, and IllegalArgumentException since."""
    with pytest.raises(ValueError, match="epoch -1"):
        assign((), -1, 0, how=how)


def test_a_negative_offset_is_refused_from_2_7() -> None:
    """Up to 2.6 the broker only checks the epoch."""
    with pytest.raises(ValueError, match="offset -5"):
        assign((), 1, -5, how=Assign.POP)
    assert [[1, -5]] == pairs(assign((), 1, -5, how=Assign.FILTER))


def test_no_cache_before_0_11_and_none_for_an_old_message_format() -> None:
    """Such a broker does not read the file."""
    for of in (release("0.10.2"), release("2.3", message_format="0.10.2")):
        loaded = load(cache([[1, 0]]), log_end_offset=9, log_start_checkpoint=0, first_segment=0, release=of)
        assert loaded == ()


def test_file_order_counts_up_to_2_6() -> None:
    """From 2.7 the constructor assigns each line in turn; earlier it keeps their order."""
    lines = (EpochEntry(5, 10), EpochEntry(3, 4))
    assert read_lines(lines, release("2.6")) == lines
    assert read_lines(lines, release("2.7")) == (EpochEntry(3, 4),)


def test_latest_epoch_of_an_empty_cache_is_undefined() -> None:
    """-1, as `latestEpoch` up to 2.1.0."""
    assert latest_epoch(()) == -1
    assert epoch_for_offset((EpochEntry(3, 10),), 9) is None


@pytest.mark.parametrize("requested", range(-1, 12))
def test_few_entries_answer_like_the_cache(requested: int) -> None:
    """LeaderEpochFileCache.endOffsetFor needs the neighbours of an epoch, the first entry and the last."""
    entries = cache([[1, 0], [3, 4], [4, 9], [7, 12], [9, 20]])
    few = around(entries, requested)
    assert len(few) <= 4
    for lookup in Lookup:
        answers = [end_offset_for(known, requested, log_end_offset=30, lookup=lookup) for known in (entries, few)]
        assert answers[0] == answers[1]
    assert () == around((), requested)
