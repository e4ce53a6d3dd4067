"""Sentences that plan.md and the screen share."""

from kcheck.handouts.aside_copies import AsideCopy, aside_words


def test_directories_aside_are_named_worst_first() -> None:
    """An unknown count may be the highest; the first three are named, the others counted."""
    counts = (3, None, 1, 7)
    words = [*aside_words(AsideCopy(count, 2, f"t-{at}", f"t-{at}.old", "aside") for at, count in enumerate(counts))]
    rest = "that no replica here has, in a directory that no broker serves"
    assert words == [
        f"Broker 2 has an unknown number of records of t-1 {rest}: t-1.old (aside)",
        f"Broker 2 has 7 records of t-3 {rest}: t-3.old (aside)",
        f"Broker 2 has 3 records of t-0 {rest}: t-0.old (aside)",
        "More directories of this kind: 1",
    ]
    assert [*aside_words([])] == []
