"""Lines of text as wide as the page."""

import io
import textwrap
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcheck.core.replication.truncation_plans import Advantage
from kcheck.model.finding import Finding, Location, Severity
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
    assert "title\n\nline\n" == stream.getvalue()


def test_every_advantage_of_a_leader_has_words() -> None:
    assert [*Advantage] == [*_ADVANTAGES]


@pytest.mark.parametrize("count", [2, 20])
def test_a_column_is_as_wide_as_its_widest_cell(count: int) -> None:
    """A timestamp in microseconds has 16 digits."""
    stream = io.StringIO()
    times = [1_795_773_845_605_000, *[1_795_773_845_849] * (count - 1)]
    Page(stream, Options()).table(("timestamp", "flags"), [(time, "x") for time in times])
    assert {18} == {line.rindex(line.split()[1]) for line in stream.getvalue().splitlines()}


def _found(log_dir: str | None, place: str, message: str = "it is wrong", rule: str = "KC901") -> Finding:
    where = Location(log_dir=log_dir, broker_id=1, dir=place, file="f")
    return Finding(rule, "name", Severity.ERROR, where, message, "Kafka fails.", "Mend it.")


def _shown(*findings: Finding, every: bool = False) -> str:
    stream = io.StringIO()
    Page(stream, Options(every=every)).findings(findings)
    return stream.getvalue()


def test_findings_of_one_text_are_one_block() -> None:
    """Each is below its log dir, and names every place; in the next log dir the first ones are named."""
    texts = [_found("/a", "t-0"), _found("/a", "t-1"), _found("/a", "t-2", "f is gone"), _found("/b", "t-3")]
    assert _shown(*texts) == (
        "\n/a   broker 1\n"
        "  error KC901 t-0/f, t-1/f: it is wrong\n    Kafka fails.\n    Mend it.\n"
        "  error KC901 t-2/f is gone\n    Kafka fails.\n    Mend it.\n"
        "\n/b   broker 1\n"
        "  error KC901 t-3/f: as t-0/f, t-1/f in /a\n"
    )
    assert 4 == _shown(*texts, every=True).count("Mend it.")
    assert "error KC901 t-0, t-1: f is gone\n" in _shown(*(_found(None, f"t-{at}", "f is gone") for at in (0, 1)))


def test_the_example_of_many_findings_is_one_of_them() -> None:
    """Its place and its message belong together."""
    many = [_found("/a", f"t-{at}", f"t-{at} is wrong") for at in range(5)]
    shown = _shown(*many)
    assert "error KC901 name, 5 times: t-0/f, t-1/f, t-2/f and 2 more; --all shows each\n" in shown
    assert "    error KC901 t-0/f: t-0 is wrong\n" in shown
    assert "t-4 is wrong" not in shown
