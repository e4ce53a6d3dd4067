"""The texts of kcheck read less like a translation with every landing."""

from tests.docs.english import counts, found, limits, sentences


def test_no_pattern_is_found_more_often() -> None:
    """`python -m tests.docs.english P8` prints the places of one; without a name it writes lower limits."""
    now, most = counts(), limits()
    assert {} == {place: (count, most[place]) for place, count in now.items() if count > most[place]}
    assert set(now) == set(most)


def test_a_list_and_a_table_are_sentences_of_their_own() -> None:
    """A long one is one that a reader meets as one."""
    text = "# Title\n\nOne idea. Two\nlines.\n\n- an item\n- one more\n\n| a | b |"
    assert ["# Title", "One idea.", "Two\nlines.", "an item", "one more", "a", "b |"] == list(sentences(text))
    assert [] == found("over 20 words", "word " * 20)
    assert 1 == len(found("over 20 words", "word " * 21))
    assert ["stands", "anew"] == found("P8", "what stands here is written anew")


def test_a_list_of_names_in_code_is_one_word() -> None:
    names = ", ".join(f"`name-{number}`" for number in range(25))
    assert [] == found("over 20 words", f"The row has {names} and `a b c` of [a page](page.md).")


def test_a_colon_after_a_label_or_before_code_joins_no_sentences() -> None:
    assert [] == found("P5", "| `DumpReport`: `files` | First symptom: a line | Needs: the broker runs |")
    assert 1 == len(found("P5", "The broker reads the file again: its size has changed."))
