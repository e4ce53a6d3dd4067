"""Which wording a message has: the index of wordings against each of them, tried as a pattern."""

import functools
import re

import pytest

from kcheck.messages.catalogue import LogRule, Wording, can_write
from kcheck.messages.frames import bodies, logger_of, without_logger
from kcheck.messages.matching import Match, match, match_or_candidates
from tests.messages.catalogue import CATALOGUE, filled

OF_WORDS = tuple(
    one
    for has_two in (True, False)
    for words, some in CATALOGUE.by_words.items()
    for one in some
    if (" " in words) is has_two
)
"""The wordings whose first two words are fixed, then those whose first one is."""
_WITH_WORDS = {*OF_WORDS}
OF_VALUES = tuple(one for one in CATALOGUE.wordings if one not in _WITH_WORDS)
PREFIXES = ("", "[GroupId x] ", "[Log partition=t-0, dir=/d] ", "[x]: ")


def pattern(wording: Wording) -> re.Pattern[str]:
    """Return a wording as a pattern of all of a message."""
    text = "(.*?)".join(map(re.escape, wording.literals))
    return re.compile(text + ".*" if wording.is_open else text, re.DOTALL)


@functools.cache
def patterns() -> tuple[tuple[Wording, re.Pattern[str], bool], ...]:
    """Return each wording with its pattern, and whether it begins with a value."""
    return tuple((one, pattern(one), one not in _WITH_WORDS) for one in (*OF_WORDS, *OF_VALUES))


def tried(message: str, *, is_thrown: bool) -> LogRule | None:
    """Return the rule of the first wording that a message has, without an index."""
    logger = logger_of(message)
    for prefix, _ in bodies(message):
        for text in dict.fromkeys((without_logger(message)[len(prefix) :], message[len(prefix) :])):
            for one, words, is_of_value in patterns():
                if not text.startswith(one.literals[0]) or (is_of_value and one.is_thrown is not is_thrown):
                    continue
                if words.fullmatch(text) and (not one.is_short or can_write(one.classes, logger)):
                    return one.rule
    return None


@pytest.mark.sample(1)
@pytest.mark.parametrize("logger", [None, "kafka.log.UnifiedLog", "org.eclipse.jetty.server.Server"])
def test_the_first_wording_that_matches_counts(logger: str | None) -> None:
    """A message of each wording, behind a prefix and before each logger."""
    for number, wording in enumerate(CATALOGUE.wordings):
        text = PREFIXES[number % len(PREFIXES)] + filled(wording)[0]
        message = f"{text} ({logger})" if logger and not wording.is_thrown else text
        found = match(CATALOGUE, message, is_thrown=wording.is_thrown)
        expected = tried(message, is_thrown=wording.is_thrown)
        # The message of a short text can be the beginning of another one.
        assert expected == (found and found.wording.rule) or (expected is None and wording.is_short), message


def candidates(message: str) -> list[str]:
    """Return the rules that a message without a wording can have."""
    found = match_or_candidates(CATALOGUE, message)
    assert not isinstance(found, Match)
    return [wording.rule.id for wording in found]


@pytest.mark.sample(1)
@pytest.mark.parametrize("mark", ["...", "…"])
def test_a_message_that_was_cut_has_its_own_rule_or_none(mark: str) -> None:
    """Each wording, cut at every seventh character: most of them are known, and none is taken for another one."""
    known = 0
    for wording in (one for one in CATALOGUE.wordings if not one.is_thrown):
        text, values = filled(wording)
        for size in range(20, len(text), 7):
            found = match(CATALOGUE, text[:size] + mark)
            others = () if found else candidates(text[:size] + mark)
            assert not others or wording.rule.id in others
            assert len(others) == len({*others}) != 1
            assert found is None or found.wording.rule is wording.rule, text[:size]
            assert found is None or found.wording is not wording or [*found.values] == values[: len(found.values)]
            known += found is not None
    assert known > 10_000


def test_a_message_that_several_begin_like_has_none() -> None:
    """What tells them apart was cut; a line without a mark can also be a shorter message."""
    text = "Number of alive brokers '17' does not meet the required replication factor '18' for the "
    assert [None, "L214", "L215"] == [
        found and found.wording.rule.id
        for found in (match(CATALOGUE, f"{text}{rest}...") for rest in ("", "offsets to", "transactions s"))
    ]
    assert match(CATALOGUE, text[:70]) is None
    for cut in (f"{text}...", text[:70]):
        assert candidates(cut) == ["L214", "L215"]
    assert match(CATALOGUE, "Loading logs...") is None
    assert candidates("Loading logs...") == []
