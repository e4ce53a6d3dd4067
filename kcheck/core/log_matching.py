"""Which wording of the catalogue a message has, and the values in it.

Matching takes time linear in the length of a message: the first words choose the candidates, and the texts between the
values are searched one after the other.
"""

from collections.abc import Sequence
from typing import NamedTuple

from kcheck.core.log_catalogue import Catalogue, Wording, can_write
from kcheck.core.log_frames import bodies, logger_of, without_logger

MESSAGE_SIZE_MAX = 16_384
"""Characters of a message that are looked at."""
CALM = ("TRACE", "DEBUG", "INFO")
"""Levels of which most messages of a log are."""
_TAIL_MIN = 4
"""A message may go on after its last text, if that is at least this long."""
_CUT = ("...", "…")
"""They end a text that was cut: its last value is not complete."""
_CUT_MIN = 10
"""Characters of the last text that must be there if the end of a message is missing."""
_REQUIRED = "requirement failed: "
"""Scala writes it before the text of a failed precondition."""
_WHOLE_MIN = 20
"""Or, without values, if it is at least this long."""


class Match(NamedTuple):
    """A wording that a message has."""

    wording: Wording
    values: tuple[str, ...]
    prefix: str
    """What stands before the message, in brackets."""


def match(
    catalogue: Catalogue, message: str, *, level: str | None = None, logger: str | None = None, is_thrown: bool = False
) -> Match | None:
    """Return the wording that a message, or the text of an exception, has without prefixes and logger; None if none.

    `level`, `logger`: those of the message, if they are known; the logger may be in the message too.
    """
    message = message[:MESSAGE_SIZE_MAX]
    if is_thrown:
        return _match(catalogue, message.removeprefix(_REQUIRED), None, catalogue.thrown_by_value)
    by_value = catalogue.calm_by_value if level in CALM else catalogue.by_value
    return _match(catalogue, message, logger, by_value)


def _match(
    catalogue: Catalogue, message: str, logger: str | None, by_value: tuple[tuple[str, Wording], ...]
) -> Match | None:
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
            for is_exact in (True, False):
                for wording in some:
                    values = _values(wording, rest, is_exact=is_exact, may_be_cut=may_be_cut)
                    if values is None:
                        continue
                    if not wording.is_short or can_write(wording.classes, logger or logger_of(message)):
                        return Match(wording, values, prefix)
    return None


def _candidates(catalogue: Catalogue, body: str, by_value: tuple[tuple[str, Wording], ...]) -> Sequence[Wording]:
    """Return the wordings with the first words of a message: most messages have none."""
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
    """Return the values of a wording in a text, the first ones if it was cut; None if it has another one.

    An exact match ends where the wording does; else a longer text may follow, as that of an exception. A message before
    a logger was not cut.
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


def _is_empty(text: str, at: int, literal: str) -> bool:
    """Whether a value is empty where two spaces around it have become one, as on pages."""
    return literal[:1] == " " != literal and text[at - 1 : at] == " " and text.startswith(literal[1:], at)


def _cut_end(text: str, at: int, last: str) -> int:
    """Return where a value ends before a text within which the message was cut; -1 if it was not."""
    begin = text.rfind(last[:_CUT_MIN], at) if len(last) > _CUT_MIN else -1
    return begin if begin >= 0 and last.startswith(text[begin:].rstrip(">.… ")) else -1
