"""Rows that come in blocks, read one by one."""

from kcheck.model.report import Block, Rows, RowSlice


def test_a_slice_gives_the_next_rows_of_its_source() -> None:
    """The rest is left for the next slice."""
    rows = Rows(iter([Block({"n": (1, 2)}), Block({"n": (3,)})]))
    assert [{"n": 1}, {"n": 2}] == [*RowSlice(rows, 2)]
    assert [{"n": 3}] == [*rows]
