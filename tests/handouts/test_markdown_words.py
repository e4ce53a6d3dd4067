"""Names of a hostile cluster in the files that say what to type."""

import pytest

from kcheck.handouts.markdown_words import fenced, markdown_code, markdown_partition, markdown_text

HOSTILE = ("a\x1b[2J", "a\n```sh\nrm -rf /\n```", "a\u202eb", "<script>", "[x](http://y)", "a|b", "# x")


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_is_text_on_its_line(name: str) -> None:
    """No control character, no line, and no character of Markdown that is not escaped."""
    text = markdown_text(name)
    assert text.isprintable()
    assert not any(sign in text.replace("\\\\", "").replace(f"\\{sign}", "") for sign in "`<>[]|#")


def test_a_name_that_kafka_allows_stays() -> None:
    assert "a_b.c-d-0" == markdown_partition("a_b.c-d", 0)


def test_words_of_allowed_characters_stay() -> None:
    assert r"offset of a\_\<b in c_d" == markdown_text("offset of a_<b in c_d")


def test_code_ends_where_its_fence_ends() -> None:
    assert ["`a-0`", "`` a`b ``", "``` ``\\n ```"] == [markdown_code(text) for text in ("a-0", "a`b", "``\n")]


def test_a_line_of_a_block_is_one_line() -> None:
    assert "```sh\na\\n```\n```" == fenced(["a\n```"])
    assert "```properties\nx=1\n```" == fenced(["x=1"], "properties")
