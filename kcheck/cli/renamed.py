"""Old names of options and commands, which work for one release, with a line on stderr."""

from collections.abc import Collection, Iterator
from typing import NamedTuple

ALL = ""
"""Stands for every command."""


class Renamed(NamedTuple):
    """An option with another name since this release."""

    command: str
    """The command, such as `fleet scan`; `ALL` for every command."""
    old: str
    new: tuple[str, ...]
    """The new words."""
    shown: str = ""
    """Its form in the line on stderr, if different."""


RENAMED = (
    Renamed(ALL, "--no-color", ("--color", "never")),
    Renamed("apply", "--at", ("--map",)),
    Renamed("capture", "--limit", ("--max-size",)),
    Renamed("capture", "--list", ("--dry-run",)),
    Renamed("capture", "--with-logs", ("--with-server-log",)),
    Renamed("cluster", "--brokers", ("--table", "brokers")),
    Renamed("cluster", "--history", ("--changes",)),
    Renamed("demo", "--keep", ("--dir",)),
    Renamed("dump", "--producer", ("--producer-id",)),
    Renamed("elect", "--out", ("--output-dir",)),
    Renamed("recover", "--out", ("--output-dir",)),
    Renamed("recover-quorum", "--out", ("--output-dir",)),
    Renamed("fleet scan", "--logs", ("--server-logs",)),
    Renamed("fleet scan", "--out", ("--output-dir",)),
    Renamed("fleet scan", "--since", ("--since-run",)),
    *(
        Renamed(command, "--log", ("--server-log",))
        for command in (
            "overview", "check", "inspect", "cluster", "predict", "preflight", "repair", "end-offset", "truncation",
            "recover", "elect", "verify",
        )
    ),
    Renamed("simulate search", "--depth", ("--max-events",)),
    Renamed("simulate search", "--states", ("--max-states",)),
    Renamed("simulate search", "--records", ("--appends",)),
    Renamed("simulate write", "--write", ("--output-dir",)),
    Renamed("simulate write", "--step", ("--after",)),
)  # fmt: skip

IGNORED: dict[str, tuple[str, ...]] = {
    "predict": ("--select", "--ignore", "--severity"),
    "preflight": ("--select", "--ignore", "--severity", "--fail-on", "--topic", "--partition"),
    "end-offset": ("--select", "--ignore", "--severity"),
    "verify": ("--select", "--ignore", "--severity"),
    **dict.fromkeys(("recover-quorum", "recover-metadata", "recover-topic"), ("--topic", "--partition")),
}
"""Options that never changed an answer of these commands; each takes a value."""

COMMANDS = {("fleet", "history"): "trend"}
"""Old names of commands below a group, and the new ones."""

MODES = {"--list": "list", "--search": "search", "--reproduce": "script", "--write": "write"}
"""Options of `simulate` that are commands now."""


def rewritten(command: str, args: list[str], takes: Collection[str]) -> tuple[list[str], list[str]]:
    """Return arguments with new names for old ones, and a notice for each; `takes` are the options with a value."""
    renamed = {row.old: row for row in RENAMED if row.command in (ALL, command) and row.old not in takes}
    ignored = IGNORED.get(command, ())
    kept, notices = list[str](), list[str]()
    left = iter(args)
    for word in left:
        name, equals, value = word.partition("=") if word.startswith("--") else (word, "", "")
        if word == "--":
            kept += [word, *left]
        elif name in ignored:
            notices.append(f"{command} ignores {name}; it will be refused in the next release")
            _ = value if equals else next(left, "")
        elif name in renamed:
            new = renamed[name].new
            notices.append(f"{name} is now {' '.join(new)}")
            kept += [*new[:-1], f"{new[-1]}={value}"] if equals else new
            kept += _value(left) if not equals and new[-1] in takes else []
        else:
            kept.append(word)
            kept += _value(left) if not equals and name in takes else []
    return kept, notices


def _value(left: Iterator[str]) -> list[str]:
    """Return the value that follows an option; none at the end of the line."""
    value = next(left, None)
    return [] if value is None else [value]


def renamed_command(group: str, args: list[str]) -> tuple[list[str], str | None]:
    """Return arguments with the new name of a command below a group, and a notice if it has one."""
    if args and (group, args[0]) in COMMANDS:
        new = COMMANDS[group, args[0]]
        return [new, *args[1:]], f"{group} {args[0]} is now {group} {new}"
    if group != "simulate" or (args and args[0] in MODES.values()):
        return args, None
    names = {word.partition("=")[0]: word for word in args}
    mode = next((mode for mode in MODES if mode in names), None)
    if mode is None:
        return args, None
    rest = args if mode == "--write" else [word for word in args if word != mode]
    return [MODES[mode], *rest], f"simulate {mode} is now simulate {MODES[mode]}"
