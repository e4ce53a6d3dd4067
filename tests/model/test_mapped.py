"""A sequence whose items are made when they are asked for."""

import pytest

from kcheck.model.mapped import Mapped


def test_mapped_is_a_sequence() -> None:
    """Its items are made of those of another one, each time."""
    made: Mapped[int, str] = Mapped(str, range(4))
    assert (made[0], made[-1], made[1:3], len(made)) == ("0", "3", ("1", "2"), 4)
    assert made == ["0", "1", "2", "3"]
    assert [*made] == [*made]
    assert made != ("0", "1", "2", "4")
    assert made != ("0",)
    assert made != 4
    with pytest.raises(IndexError):
        made[4]
