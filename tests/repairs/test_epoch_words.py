"""How epochs are named in a plan."""

from kcheck.model.entries import EpochEntry
from kcheck.repairs._epochs import LISTED_MAX, in_words, joined


def test_of_many_epochs_the_first_are_named() -> None:
    """The reason of an operation stays a sentence, whatever the file holds."""
    assert in_words((EpochEntry(3, 1500), EpochEntry(5, 2200))) == "3 @ 1500, 5 @ 2200"
    assert in_words(()) == ""
    many = tuple(EpochEntry(epoch, epoch) for epoch in range(LISTED_MAX + 7))
    assert in_words(many).endswith(f", {LISTED_MAX - 1} @ {LISTED_MAX - 1} and 7 more")
    assert joined(range(LISTED_MAX)).endswith(f", {LISTED_MAX - 1}")
    assert joined(range(LISTED_MAX + 1)).endswith(f", {LISTED_MAX - 1} and 1 more")
