"""Slow and obvious twins of what kcheck does fast."""

from kcheck.model.java import INT_MAX, INT_MIN, LONG_MAX, LONG_MIN

WHITE_SPACE = " \t\n\x0b\f\r"


def number(text: str, least: int, most: int) -> int | None:
    """Read a number digit by digit."""
    sign, digits = (-1, text[1:]) if text.startswith("-") else (1, text.removeprefix("+"))
    value = 0
    for digit in digits:
        if not digit.isdecimal() or digit > "\uffff":
            return None
        value = value * 10 + int(digit)
    return sign * value if digits and least <= sign * value <= most else None


def lines(text: str) -> list[str]:
    """Split text character by character."""
    found, line, at = [], "", 0
    while at < len(text):
        if text[at] in "\r\n":
            found.append(line)
            line = ""
            at += 2 if text[at : at + 2] == "\r\n" else 1
        else:
            line += text[at]
            at += 1
    return [*found, line] if line else found


def fields(line: str) -> list[str]:
    """Split a line character by character; runs of white space are one separator, trailing empty fields go."""
    found, in_white_space = [""], False
    for character in line:
        if character not in WHITE_SPACE:
            found[-1] += character
            in_white_space = False
        elif not in_white_space:
            found.append("")
            in_white_space = True
    while len(found) > 1 and not found[-1]:
        found.pop()
    return found


def read_checkpoint(data: bytes, width: int) -> list[tuple[str | int, ...]] | str:
    """Read a checkpoint line by line as CheckpointFile 3.1 to 4.3.1: the entries, or the exception; all of it UTF-8."""
    found = lines(data.decode())
    if not found:
        return []
    if number(found[0], INT_MIN, INT_MAX) != 0:
        return "IOException"
    if len(found) == 1:
        return []
    count = number(found[1], INT_MIN, INT_MAX)
    if count is None:
        return "IOException"
    if count < 0:
        return "IllegalArgumentException"
    if count >= 1 << 28:
        return "OutOfMemoryError"
    entries: list[tuple[str | int, ...]] = []
    for line in found[2:]:
        parts = fields(line)
        if len(parts) != width:
            return "IOException"
        first, second = number(parts[-2], INT_MIN, INT_MAX), number(parts[-1], LONG_MIN, LONG_MAX)
        if first is None or second is None:
            return "NumberFormatException"
        entries.append((*parts[:-2], first, second))
    return entries if len(entries) == count else "IOException"
