"""Texts as words of shell commands."""

import shlex
from collections.abc import Iterable


def shell_word(text: str) -> str:
    """Return a text as one word of a shell command; what cannot be printed is escaped as bash does it."""
    if text.isprintable():
        return shlex.quote(text)
    return "$'" + "".join(map(_escaped, text)) + "'"


def shell_line(words: Iterable[str]) -> str:
    """Return the words of a command as one line."""
    return " ".join(map(shell_word, words))


def _escaped(character: str) -> str:
    if character in "'\\":
        return f"\\{character}"
    if character.isprintable():
        return character
    return "".join(f"\\x{byte:02x}" for byte in character.encode(errors="surrogatepass"))
