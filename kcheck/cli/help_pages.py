"""The help of a command: `-h` in short, `--help` with every option."""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from textwrap import wrap

from kcheck.cli.command_tree import OWN, SHORT, Command, Option
from kcheck.cli.commands import TWO_WORDS

_WIDTH, _COLUMN, _TITLE = 80, 26, 15
_VALUE = re.compile(r"(\s--?[a-z-]+) (?!-)")
"""An option with its value."""


def page(command: Command, *, brief: bool) -> str:
    """Return the help of a command, without the line break at its end."""
    lines = [f"Usage: {command.typed} {command.usage}", "", *_paragraphs(command.words, brief=brief), ""]
    for option in command.arguments:
        lines += _row(option.shown, option.words)
    groups = _groups(command, brief=brief)
    shown_in_full = [title for title in groups if not (brief and title in SHORT)]
    for title in shown_in_full:
        lines += [] if brief and title != OWN and OWN in shown_in_full else [title]
        lines += [line for option in groups[title] for line in _row(option.shown, option.words)]
    for title in groups:
        if title not in shown_in_full:
            names = " ".join(map(_short_name, groups[title]))
            lines += wrap(names, _WIDTH, initial_indent=f"{title:{_TITLE}}", subsequent_indent=" " * _TITLE)
    if command.commands:
        lines += ["Commands", *(line for below in command.commands for line in _row(below.name, below.short))]
    if command.examples:
        lines += ["", "Examples", *(line for example in command.examples for line in _example(example))]
    lines += _end(command, brief=brief)
    return "\n".join(line for line, after in pairwise([*lines, ""]) if line or after)


def _groups(command: Command, *, brief: bool) -> dict[str, list[Option]]:
    """Return the options by group; the short help, and the help of a group of commands, leave out --help."""
    left_out = "--help" if brief or command.commands else ""
    groups = {
        title: [option for option in options if left_out not in option.names]
        for title, options in command.groups.items()
    }
    return {title: options for title, options in groups.items() if options}


def _end(command: Command, *, brief: bool) -> Iterator[str]:
    """Yield the exit codes, and what to read next."""
    full = f"All options: {command.typed} --help"
    if command.commands:
        yield from ("", f"Options of a command: {command.typed} COMMAND -h")
        yield from [command.guide] if command.guide else ()
    elif brief:
        lines = wrap(f"Exit code: {command.exit_line}.", _WIDTH, break_on_hyphens=False)
        *above, last = lines
        yield from [command.guide] if command.guide else ()
        yield from (*above, f"{last} {full}") if len(last) + len(full) < _WIDTH else (*lines, full)
    else:
        yield from ("", "Exit codes")
        for code, words in command.exit_codes:
            yield from wrap(words, _WIDTH, initial_indent=f"  {code:5}", subsequent_indent=" " * 7)
        others = [f"kcheck {TWO_WORDS.get(name, name)}" for name in command.see_also]
        yield ""
        yield from [command.guide] if command.guide else ()
        yield from _listed("Environment: ", command.variables)
        yield from _listed("See also: ", [*others, "kcheck help topics"])


def _listed(title: str, words: Iterable[str]) -> list[str]:
    return wrap(title + ", ".join(words), _WIDTH, break_on_hyphens=False, subsequent_indent=" " * len(title))


def _paragraphs(words: str, *, brief: bool) -> Iterator[str]:
    for number, paragraph in enumerate(words.split("\n\n")[: 1 if brief else None]):
        if number:
            yield ""
        yield from wrap(" ".join(paragraph.split()), _WIDTH, break_on_hyphens=False)


def _row(name: str, words: str) -> Iterator[str]:
    """Yield an option or a command with its words next to it, or below it if its name is long."""
    indent = " " * _COLUMN
    first = f"  {name}"
    if len(first) > _COLUMN - 2:
        yield from _pieces(first)
        first = ""
    yield from wrap(
        words, _WIDTH, initial_indent=first.ljust(_COLUMN), subsequent_indent=indent, break_on_hyphens=False
    ) or [first]


def _pieces(shown: str) -> Iterator[str]:
    """Yield the name of an option in lines that fit; a long list of words breaks at its bars."""
    while len(shown) > _WIDTH:
        at = shown.rindex("|", 0, _WIDTH) + 1
        yield shown[:at]
        shown = " " * 6 + shown[at:]
    yield shown


def _example(example: str) -> Iterator[str]:
    """Yield an example; a long one continues in the next line, as a shell accepts, but not before a value."""
    joined = _VALUE.sub("\\1\xa0", example)
    lines = wrap(joined, _WIDTH - 4, break_on_hyphens=False, break_long_words=False, subsequent_indent="  ")
    lines = [line.replace("\xa0", " ") for line in lines]
    yield from (f"  {line} \\" for line in lines[:-1])
    yield f"  {lines[-1]}"


def _short_name(option: Option) -> str:
    """Return the name in the line of a group, which is short for output and quiet, and else long."""
    names = [name for name in option.names if not name.startswith("--")] or list(option.names)
    return names[0]
