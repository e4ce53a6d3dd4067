"""Lines of text as wide as the page."""

import io
import textwrap
import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from kcheck.core.replication.truncation_plans import Advantage
from kcheck.renderers._text_truncation import _ADVANTAGES
from kcheck.screen.options import Options
from kcheck.screen.page import Page, wrap

TEXTS = st.text(st.sampled_from("a-· "), max_size=200)
INDENTS = st.integers(0, 8).map(" ".__mul__)


@given(text=TEXTS, width=st.integers(40, 90), indent=INDENTS, hanging=INDENTS)
def test_lines_are_broken_as_textwrap_breaks_them(text: str, width: int, indent: str, hanging: str) -> None:
    """At spaces alone, and never within a word."""
    expected = textwrap.wrap(
        text, width, initial_indent=indent, subsequent_indent=hanging, break_long_words=False, break_on_hyphens=False
    )
    assert expected == list(wrap(text, width, indent, hanging))


def test_a_long_text_is_not_copied_for_each_of_its_lines() -> None:
    """A plan may name every line of a large file."""
    text = "word " * 100_000 + "end"
    tracemalloc.start()
    try:
        found = wrap(text, 80, "", "  ")
        assert (next(found), next(found)) == (" ".join(["word"] * 16), "  " + " ".join(["word"] * 15))
        assert tracemalloc.get_traced_memory()[1] < len(text) / 10
    finally:
        tracemalloc.stop()


def test_a_title_stands_above_the_first_line_if_there_is_one() -> None:
    stream = io.StringIO()
    page = Page(stream, Options())
    page.begin("title")
    assert "" == stream.getvalue()
    page.line("line")
    page.write_title()
    assert "title\nline\n" == stream.getvalue()


def test_every_advantage_of_a_leader_has_words() -> None:
    assert [*Advantage] == [*_ADVANTAGES]
