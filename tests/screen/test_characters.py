"""Lines of thousands of records at once are those of each alone."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kcheck.model.java import LONG_MAX, LONG_MIN
from kcheck.screen.characters import joined, number, number_width, text, wrapped
from kcheck.screen.page import wrap

WORDS = st.text(st.sampled_from("a·"), min_size=1, max_size=60)
LINES = st.lists(st.tuples(WORDS, st.sampled_from((" ", "   "))), min_size=1, max_size=12)
NUMBERS = st.integers(LONG_MIN, LONG_MAX) | st.integers(-1, 10) | st.sampled_from([10**power for power in range(19)])


@given(numbers=st.lists(NUMBERS, min_size=1))
def test_numbers(numbers: list[int]) -> None:
    """Python writes the same digits."""
    column = np.array(numbers, np.int64)
    lines = joined([text("<"), number(column), text(">\n")], len(numbers)).decode().splitlines()
    assert lines == [f"<{one}>" for one in numbers]
    assert number_width(column).tolist() == [len(str(one)) for one in numbers]


@given(lines=st.lists(LINES, min_size=1, max_size=5), width=st.integers(40, 90))
def test_lines_are_broken_as_each_alone(lines: list[list[tuple[str, str]]], width: int) -> None:
    """At spaces alone, of which there may be several; a long word is not broken."""
    texts = ["".join(word + spaces for word, spaces in line).rstrip(" ") for line in lines]
    together = wrapped("".join(f"{one}\n" for one in texts).encode("latin-1"), width, "  ", "      ")
    assert together == ["\n".join([*wrap(one, width, "  ", "      "), ""]) for one in texts]
