"""Names of a hostile cluster in the files that say what to type."""

import pytest

from kcheck.handouts.markdown_words import markdown_name, markdown_partition

HOSTILE = ("a\x1b[2J", "a\n```sh\nrm -rf /\n```", "a\u202eb", "<script>", "[x](http://y)", "a|b", "# x")


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_is_text_on_its_line(name: str) -> None:
    """No control character, no line, and no character of Markdown that is not escaped."""
    text = markdown_name(name)
    assert text.isprintable()
    assert not any(sign in text.replace("\\\\", "").replace(f"\\{sign}", "") for sign in "`<>[]|#")


def test_a_name_that_kafka_allows_stays() -> None:
    assert "a_b.c-d-0" == markdown_partition("a_b.c-d", 0)
