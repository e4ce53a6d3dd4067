"""Lines of numbers and constant texts, thousands at a time, as numpy arrays of characters."""

from functools import cache

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]

Characters = npt.NDArray[np.uint8]
"""A row per line, or one for all lines, in Latin-1; a zero is not a character."""

_GROUP = 10_000
_POWERS = 10 ** np.arange(1, 19, dtype=np.uint64)
_BREAK = "\1"
END = "\3"
"""Ends a text of several lines."""


def text(constant: str) -> Characters:
    """Return the characters of a text that is the same in all lines."""
    return np.frombuffer(constant.encode("latin-1"), np.uint8).reshape(1, -1)


def texts(of_lines: list[str]) -> Characters:
    """Return the characters of one text per line."""
    column = np.array(of_lines, np.bytes_)
    return column.view(np.uint8).reshape(column.size, -1)


def number(column: Integers) -> Characters:
    """Return the digits of one number per line."""
    if (column == column[0]).all():
        return text(str(column[0]))
    left = np.abs(column).view(np.uint64)
    groups = list[npt.NDArray[np.uint32]]()
    while not groups or left.any():
        rest = left // _GROUP
        group = left - rest * _GROUP
        group[rest == 0] += _GROUP
        groups.append(_digits(is_last=not groups).take(group.view(np.int64)))
        left = rest
    digits = np.stack(groups[::-1], axis=1).view(np.uint8)
    return np.hstack([only(text("-"), column < 0), digits]) if column.min() < 0 else digits


@cache
def _digits(*, is_last: bool) -> npt.NDArray[np.uint32]:
    """Return the characters of 0 to 9999, first with leading zeros, then without.

    0 is shown in the last group only.
    """
    numbers = range(_GROUP)
    digits = [*(b"%04d" % one for one in numbers), *(b"%d" % one if one or is_last else b"" for one in numbers)]
    return np.frombuffer(b"".join(one.rjust(4, b"\0") for one in digits), np.uint32)


def number_width(column: Integers) -> Integers:
    """Return how many characters each number has."""
    width: Integers = np.searchsorted(_POWERS, np.abs(column).view(np.uint64), "right") + 1 + (column < 0)
    return width


def only(characters: Characters, where: npt.NDArray[np.bool_]) -> Characters:
    """Return the characters of some lines, none for the others."""
    return characters * where[:, None]


def spaces(count: Integers) -> Characters:
    """Return as many spaces per line."""
    if (count == count[0]).all():
        return text(" " * int(count[0]))
    return np.where(np.arange(count.max()) < count[:, None], np.uint8(ord(" ")), np.uint8(0))


def joined(parts: list[Characters], count: int) -> bytes:
    """Return the characters of `count` lines."""
    ends = np.cumsum([part.shape[1] for part in parts]).tolist()
    lines = np.empty((count, ends[-1]), np.uint8)
    for part, end in zip(parts, ends, strict=True):
        lines[:, end - part.shape[1] : end] = part
    return lines.tobytes().translate(None, b"\0")


def wrapped(lines: bytes, width: int, indent: str, hanging: str) -> list[str]:
    """Return each line, split as `wrap` does it; no line begins or ends with a space."""
    octets = np.frombuffer(lines, np.uint8).copy()
    begin, end = _runs_of_spaces(octets)
    ends = np.flatnonzero(octets == ord("\n"))
    starts = np.concatenate(([0], ends[:-1] + 1))
    room = width - len(indent)
    while (is_long := ends - starts > room).any():
        starts, ends = starts[is_long], ends[is_long]
        run = np.maximum(np.searchsorted(begin, starts + room, "right") - 1, 0)
        run += begin[run] < starts  # a word that is longer than the line
        has_space = begin[run] < ends
        run, ends = run[has_space], ends[has_space]
        _drop(octets, begin[run], end[run])
        octets[begin[run]] = ord(_BREAK)
        starts, room = end[run], width - len(hanging)
    marked = octets.tobytes().translate(None, b"\0").replace(b"\n", f"\n{END}{indent}".encode())
    return shown(indent.encode() + marked.replace(_BREAK.encode(), f"\n{hanging}".encode()))


def _runs_of_spaces(octets: Characters) -> tuple[Integers, Integers]:
    """Return the starts and exclusive ends of runs of spaces; the last run is empty, after all characters."""
    is_space = np.concatenate(([False], octets == ord(" "), [False]))
    edges = np.flatnonzero(is_space[1:] != is_space[:-1])
    return np.append(edges[::2], octets.size), np.append(edges[1::2], octets.size)


def _drop(octets: Characters, begin: Integers, end: Integers) -> None:
    """Remove the characters of these ranges."""
    sizes = end - begin
    octets[np.repeat(begin - (np.cumsum(sizes) - sizes), sizes) + np.arange(sizes.sum())] = 0


def shown(lines: bytes) -> list[str]:
    """Return the texts before each END."""
    return lines.decode("latin-1").split(END)[:-1]
