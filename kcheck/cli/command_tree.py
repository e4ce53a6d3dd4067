"""The commands as values, from the same definitions as the help: man pages and shell completion are made of these."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import typer
from typer.main import get_command

from kcheck.cli.app import PATH_COMMAND, app


class Option(NamedTuple):
    """An option or argument, as the help shows it."""

    names: tuple[str, ...]
    """`-o` and `--output`; the name of an argument."""
    value: str
    """What stands for its value, such as `FILE` or `text|json`; empty for a flag."""
    words: str
    """What the help says, with the default."""
    shown: str
    """How the help writes it: `-o, --output FILE`."""
    is_repeatable: bool


class Command(NamedTuple):
    """A command, or a group of commands."""

    path: tuple[str, ...]
    """How it is typed: `kcheck`, `fleet`, `scan`."""
    usage: str
    """How its arguments are typed."""
    short: str
    """Its help in one line."""
    words: str
    """Its whole help."""
    arguments: tuple[Option, ...]
    options: tuple[Option, ...]
    commands: tuple["Command", ...]

    @property
    def name(self) -> str:
        """The word that is typed for it."""
        return self.path[-1]

    def walk(self) -> Iterator["Command"]:
        """Yield the command, and all below it."""
        yield self
        for command in self.commands:
            yield from command.walk()


def command_tree() -> tuple[Command, Command]:
    """Return `kcheck` with all its commands, and the command that a path without a command runs."""
    root = get_command(app)
    context = typer.Context(root, info_name="kcheck")
    by_path = root.commands[PATH_COMMAND]  # type: ignore[attr-defined]  # a group
    return _command(root, context), _command(by_path, typer.Context(by_path, parent=context, info_name=PATH_COMMAND))


def _command(command: Any, context: Any) -> Command:
    parameters = [(part, part.get_help_record(context)) for part in command.get_params(context)]
    shown = [(part, record) for part, record in parameters if record is not None]
    below = getattr(command, "commands", {})
    return Command(
        path=tuple(context.command_path.split()),
        usage=" ".join(command.collect_usage_pieces(context)),
        short=command.get_short_help_str(limit=200),
        words=command.help,
        arguments=tuple(_option(*found, context) for found in shown if found[0].param_type_name == "argument"),
        options=tuple(_option(*found, context) for found in shown if found[0].param_type_name == "option"),
        commands=tuple(
            _command(one, typer.Context(one, parent=context, info_name=name))
            for name, one in below.items()
            if not one.hidden
        ),
    )


def _option(part: Any, record: tuple[str, str], context: Any) -> Option:
    return Option(
        names=(*part.opts, *part.secondary_opts),
        value="" if getattr(part, "is_flag", False) else str(part.make_metavar(context)),
        words=record[1],
        shown=record[0],
        is_repeatable=getattr(part, "multiple", False),
    )
