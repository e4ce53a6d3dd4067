"""`--kafka`, `--ibp` and `--message-format` select one row."""

import pytest

from kcheck.core.releases import TABLE, release, with_profile
from kcheck.errors import UsageError


@pytest.mark.parametrize(
    ("kafka", "ibp", "profile"),
    [
        ("0.8.2", None, "P0"), ("0.10.2.2", None, "P0"), ("0.11.0.2", None, "P1a"), ("0.11.0", None, "P1b"),
        ("1.0.1", None, "P1a"), ("1.0", None, "P1b"), ("1.1.0", None, "P1a"), ("1.1.1", None, "P1b"),
        ("2.0.0", None, "P2"), ("2.0", None, "P3"), ("2.6.0", None, "P3"), ("2.6", None, "P4"), ("2.7", None, "P4"),
        ("2.8.0", None, "P5_280"), ("2.8", None, "P5"), ("3.9", None, "P5"), ("4.3", None, "P5"),
        ("2.8", "2.6", "P4"), ("3.9", "2.7-IV0", "P4"), ("3.9", "2.7-IV1", "P5"), ("2.3", "0.10.2", "P0"),
        ("2.0.0", "1.0", "P2"), ("2.3", "1.1", "P4v0"), ("2.7", "0.11.0-IV2", "P4v0"), ("2.7", "0.11.0-IV1", "P0"),
        ("1.1", "0.10.2", "P0"), ("1.1", "0.11.0", "P1b"), ("4.3", "3.3-IV3", "P5"), ("3.9", "2.7.1", "P5"),
    ],
)  # fmt: skip
def test_profile(kafka: str, ibp: str | None, profile: str) -> None:
    """A line means its newest release; a lower protocol version selects the older behaviour."""
    assert profile == release(kafka, ibp=ibp).profile


@pytest.mark.parametrize(
    ("kafka", "ibp"),
    [
        ("9.9", None), ("4.3.9", None), ("x", None), ("4", None), ("4.3.1.1", None), ("", None), ("4.³", None),
        ("4.3", "3.3-IV2"), ("4.3", "2.8"), ("2.8", "3.0"), ("2.8", "2.7-IV9"), ("2.8", "2.7-IV"), ("2.8", "x"),
        ("2.8", "2.7-IVx"), ("2.8", "2.7-IV²"), ("3.9", "5.0"),
    ],
)  # fmt: skip
def test_unknown_is_a_usage_error(kafka: str, ibp: str | None) -> None:
    """It names what is known."""
    with pytest.raises(UsageError):
        release(kafka, ibp=ibp)


def test_rows_follow_each_other() -> None:
    """Every release from the first to the last of a row selects it."""
    for row in TABLE:
        for name in (row.first, row.last):
            found = release(name)
            assert (row.profile, row.reader, row.epoch_load) == (found.profile, found.reader, found.epoch_load), name
            assert name == found.name


def test_message_format_counts_where_the_broker_looks_at_it() -> None:
    """From 2.1.1 to 3.x with a protocol below 3.0 an old format leaves no cache."""
    assert not release("2.4", message_format="0.10.2").epoch_cache
    assert release("2.4", message_format="0.11.0").epoch_cache
    assert release("2.1.0", message_format="0.10.2").epoch_cache
    assert release("3.9", message_format="0.10.2").epoch_cache
    assert not release("3.9", ibp="2.8", message_format="0.10.2").epoch_cache
    assert not release("0.10.2").epoch_cache


def test_a_profile_can_be_forced() -> None:
    """`--profile` changes the dialogue, not the files."""
    forced = with_profile(release("4.3"), "p1A")
    assert (forced.profile, forced.lookup, forced.reader) == ("P1a", "L1a", "R6")
    assert with_profile(release("4.3"), "P0").lookup is None
    with pytest.raises(UsageError, match="P5_280"):
        with_profile(release("4.3"), "P9")
