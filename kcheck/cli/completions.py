"""Completion for bash, zsh and fish, by the path of each below `share`: no Python starts at a TAB.

Where nothing is known about a value, the shells complete file names.
"""

import re
from collections.abc import Iterable, Iterator
from importlib.resources import files as files_of

from kcheck import __version__
from kcheck.cli.command_tree import Command, Option, command_tree
from kcheck.cli.commands import GROUPS
from kcheck.cli.topics import TOPICS
from kcheck.core.releases.releases import TABLE
from kcheck.disk.package_data import document_shapes
from kcheck.documents.schema import documents
from kcheck.model.evidence import AUTO
from kcheck.model.finding import Severity
from kcheck.registry import plug_names

_CHOICE = re.compile(r"[a-z0-9]+(\|[a-z0-9]+)+")
_RULES = tuple(name.partition("_")[0].upper() for name in plug_names("kcheck.rules"))
_RELEASES = tuple(dict.fromkeys(".".join(row.first.split(".")[:2]) for row in TABLE))
_HISTORIES = tuple(
    sorted(file.name.partition(".")[0] for file in files_of("kcheck.histories").iterdir() if ".history" in file.name)
)
_WORDS = {
    "IDS": _RULES,
    "[RULE|PREMISE|LINE|LOG|DIR]...": _RULES,
    "LEVEL": tuple(map(str, Severity)),
    "NAME|FILE": _HISTORIES,
    "COMMAND|TOPIC": (*(name for group in GROUPS.values() for name in group), "topics", *TOPICS),
    "DOCUMENT": tuple(documents(document_shapes())),
    "RELEASE": (AUTO, *_RELEASES),
    "RELEASE|all": ("all", *_RELEASES),
}
"""Words for the placeholders of the help."""


def files() -> dict[str, str]:
    """Return the three files."""
    root, by_path = command_tree()
    return {
        "bash-completion/completions/kcheck": _bash(root, by_path),
        "zsh/site-functions/_kcheck": _zsh(root, by_path),
        "fish/vendor_completions.d/kcheck.fish": _fish(root, by_path),
    }


def _values(option: Option) -> tuple[str, ...]:
    if _CHOICE.fullmatch(option.value):
        return tuple(option.value.split("|"))
    return _WORDS.get(option.value, ())


def _names(commands: Iterable[Command]) -> str:
    return " ".join(command.name for command in commands)


def _leaves(root: Command) -> Iterator[Command]:
    return (command for command in root.walk() if not command.commands)


def _bash(root: Command, by_path: Command) -> str:
    groups = [command for command in root.walk() if command.commands]
    lines = [
        f"# bash completion of kcheck {__version__}, written by kcheck manual.",
        "_kcheck() {",
        '    local word=$2 before=$3 command=${COMP_WORDS[1]} at=2 words=""',
        '    [ "$before" = = ] && before=${COMP_WORDS[COMP_CWORD-2]}',
    ]
    for group in groups[1:]:
        lines.append(f'    [ "$command" = {group.name} ] && command="{group.name} ${{COMP_WORDS[2]}}" at=3')
    lines += ['    [ "$COMP_CWORD" -lt "$at" ] && command=${command% *} before=', '    case "$command" in']
    lines += [line for command in _leaves(root) for line in _bash_case(command, "'" + " ".join(command.path[1:]) + "'")]
    for group in groups[1:]:
        lines += [f"    {group.name}) words='{_names(group.commands)}' ;;"]
    lines += [
        *_bash_case(by_path, "*"),
        "    esac",
        f'    [ "$COMP_CWORD" -eq 1 ] && [ "${{word#-}}" = "$word" ] && words=\'{_names(root.commands)}\'',
        "    COMPREPLY=()",
        '    [ -n "$words" ] && mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")',
        "}",
        "complete -o bashdefault -o default -F _kcheck kcheck",
    ]
    return "\n".join(lines) + "\n"


def _bash_case(command: Command, pattern: str) -> Iterator[str]:
    yield f"    {pattern})"
    yield '        case "$before" in'
    for option in command.options:
        if values := _values(option):
            yield f"        {'|'.join(option.names)}) words='{' '.join(values)}' ;;"
    takes = [name for option in command.options if option.value and not _values(option) for name in option.names]
    if takes:
        yield f"        {'|'.join(takes)}) ;;"
    names = " ".join(name for option in command.options for name in option.names)
    words = " ".join(word for argument in command.arguments for word in _values(argument))
    yield f"        *) case \"$word\" in -*) words='{names}' ;; *) words='{words}' ;; esac ;;"
    yield "        esac ;;"


def _zsh(root: Command, by_path: Command) -> str:
    lines = [
        "#compdef kcheck",
        f"# zsh completion of kcheck {__version__}, written by kcheck manual.",
        "_kcheck() {",
        "    local -a commands",
        *_zsh_group(root, 2, list(_zsh_arguments(by_path))),
        "    case $words[2] in",
    ]
    for command in root.commands:
        lines += [f"    {command.name})"]
        if command.commands:
            lines += [*_zsh_group(command, 3, []), "    case $words[3] in"]
            for below in command.commands:
                lines += [f"    {below.name})", *_zsh_arguments(below), "    ;;"]
            lines += ["    esac"]
        else:
            lines += _zsh_arguments(command)
        lines += ["    ;;"]
    lines += ["    *)", *_zsh_arguments(by_path), "    ;;", "    esac", "}", '_kcheck "$@"']
    return "\n".join(lines) + "\n"


def _zsh_group(group: Command, at: int, more: list[str]) -> Iterator[str]:
    """Yield the lines that complete the name of a command, the word number `at`."""
    yield f"    if (( CURRENT == {at} )); then"
    yield "    commands=("
    yield from (f"        {_quoted(command.name + ':' + command.short)}" for command in group.commands)
    yield "    )"
    yield "    _describe -t commands command commands"
    yield from more
    yield "    return"
    yield "    fi"


def _zsh_arguments(command: Command) -> Iterator[str]:
    yield "    _arguments \\"
    for option in command.options:
        for name in option.names:
            words = _escaped(option.words)
            values = _values(option)
            action = f":{_escaped(option.value)}:" + (f"({' '.join(values)})" if values else "_files")
            takes = "=" if name.startswith("--") else "+"
            spec = f"{name}{takes}[{words}]{action}" if option.value else f"{name}[{words}]"
            yield f"        {_quoted('*' + spec if option.is_repeatable else spec)} \\"
    values = tuple(word for argument in command.arguments for word in _values(argument))
    words = f"_values rule {' '.join(values)}" if values else "_files"
    yield f"        {_quoted(f'*:argument:{words}')}"


def _escaped(words: str) -> str:
    return re.sub(r"([\[\]:\\])", r"\\\1", words)


def _quoted(words: str) -> str:
    return "'" + words.replace("'", "'\\''") + "'"


def _fish(root: Command, by_path: Command) -> str:
    lines = [f"# fish completion of kcheck {__version__}, written by kcheck manual."]
    for group in (command for command in root.walk() if command.commands):
        where = _fish_condition(group, but_not=_names(group.commands))
        for command in group.commands:
            lines.append(f"complete -c kcheck -n {where} -a {command.name} -d {_fish_quoted(command.short)}")
    lines += _fish_options(by_path, _fish_condition(root, but_not=_names(root.commands)))
    for command in _leaves(root):
        lines += _fish_options(command, _fish_condition(command))
    return "\n".join(lines) + "\n"


def _fish_condition(command: Command, but_not: str = "") -> str:
    parts = [f"__fish_seen_subcommand_from {name}" for name in command.path[1:]]
    parts += [f"not __fish_seen_subcommand_from {but_not}"] if but_not else []
    return "'" + "; and ".join(parts) + "'"


def _fish_options(command: Command, where: str) -> Iterator[str]:
    for option in command.options:
        for name in option.names:
            words = f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"
            if option.value:
                values = _values(option)
                words += f" -x -a '{' '.join(values)}'" if values else " -r"
            yield f"complete -c kcheck -n {where} {words} -d {_fish_quoted(option.words)}"
    for argument in command.arguments:
        if values := _values(argument):
            yield f"complete -c kcheck -n {where} -a '{' '.join(values)}'"


def _fish_quoted(words: str) -> str:
    return "'" + words.replace("\\", "\\\\").replace("'", "\\'") + "'"
