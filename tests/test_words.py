"""The words of every text."""

import subprocess

import pytest

from kcheck.model.entries import EpochEntry
from kcheck.model.evidence import OtherEnd, Reason, ReleaseEvidence
from kcheck.model.loss import LostRecords
from kcheck.words import (
    agree,
    capital,
    counted,
    date_words,
    epoch_words,
    listed,
    lost_words,
    milliseconds_words,
    moment,
    near,
    offset_range,
    other_end_words,
    partition_name,
    record_count,
    release_words,
    shell_line,
    some_of,
    some_reasons,
    within,
)

REASONS = (Reason("topic ids", "data", 1, "2.8", None),)


@pytest.mark.parametrize(
    ("count", "noun", "words"),
    [
        (0, "file", "0 files"),
        (1, "entry", "1 entry"),
        (2, "entry", "2 entries"),
        (2, "batch", "2 batches"),
        (2, "epoch", "2 epochs"),
        (3, "more partition", "3 more partitions"),
    ],
)
def test_a_number_goes_with_its_noun(count: int, noun: str, words: str) -> None:
    assert words == counted(count, noun)


def test_a_verb_goes_with_its_number() -> None:
    assert ["are", "is", "are"] == [agree(count, "is", "are") for count in (0, 1, 2)]


def test_a_noun_of_several_words_has_its_own_plural() -> None:
    assert "2 runs of batches" == counted(2, "run of batches", "runs of batches")


def test_of_many_things_ten_are_listed() -> None:
    """A name that is longer than any on a file system is shortened."""
    assert "0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more" == listed(range(12))
    assert "0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 88 more" == listed(iter(range(98)), 98)
    assert f"{'x' * 60}... (301 characters)" == listed(["x" * 301])


def test_things_are_listed() -> None:
    assert "" == listed([])
    assert ["1", "1 and 2", "1, 2 and 3"] == [listed(range(1, last)) for last in (2, 3, 4)]


def test_three_of_many_are_named() -> None:
    assert ["a, b, c", "a, b, c and 4 more"] == [some_of("abc"), some_of("abcdefg")]
    assert "a, b and 98 more" == some_of("ab", 2, 100)


def test_a_partition_has_the_name_of_its_directory() -> None:
    assert "orders-0" == partition_name("orders", 0)


@pytest.mark.parametrize(
    ("start", "end", "words"),
    [
        (None, None, ""),
        (95, None, "offsets 95 and later"),
        (1, 2, "offset 1"),
        (120, 122, "offsets 120-121"),
    ],
)
def test_offsets_are_inclusive(start: int | None, end: int | None, words: str) -> None:
    assert words == offset_range(start, end)


def test_an_unknown_number_of_records_has_its_bound() -> None:
    assert "1 record" == record_count(1, 7)
    assert "at least 7 records" == record_count(None, 7)
    assert "an unknown number of records" == record_count(None)


def test_a_loss_has_its_count_and_its_offsets() -> None:
    lost = LostRecords(15, 40, 25, 1000, None)
    assert "25 records (offsets 15-39)" == lost_words(lost)
    assert "an unknown number of records" == lost_words(LostRecords(None, None, None, 10, None))


@pytest.mark.parametrize(
    ("evidence", "words"),
    [
        (
            ReleaseEvidence(None, None, "4.3", False, ()),
            "Kafka 4.3 (assumed: no evidence; --kafka RELEASE to change)",
        ),
        (ReleaseEvidence("2.8", "2.8", "2.8", False, REASONS), "Kafka 2.8 (detected: topic ids)"),
        (
            ReleaseEvidence("3.7", "4.4", "4.3", False, REASONS),
            "Kafka 4.3 (files fit 3.7 and later; --kafka RELEASE to change)",
        ),
        (ReleaseEvidence("3.7", "4.4", "4.3", True, REASONS), "Kafka 4.3 (--kafka)"),
        (
            ReleaseEvidence("3.9", "3.9", "3.6", True, REASONS, contradicted=True),
            "Kafka 3.6 (--kafka; files: 3.9)",
        ),
        (
            ReleaseEvidence("2.8", "3.6", "3.9", True, REASONS, contradicted=True, given_by="KCHECK_KAFKA"),
            "Kafka 3.9 (from KCHECK_KAFKA; files: 2.8 to 3.6)",
        ),
        (
            ReleaseEvidence("2.8", "3.9", "3.9", False, REASONS),
            "Kafka 3.9 (files fit 2.8 to 3.9; --kafka RELEASE to change)",
        ),
        (
            ReleaseEvidence("2.8", "4.4", "4.3", False, REASONS, agrees=False),
            "Kafka 4.3 (files fit 2.8 and later, not one release; --kafka RELEASE to change)",
        ),
    ],
)
def test_the_release_of_an_answer(evidence: ReleaseEvidence, words: str) -> None:
    assert words == release_words(evidence, "4.4")


@pytest.mark.parametrize(
    ("differs_in", "words"),
    [
        ((), "2.8 does not differ"),
        (None, "2.8 is not compared"),
        (("KC201", "predict t-0"), "2.8 differs in: KC201, predict t-0"),
        (tuple(map(str, range(10))), "2.8 differs in: 0, 1, 2, 3, 4, 5, 6, 7 and 2 more"),
    ],
)
def test_the_other_end_of_the_range_is_named(differs_in: tuple[str, ...] | None, words: str) -> None:
    evidence = ReleaseEvidence("2.8", "3.9", "3.9", False, REASONS, other=OtherEnd("2.8", differs_in))
    assert release_words(evidence, "4.4").endswith(f"to change; {words})")


def test_epochs_have_the_offsets_where_they_begin() -> None:
    assert "epoch 3 from offset 1500, epoch 5 from offset 2200" == epoch_words(
        (EpochEntry(3, 1500), EpochEntry(5, 2200))
    )
    assert "" == epoch_words(())
    assert "epoch 0 from offset 0, epoch 1 from offset 1 and 5 more" == epoch_words(
        tuple(EpochEntry(at, at) for at in range(7)), 2
    )


def test_reasons_that_are_left_out_are_counted() -> None:
    assert "a; b" == some_reasons("ab", 2)
    assert "a; and 2 more" == some_reasons("abc", 1)
    assert "a; b; and 1 more change" == some_reasons("abc", 2, "change")


@pytest.mark.parametrize(
    ("timestamp", "words"),
    [
        (0, "1970-01-01"),
        (-1, "1969-12-31"),
        (1_800_000_000_000, "2027-01-15"),
        (253_402_300_799_999, "9999-12-31"),
        (253_402_300_800_000, "the year 10,000"),
        (1_795_773_845_605_000, "the year 58,875"),
        (-62_135_596_800_001, "0-12-31"),
    ],
)
def test_a_day_of_any_time(timestamp: int, words: str) -> None:
    """Python's dates end in 9999; the calendar repeats itself every 400 years."""
    assert date_words(timestamp) == words


def test_a_moment_outside_of_the_calendar_is_unknown() -> None:
    assert [*map(moment, (0, 253_402_300_800_000, None))] == ["1970-01-01T00:00:00Z", "?", "?"]


@pytest.mark.parametrize(
    ("word", "names"),
    [
        ("kip-101", ["kip-101-1", "kip-101-2"]),
        ("predikt", ["predict"]),
        ("predct", ["predict"]),
        ("predictor", ["predict"]),
        ("chekc", ["check"]),
        ("foo", []),
        ("", []),
        ("x", []),
    ],
)
def test_only_similar_names_are_suggested(word: str, names: list[str]) -> None:
    """Those that begin with the word, else those at most two edits away."""
    assert names == near(word, ["check", "predict", "kip-101-1", "kip-101-2", "check"])


def test_a_hostile_name_is_one_word_of_a_shell() -> None:
    """On one line without a raw control character, and bash gives it back byte for byte."""
    names = ("plain", "a b", "a'b\\", "a\x1b[2J\nrm -rf /;$(x)`y`'\\", "a\u202eb\udcff", "")
    line = shell_line(["printf", "%s|", *names])
    assert line.isprintable()
    said = subprocess.run(["/bin/bash", "-c", line], capture_output=True, check=True).stdout
    assert "".join(f"{name}|" for name in names) == said.decode(errors="surrogateescape")


def test_the_other_end_of_a_range_of_releases() -> None:
    """The words name the other end only if its answer differs."""
    said = ReleaseEvidence("0.11.0", "2.3", "2.3", given=False, reasons=())
    assert other_end_words(None) is None
    assert other_end_words(said) is None
    assert other_end_words(said._replace(other=OtherEnd("0.11.0", ()))) is None
    assert other_end_words(said._replace(other=OtherEnd("0.11.0", ("elect t-0",)))) == (
        "The files also fit Kafka 0.11.0. Its answer differs in: elect t-0. The worse answer counts."
    )


def test_a_duration_is_in_seconds_where_it_is_whole() -> None:
    """Otherwise in milliseconds."""
    assert [milliseconds_words(count) for count in (3000, 1500)] == ["3 s", "1500 ms"]


@pytest.mark.parametrize(
    "name", ["orders-1", "log.dirs", "broker-1/data", "out/saved", "__consumer_offsets-0", "KRaft"]
)
def test_a_name_at_the_begin_of_a_sentence_stays(name: str) -> None:
    """Topics differ by case, and so do files."""
    assert (capital(f"{name} is"), within(f"{name} is")) == (f"{name} is", f"{name} is")


@pytest.mark.parametrize("text", ["no disk", "out-of-sync replicas", "nothing", "then, later", "a broker's disk"])
def test_a_sentence_begins_with_a_capital(text: str) -> None:
    """And becomes a part of another one again."""
    begun = capital(text)
    assert (begun[0], begun[1:], within(begun)) == (text[0].upper(), text[1:], text)
