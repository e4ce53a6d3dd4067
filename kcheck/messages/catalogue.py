"""The catalog of broker messages, with rules, their wordings in each release, and an index of first words."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from typing import NamedTuple

from kcheck.core.releases.releases import NEWEST_TESTED, lines

_VALUE = re.compile("<([a-z_]+)>")
_MORE = "…"
"""Ends a pattern that is the beginning of a longer message."""
_SHORT_SIZE = 24
"""Characters of a text that other software may write too."""
_OF_CALLERS = frozenset(
    ("-", "CoreUtils", "Utils", "ShutdownableThread", "KafkaThread", "Logging", "LogDirFailureChannel")
)
"""Classes whose messages have the loggers of their callers, or of classes derived from them."""
_OF_KAFKA = ("kafka.", "k.", "org.apache.kafka.", "o.a.k.")
_SIMPLE_NAMES = re.compile(r"[A-Z]\w*")
_LAST_WORD = re.compile(r"[A-Z][a-z0-9]*$")
_LINES = lines()


class LogRule(NamedTuple):
    """One meaning, in one or more wordings."""

    id: str
    """L001; ids are never used again."""
    group: str
    """The part of Kafka, such as start, checkpoint, identity or disk; `unrelated` messages do not concern files."""
    severity: str
    """Its severity (info, warning, error or fatal)."""
    causes: tuple[str, ...]
    """The kinds of later messages that it can cause."""
    follows: tuple[str, ...]
    """The kinds of causes that it can come from."""
    findings: tuple[str, ...]
    """The rules of `kcheck check` that see the same on disk."""
    means: str
    """The event."""
    next: str
    """The next step of Kafka."""
    look: str
    """The kcheck command, with names of values in braces; a part in brackets needs its values. Empty if none helps."""


class Wording(NamedTuple):
    """One wording of a message."""

    rule: LogRule
    levels: tuple[str, ...]
    """Its levels; the name of an exception whose text it is."""
    classes: tuple[str, ...]
    """The simple names of the classes that write it."""
    spans: str
    """The lines of releases that have it: `1.0-2.8,3.2-`; an open end is every later line."""
    releases: str
    """The same in an answer, where an open end is the newest line that the tests ask: `1.0-2.8,3.2-4.3`."""
    pattern: str
    """The message with a name in angle brackets for each value."""
    literals: tuple[str, ...]
    """The texts around the values, one more than names."""
    names: tuple[str, ...]
    """The names of the values."""
    is_open: bool
    """True if the message continues after the pattern."""
    is_short: bool
    """True if other software may write the same. Then the class in a line counts."""

    @property
    def is_thrown(self) -> bool:
        """True if it is the text of an exception."""
        return _is_thrown(self.levels)

    def has(self, line: str) -> bool:
        """Return whether a line of releases has this wording."""
        return any(line in span for span in map(_lines, self.spans.split(",")))


@lru_cache(maxsize=4096)
def can_write(classes: tuple[str, ...], logger: str | None) -> bool:
    """Return whether a logger can have written a text of these classes; a short text needs one of them.

    A class of Kafka can be derived from one of them if it ends in the same word. A logger without a class, such as
    `state.change.logger`, can have written anything.
    """
    names = _SIMPLE_NAMES.findall(logger.rpartition(".")[2]) if logger is not None else []
    if not names or logger is None:
        return True
    own = {name.removesuffix("$") for name in classes}
    if not _OF_CALLERS.isdisjoint((*own, *names)) or not own.isdisjoint(names):
        return True
    is_derived = _last_words(own) & _last_words(names)
    return bool(is_derived) and ("." not in logger or logger.startswith(_OF_KAFKA))


class Catalogue(NamedTuple):
    """All rules by id, and their wordings by the first words of a message."""

    rules: Mapping[str, LogRule]
    wordings: tuple[Wording, ...]
    by_words: Mapping[str, tuple[Wording, ...]]
    """By the first two words, or by the first one where a value follows it."""
    by_value: tuple[tuple[str, Wording], ...]
    """Those that begin with a value, each with the text after it."""
    calm_by_value: tuple[tuple[str, Wording], ...]
    """Those of them that can be INFO: few, as most lines of a log ask for each."""
    thrown_by_value: tuple[tuple[str, Wording], ...]
    """Those of exceptions that begin with a value."""
    since: Mapping[str, str]
    """The first line of releases that has a wording of a rule, by its id."""
    first_words: frozenset[str]
    """First words of wordings that do not begin with a value."""
    calm_texts: tuple[str, ...]
    """Texts that a message of INFO has which has a wording in spite of its first words."""
    by_logger: Mapping[str, LogRule]
    """The rules of messages that have no wording, by the first names of their loggers."""

    def of_rule(self, rule: LogRule) -> tuple[Wording, ...]:
        """Return the wordings of a rule."""
        return tuple(wording for wording in self.wordings if wording.rule is rule)

    def may_have(self, first: str, second: str, line: str) -> bool:
        """Return whether a line of INFO whose message begins with these two words may have a wording."""
        if first in self.first_words and (first in self.by_words or f"{first} {second}" in self.by_words):
            return True
        return any(text in line for text in self.calm_texts)

    def of_logger(self, logger: str | None) -> LogRule | None:
        """Return the rule of a message without a wording, by its logger; None if its logger shows none."""
        name = logger or ""
        while name and name not in self.by_logger:
            name = name.rpartition(".")[0]
        return self.by_logger.get(name)


def catalogue(rules: str, patterns: str, loggers: str) -> Catalogue:
    """Return the catalog from the texts of its tables, which are tab-separated, with a header line."""
    by_id = {rule.id: rule for rule in map(_rule, _rows(rules))}
    # The longest text is the most specific one.
    wordings = sorted((_wording(row, by_id) for row in _rows(patterns)), key=lambda one: -sum(map(len, one.literals)))
    by_words: dict[str, list[Wording]] = {}
    for wording in wordings:
        by_words.setdefault(_first_words(wording), []).append(wording)
    begin_with_value = by_words.pop("", [])
    by_value = tuple((one.literals[1], one) for one in begin_with_value if not one.is_thrown)
    calm_by_value = tuple((text, one) for text, one in by_value if "INFO" in one.levels)
    thrown_by_value = tuple((one.literals[1], one) for one in begin_with_value if one.is_thrown)
    index = {words: tuple(some) for words, some in by_words.items()}
    since: dict[str, str] = {}
    for wording in wordings:
        first = _lines(wording.spans.partition(",")[0])[0]
        since[wording.rule.id] = min(first, since.get(wording.rule.id, first), key=_LINES.index)
    by_logger = {logger: by_id[rule] for rule, logger in _rows(loggers)}
    first_words = frozenset(words.partition(" ")[0] for words in index)
    calm_texts = (*(text for text, _ in calm_by_value), *sorted(word for word in first_words if word[0] == "["))
    values = by_value, calm_by_value, thrown_by_value
    return Catalogue(by_id, tuple(wordings), index, *values, since, first_words, calm_texts, by_logger)


def _rows(text: str) -> Iterator[list[str]]:
    return (line.split("\t") for line in text.splitlines()[1:])


def _rule(row: list[str]) -> LogRule:
    rule, group, severity, causes, follows, findings, means, following, look = row
    kinds = tuple(causes.split()), tuple(follows.split()), tuple(findings.split())
    return LogRule(rule, group, severity, *kinds, means, following, look)


def _wording(row: list[str], rules: Mapping[str, LogRule]) -> Wording:
    rule, levels, classes, spans, pattern = row
    is_open = pattern.endswith(_MORE)
    text = pattern.removesuffix(_MORE).rstrip(" ") if is_open else pattern
    literals, names = tuple(_VALUE.split(text)[::2]), tuple(_VALUE.findall(text))
    levels_and_classes = tuple(levels.split(",")), tuple(classes.split(","))
    is_short = sum(map(len, literals)) < _SHORT_SIZE and not _is_thrown(levels_and_classes[0])
    known = *levels_and_classes, spans, _as_answered(spans), pattern
    return Wording(rules[rule], *known, literals, names, is_open, is_short)


def _is_thrown(levels: Iterable[str]) -> bool:
    return not any(level.isupper() for level in levels)


def _first_words(wording: Wording) -> str:
    """Return the first words that no value can change, at most two."""
    first = wording.literals[0]
    words = first.split(" ")
    if len(wording.literals) == 1 and not wording.is_open:
        return " ".join(words[:2]) if len(words) > 2 else words[0]
    return " ".join(words[:-1][:2])


def _lines(span: str) -> tuple[str, ...]:
    first, dash, last = span.partition("-")
    end = len(_LINES) if dash and not last else _LINES.index(last or first) + 1
    return tuple(_LINES[_LINES.index(first) : end])


@cache
def _as_answered(spans: str) -> str:
    known = spans.removesuffix("-")
    first = known.rpartition(",")[2]
    is_closed = known == spans or _LINES.index(first) >= _LINES.index(NEWEST_TESTED)
    return known if is_closed else f"{known}-{NEWEST_TESTED}"


def _last_words(names: Iterable[str]) -> set[str]:
    """Return the last words of names of classes: `Thread` of `ReplicaFetcherThread`."""
    return {last[0] for name in names if (last := _LAST_WORD.search(name)) is not None}
