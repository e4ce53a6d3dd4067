"""How a defect names its place."""

from kcheck.model.parsed import Defect


def test_a_defect_is_told_by_its_place() -> None:
    """By line and column in a text, by position in a binary file."""
    assert str(Defect(message="too long", position=9, line=2, column=4)) == "line 2, column 4: too long"
    assert str(Defect(message="cut", position=61)) == "position 61: cut"
