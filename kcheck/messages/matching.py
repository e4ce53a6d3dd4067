"""Finds the wording of a message in the catalog, and the values in it.

Matching takes time linear in the length of a message. The first words choose the candidates. The texts between the
values are then searched one after the other.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from kcheck.messages.catalogue import Catalogue, Wording, can_write
from kcheck.messages.frames import bodies, logger_of, without_logger

MESSAGE_SIZE_MAX = 16_384
"""Characters of a message that are looked at."""
CALM = ("TRACE", "DEBUG", "INFO")
"""Levels of which most messages of a log are."""
_TAIL_MIN = 4
"""A message may go on after its last text, if that is at least this long."""
_CUT = ("...", "…")
"""Endings of an incomplete text. Its last value is not complete."""
_CUT_MIN = 10
"""Characters of the last text that must be there if the end of a message is missing."""
_REQUIRED = "requirement failed: "
"""Scala writes it before the text of a failed precondition."""
_WHOLE_MIN = 20
"""Or, without values, if it is at least this long."""


_Begun = tuple[Wording, tuple[str, ...]]
"""A wording that an incomplete message begins like, with the complete values."""


class Match(NamedTuple):
    """A wording that a message has."""

    wording: Wording
    values: tuple[str, ...]
    prefix: str
    """The text before the message, in brackets."""


def match(
    catalogue: Catalogue, message: str, *, level: str | None = None, logger: str | None = None, is_thrown: bool = False
) -> Match | None:
    """Return the wording of a message, or of an exception's text, without prefixes and logger; None without one.

    `level` and `logger` belong to the message, if they are known; the logger may be in the message too.
    """
    message = message[:MESSAGE_SIZE_MAX]
    if is_thrown:
        matched = _match(catalogue, message.removeprefix(_REQUIRED), None, catalogue.thrown_by_value)
    else:
        matched = match_or_candidates(catalogue, message, level=level, logger=logger)
    return matched if isinstance(matched, Match) else None


def match_or_candidates(
    catalogue: Catalogue, message: str, *, level: str | None = None, logger: str | None = None
) -> Match | tuple[Wording, ...]:
    """Return the wording of a message, or several wordings that it begins like, one of each rule, by its id.

    Several are possible only for an incomplete message. The tuple is empty for a message without a wording.
    """
    by_value = catalogue.calm_by_value if level in CALM else catalogue.by_value
    return _match(catalogue, message[:MESSAGE_SIZE_MAX], logger, by_value)


def _match(
    catalogue: Catalogue, message: str, logger: str | None, by_value: tuple[tuple[str, Wording], ...]
) -> Match | tuple[Wording, ...]:
    texts: tuple[str, ...] = ()
    may_be_cut = False
    for prefix, body in bodies(message):
        some = _candidates(catalogue, body, by_value)
        if some and not texts:
            plain = without_logger(message)
            # What looks like a logger can be the end of the message.
            texts = (plain, message) if len(plain) < len(message) else (plain,)
            may_be_cut = plain == message.rstrip()
        for text in texts if some else ():
            rest = text[len(prefix) :]
            if may_be_cut and rest.endswith(_CUT):
                begun = _begun_best(some, rest.rstrip(".… "))
                if begun:
                    return Match(*begun[0], prefix) if len(begun) == 1 else _wordings(begun)
            for is_exact in (True, False):
                for wording in some:
                    values = _values(wording, rest, is_exact=is_exact, may_be_cut=may_be_cut)
                    if values is None:
                        continue
                    was_cut = len(values) < len(wording.names) or wording.literals[-1] not in rest
                    if was_cut and len(begun := _begun_best(some, rest)) > 1:
                        return _wordings(begun)
                    if not wording.is_short or can_write(wording.classes, logger or logger_of(message)):
                        return Match(wording, values, prefix)
    return ()


def _wordings(begun: Iterable[_Begun]) -> tuple[Wording, ...]:
    return tuple(sorted((wording for wording, _ in begun), key=lambda wording: wording.rule.id))


def _candidates(catalogue: Catalogue, body: str, by_value: tuple[tuple[str, Wording], ...]) -> Sequence[Wording]:
    """Return the wordings with the first words of a message. Most messages have none."""
    first = body.find(" ")
    second = body.find(" ", first + 1) if first >= 0 else -1
    by_words = catalogue.by_words
    some: Sequence[Wording] = by_words.get(body if second < 0 else body[:second], ())
    if first >= 0 and (of_first := by_words.get(body[:first], ())):
        some = (*some, *of_first)
    for text, wording in by_value:
        if text in body:
            some = (*some, wording)
    return some


def _values(wording: Wording, text: str, *, is_exact: bool, may_be_cut: bool) -> tuple[str, ...] | None:
    """Return the values of a wording in a text, the first ones if it is incomplete; None for another wording.

    An exact match ends where the wording does. Otherwise a longer text may follow, as in an exception. A message before
    a logger is complete.
    """
    literals = wording.literals
    if not text.startswith(literals[0]):
        return None
    if len(literals) == 1:
        may_go_on = wording.is_open or (not is_exact and len(literals[0]) >= _WHOLE_MIN)
        return () if may_go_on or len(text) == len(literals[0]) else None
    at, values = len(literals[0]), []
    for literal in literals[1:-1]:
        if _is_empty(text, at, literal):
            values.append("")
            at += len(literal) - 1
            continue
        end = text.find(literal, at)
        if end < 0:
            end = _cut_end(text, at, literal) if may_be_cut and not is_exact else -1
            return None if end < 0 else (*values, text[at:end])
        values.append(text[at:end])
        at = end + len(literal)
    last = literals[-1]
    if not last:
        rest = text[at:]
        if not rest.endswith(_CUT):
            values.append(rest.partition(" ")[0].rstrip(",;") if wording.is_open else rest)
        return tuple(values)
    if is_exact and not wording.is_open:
        end = len(text) - len(last)
        if end < at or not text.endswith(last):
            return None
    else:
        end = at - 1 if _is_empty(text, at, last) else text.find(last, at)
        if end < 0 and may_be_cut:
            end = _cut_end(text, at, last)
        if end < 0 or (len(last) < _TAIL_MIN and not wording.is_open):
            return None
    values.append(text[at:end] if end > at else "")
    return tuple(values)


def _begun_best(some: Sequence[Wording], text: str) -> tuple[_Begun, ...]:
    """Return the wording with the largest part in an incomplete text, the shortest of equals, and its values.

    With equals of several rules, return one of each.
    """
    fits = [(wording, *begun) for wording in some if (begun := _begun(wording, text)) is not None]
    most = max((size for _, size, _ in fits), default=0)
    longest_first = sorted(fits, key=lambda fit: -sum(map(len, fit[0].literals)))
    best = {wording.rule.id: (wording, values) for wording, size, values in longest_first if size == most}
    return tuple(best.values())


def _begun(wording: Wording, text: str) -> tuple[int, tuple[str, ...]] | None:
    """Return how many characters of a wording are in an incomplete text, and the values before its end.

    None if it has another wording, or too few characters to tell.
    """
    literals, values = wording.literals, []
    if not text.startswith(literals[0]):
        return (len(text), ()) if len(text) >= _WHOLE_MIN and literals[0].startswith(text) else None
    at = size = len(literals[0])
    for literal in literals[1:]:
        # An end of one character is in many a value.
        is_found = len(literal) >= _TAIL_MIN or literal is not literals[-1]
        end = text.find(literal, at) if is_found else -1
        if end < 0:
            end = _cut_end(text, at, literal)
            if end >= 0:
                values.append(text[at:end])
            size += next((count for count in range(len(literal), 0, -1) if text.endswith(literal[:count], at)), 0)
            break
        values.append(text[at:end])
        at = end + len(literal)
        size += len(literal)
    return (size, tuple(values)) if size >= _WHOLE_MIN else None


def _is_empty(text: str, at: int, literal: str) -> bool:
    """Return whether a value is empty where two spaces around it have become one, as on pages."""
    return literal[:1] == " " != literal and text[at - 1 : at] == " " and text.startswith(literal[1:], at)


def _cut_end(text: str, at: int, last: str) -> int:
    """Return the end of a value before a text within which the message ends; -1 if it does not."""
    text = text.rstrip(">.… ")
    begin = text.find(last[:_CUT_MIN], max(at, len(text) - len(last))) if len(last) > _CUT_MIN else -1
    while begin >= 0 and not last.startswith(text[begin:]):
        begin = text.find(last[:_CUT_MIN], begin + 1)
    return begin
