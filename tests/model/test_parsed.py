"""The value of a file, and what keeps somebody from having it unchecked."""

import pytest

from kcheck.errors import FormatError
from kcheck.model.parsed import Defect, Parsed


def test_unwrap_gives_the_value_of_a_file_without_defects() -> None:
    assert Parsed(value=5).unwrap() == 5


def test_unwrap_raises_with_the_defects() -> None:
    """The message shows the first: by line and column in a text, by position in a binary file."""
    defects = (Defect(message="too long", position=9, line=2, column=4), Defect(message="cut", position=61))
    with pytest.raises(FormatError, match="2 defects, the first: line 2, column 4: too long") as raised:
        Parsed(value=5, defects=defects).unwrap()
    assert defects == raised.value.defects
    assert str(defects[1]) == "position 61: cut"
