"""Man pages from the help of the commands, by the path of each below `share`."""

from collections.abc import Iterable, Iterator, Mapping

from kcheck import __version__
from kcheck.cli.command_tree import OWN, Command, Option, command_tree
from kcheck.cli.environment import FILES, VARIABLES
from kcheck.core.releases.releases import AS_OF


def pages() -> dict[str, str]:
    """Return the pages in roff, kcheck.1, and one for each command, such as kcheck-fleet-scan.1."""
    root, by_path = command_tree()
    return {f"man/man1/{_title(command)}.1": _page(command, root, by_path) for command in root.walk()}


def _title(command: Command) -> str:
    return "-".join(command.path)


def _page_name(key: str) -> str:
    """Return the name of the page of a command, such as `fleet scan`."""
    return f"kcheck-{key.replace(' ', '-')}"


def _page(command: Command, root: Command, by_path: Command) -> str:
    name, is_root = _title(command), command is root
    lines = [
        f'.TH "{_text(name.upper())}" "1" "{AS_OF}" "kcheck {__version__}" "kcheck"',
        ".SH NAME",
        f"{_text(name)} \\- {_text(command.short.rstrip('.'))}",
        ".SH SYNOPSIS",
        *_synopsis(command),
        *([".br", *_synopsis(by_path, "kcheck")] if is_root else []),
        ".SH DESCRIPTION",
        *_paragraphs(command.words),
    ]
    if is_root:
        lines += [".PP", *_paragraphs(f"With a path instead of a command: {by_path.words}")]
    if command.commands:
        lines += [".SH COMMANDS"]
        for below in command.commands:
            lines += [".TP", f"\\fB{_text(' '.join(below.path[1:]))}\\fR", _line(below.short)]
    lines += _section("ARGUMENTS", {OWN: command.arguments}) + _section("OPTIONS", command.groups)
    if is_root:
        lines += _section("OPTIONS WITH A PATH", by_path.groups)
    if is_root or not command.commands:
        lines += _sections_of_help(by_path if is_root else command)
    above = () if is_root else tuple(one for one in root.walk() if command in one.commands)
    named = [_title(other) for other in (*above, *command.commands)]
    lines += [".SH SEE ALSO", *_references(dict.fromkeys((*named, *map(_page_name, command.see_also))))]
    if command.guide:
        lines += [".PP", _line(command.guide)]
    return "\n".join(lines) + "\n"


def _sections_of_help(command: Command) -> Iterator[str]:
    """Yield what the help of a command says after its options, and what the help topic `environment` says of files."""
    yield ".SH EXAMPLES"
    yield from _as_it_is(command.examples)
    yield ".SH EXIT STATUS"
    for code, words in command.exit_codes:
        yield from (".TP", f"\\fB{code}\\fR", _line(words))
    yield ".SH ENVIRONMENT"
    for variable in VARIABLES:
        if variable.name in command.variables:
            yield from (".TP", f"\\fB{_text(variable.name)}\\fR", _line(variable.words))
    yield ".SH FILES"
    yield from _as_it_is(FILES.splitlines()[2:])


def _as_it_is(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines that are not filled."""
    yield from (".nf", *map(_line, lines), ".fi")


def _synopsis(command: Command, typed: str = "") -> Iterator[str]:
    yield f"\\fB{_text(typed or ' '.join(command.path))}\\fR {_text(command.usage)}"


def _section(title: str, groups: Mapping[str, Iterable[Option]]) -> list[str]:
    """Return a section with the options in their groups."""
    lines: list[str] = []
    for group, options in groups.items():
        rows = [part for option in options for part in (".TP", f"\\fB{_text(option.shown)}\\fR", _line(option.words))]
        lines += [f".SS {group}", *rows] if rows and group != OWN else rows
    return [f".SH {title}", *lines] if lines else []


def _references(names: Iterable[str]) -> Iterator[str]:
    in_order = list(names)
    for number, name in enumerate(in_order, start=1):
        yield f".BR {_text(name)} (1){',' if number < len(in_order) else ''}"


def _paragraphs(words: str) -> Iterator[str]:
    for number, paragraph in enumerate(words.split("\n\n")):
        if number:
            yield ".PP"
        yield _line(" ".join(paragraph.split()))


def _line(words: str) -> str:
    """Return text as one line that is no request, whatever it begins with."""
    text = _text(words) or "\\&"
    return f"\\&{text}" if text[0] in ".'" else text


def _text(words: str) -> str:
    return words.replace("\\", "\\e").replace("-", "\\-")
