"""Commands as typer makes them, with kcheck's help, old names and errors."""

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from kcheck.cli.renamed import renamed_command, rewritten
from kcheck.cli.report_output import remember_command
from kcheck.cli.settings import defaults, note_sources
from kcheck.errors import EMPTY_PATH, UsageError
from kcheck.model.report import CommandLine

_PATHS = re.compile(r"^(?:PATH|FILE|DIR|KEYFILE|PLAN|PLACE|ROOT|RUN|BEFORE|AFTER)\b|=PATH|\|FILE")
"""The first or last part of the metavar of a path."""
_NO_PATH = re.compile(r"\d+=")
BRIEF = "kcheck.brief"
"""The place where a context remembers that `-h` was typed, not `--help`."""


def path_of(context: Any) -> str:
    """Return the words that name a command, without `kcheck`: `fleet scan`."""
    return str(context.command_path).partition(" ")[2]


class RunnableCommand(TyperCommand):
    """A command."""

    def __init__(self, *args: Any, **given: Any) -> None:
        super().__init__(*args, **given)
        self.params.append(
            TyperOption(
                param_decls=["--exit-zero"],
                is_flag=True,
                default=False,
                expose_value=False,
                callback=_keep_zero,
                help="Exit 0 where the answer is 1, for scripts that read the answer.",
            )
        )

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments; old names mean the new ones."""
        ctx.meta[BRIEF] = "-h" in args and "--help" not in args
        options = [part for part in self.params if isinstance(part, TyperOption)]
        takes = {name for part in options if not part.is_flag for name in part.opts}
        args, notices = rewritten(path_of(ctx), args, takes)
        if notices and {"-q", "--quiet"}.isdisjoint(args):
            for notice in notices:
                print(f"kcheck: {notice}", file=sys.stderr)
        settings = defaults(path_of(ctx), (name[2:] for part in options for name in part.opts if name[:2] == "--"))
        by_name = {name[2:]: part for part in options for name in part.opts}
        ctx.default_map = {by_name[name].name: _value(by_name[name], row.value) for name, row in settings.items()}
        rest = super().parse_args(ctx, args)
        typed_parts = (part for part in self.params if ctx.get_parameter_source(part.name).name == "COMMANDLINE")
        if any(_is_empty_path(part.metavar, ctx.params.get(part.name)) for part in typed_parts):
            raise UsageError(EMPTY_PATH)
        note_sources({
            name: row.source for name, row in settings.items()
            if ctx.get_parameter_source(by_name[name].name).name == "DEFAULT_MAP"
        })  # fmt: skip
        return rest

    def invoke(self, ctx: Any) -> Any:
        """Run the command; with --exit-zero, the exit code 1 becomes 0."""
        remember_command(typed(self.params, ctx))
        try:
            return super().invoke(ctx)
        except typer.Exit as ended:
            if ended.exit_code == 1 and ctx.meta.get(_ZERO):
                raise typer.Exit(0) from None
            raise

    def get_help(self, ctx: Any) -> str:
        """Return the help: `-h` in short."""
        return _help(self, ctx)


class CommandGroup(TyperGroup):
    """A command with commands below it."""

    default: str | None = None
    """The command that runs where none is named."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments up to the name of the command; an old name means the new one."""
        ctx.meta[BRIEF] = "-h" in args and "--help" not in args
        args, notice = renamed_command(path_of(ctx), args)
        if notice is not None and {"-q", "--quiet"}.isdisjoint(args):
            print(f"kcheck: {notice}", file=sys.stderr)
        if self.default is not None and args and args[0] not in (*self.commands, "-h", "--help"):
            args = [self.default, *args]
        return super().parse_args(ctx, args)

    def get_help(self, ctx: Any) -> str:
        """Return the help: `-h` in short."""
        return _help(self, ctx)


_ZERO = "kcheck.exit-zero"


def typed(parameters: Iterable[Any], context: Any) -> CommandLine:
    """Return the arguments and options that the user typed."""
    arguments: list[str] = []
    options: list[tuple[str, str | None]] = []
    for part in parameters:
        value = context.params.get(part.name)
        if not isinstance(part, TyperOption):
            arguments += value if isinstance(value, (list, tuple)) else [] if value is None else [str(value)]
        elif value is not None and context.get_parameter_source(part.name).name == "COMMANDLINE":
            options += _typed(part, value)
    return CommandLine(tuple(arguments), tuple(options))


def _typed(part: TyperOption, value: object) -> Iterator[tuple[str, str | None]]:
    if part.is_flag:
        names = part.opts if value else part.secondary_opts
        yield from ((name, None) for name in names[-1:])
        return
    for one in value if isinstance(value, (list, tuple)) else [value]:
        yield max(part.opts, key=len), str(one)


def _value(part: TyperOption, value: object) -> object:
    """Return a default in the form of its option; a repeatable option turns one text into a list."""
    return [value] if part.multiple and isinstance(value, str) else value


def _is_empty_path(metavar: object, value: object) -> bool:
    """Return whether an argument or an option takes paths, and got an empty one, also after `BROKER=`."""
    if not isinstance(metavar, str) or _PATHS.search(metavar) is None:
        return False
    texts = value if isinstance(value, (list, tuple)) else [value]
    return any(text == "" or ("=PATH" in metavar and _NO_PATH.fullmatch(str(text)) is not None) for text in texts)


def _keep_zero(context: Any, part: Any, value: bool) -> None:
    del part
    context.meta[_ZERO] = value


def _help(command: Any, context: Any) -> str:
    from kcheck.cli.command_tree import described
    from kcheck.cli.help_pages import page

    return page(described(command, context), brief=context.meta.get(BRIEF, False))


def commands_of(name: str, function: Callable[..., None], *, hidden: bool) -> Any:
    """Return the command that runs a function."""
    app = typer.Typer(rich_markup_mode=None, add_completion=False)
    app.command(name, cls=RunnableCommand, hidden=hidden)(function)
    return typer.main.get_command(app)
