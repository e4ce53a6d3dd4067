"""The `kcheck` command: command groups, exit codes, and the last line on stderr."""

import atexit
import contextlib
import gc
import importlib
import itertools
import os
import sys
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, NoReturn

# numpy's thread pool would spin for longer than most commands take.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Arrow's own pool takes a fifth more memory in a fleet scan and saves no time.
os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
# kcheck's values form no reference cycles; searching for some took a sixth of every start.
gc.set_threshold(100_000)
# At exit Python would search twice more.
atexit.register(gc.freeze)

import typer
from typer.core import TyperGroup

from kcheck.cli.report_output import UNCHANGED, failed_line, remember
from kcheck.errors import KcheckError, UsageError
from kcheck.screen.printable import printable

_GROUPS = {
    "Look": ("inspect", "check", "cluster", "tiered", "dump", "capture", "export", "rules", "explain"),
    "Plan": ("predict", "preflight", "end-offset", "truncation", "recover", "elect", "verify", "repair"),
    "Act": ("apply", "undo"),
    "Fleet": ("fleet",),
    "Learn": ("simulate", "demo"),
}
_TOGETHER: dict[tuple[str, ...], str] = {
    ("dump", "capture"): "Show a file; pack evidence without records.",
    ("rules", "explain"): "List the rules; explain some.",
    ("elect", "verify"): "Say who should lead; compare afterwards.",
    ("apply", "undo"): "Apply a plan; take it back.",
}
"""Commands that share a line of the help, and what it says."""
PATH_COMMAND = "overview"
"""The hidden command that runs when the first argument is a path."""
_HIDDEN = (PATH_COMMAND, "manual")
_NAMES_OF_COMMANDS = frozenset(itertools.chain.from_iterable(_GROUPS.values()))
_NAMES = (*itertools.chain.from_iterable(_GROUPS.values()), *_HIDDEN)


def _help_rows(names: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the commands of a group as the help shows them: some share a line."""
    first = {row[0]: row for row in _TOGETHER}
    later = {name for row in _TOGETHER for name in row[1:]}
    return (first.get(name, (name,)) for name in names if name not in later)


class _Commands(Mapping[str, Any]):
    """The commands by name; imports only the module of the command that runs."""

    def __getitem__(self, name: str) -> Any:
        """Return a command: the function named like its module, or `app` of a module with several commands."""
        if name not in _NAMES:
            raise KeyError(name)
        word = name.replace("-", "_")
        module = importlib.import_module(f"kcheck.cli.{word}")
        commands = getattr(module, "app", None)
        if commands is None:
            commands = typer.Typer(rich_markup_mode=None, add_completion=False)
            commands.command(name, hidden=name in _HIDDEN)(getattr(module, word))
        return typer.main.get_command(commands)

    def __iter__(self) -> Iterator[str]:
        return iter(_NAMES)

    def __len__(self) -> int:
        return len(_NAMES)


class _Grouped(TyperGroup):
    """Groups the commands by purpose: look, plan, act, fleet."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.commands = _Commands()  # type: ignore[assignment]  # read only

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the groups without blank lines, so that the help fits on one screen."""
        del ctx
        formatter.write_paragraph()
        rows = []
        for title, names in _GROUPS.items():
            heading = f"{title}:"
            for row in _help_rows(names):
                words = _TOGETHER.get(row) or self.commands[row[0]].get_short_help_str(limit=formatter.width)
                rows.append((f"{heading:7}{', '.join(row)}", words))
                heading = ""
        formatter.write_dl(rows)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take `kcheck --kafka 2.8 PATH` for `kcheck PATH --kafka 2.8`: only a command has such options."""
        own = {option for parameter in self.get_params(ctx) for option in parameter.opts}
        if args and args[0].startswith("-") and args[0] not in own and _NAMES_OF_COMMANDS.isdisjoint(args):
            args = [PATH_COMMAND, *args]
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Check a path that is given without a command."""
        if args and args[0] not in _NAMES:
            from kcheck.cli.overview import names_path

            if names_path(args[0]):
                return PATH_COMMAND, self.commands[PATH_COMMAND], args
            if os.sep in args[0]:
                raise UsageError(f"{args[0]}: no such file or directory")
        return super().resolve_command(ctx, args)


app = typer.Typer(
    name="kcheck",
    cls=_Grouped,
    rich_markup_mode=None,
    add_completion=False,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _version(wanted: bool) -> None:
    if not wanted:
        return
    from kcheck import __version__
    from kcheck.core.releases.releases import AS_OF, TABLE, TESTED

    print(f"kcheck {__version__}, Python {sys.version.split()[0]}, tested against Kafka {', '.join(TESTED)}")
    print(f"knows the releases {TABLE[0].first} to {TABLE[-1].last}, as of {AS_OF}")
    raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show versions and exit.")
    ] = False,
) -> None:
    """Check Kafka log directories offline: what is wrong, what the broker will do."""
    del version


def main() -> None:
    """Run the command line and exit."""
    _tolerant(sys.stdout)
    _tolerant(sys.stderr)
    remember(UNCHANGED)
    with _signals():
        try:
            app()
        except KcheckError as error:
            print(f"kcheck: {printable(error)}", file=sys.stderr)
            _end(error.exit_code, error)
        except KeyboardInterrupt as error:
            _end(130, error)
        except Exception as error:
            code = _unforeseen(error)
            if os.environ.get("KCHECK_DEBUG"):
                raise
            _end(code, error)


def _unforeseen(error: Exception) -> int:
    """Say what stopped a command, and return its exit code: pyarrow is missing, or kcheck has a bug."""
    if isinstance(error, ModuleNotFoundError) and (error.name or "").partition(".")[0] == "pyarrow":
        print("kcheck: Parquet and fleet need pyarrow, which is missing: pip install pyarrow", file=sys.stderr)
        return UsageError.exit_code
    print(f"kcheck: a bug in kcheck: {type(error).__name__}: {printable(error)}", file=sys.stderr)
    return KcheckError.exit_code


def _changes_files() -> bool:
    return sys.argv[1:2] != [] and sys.argv[1] in _GROUPS["Act"]


def _signals() -> contextlib.AbstractContextManager[None]:
    """Return a context that keeps a command that changes files from ending before its last line."""
    if not _changes_files():
        return contextlib.nullcontext()
    from kcheck.disk.signals import taken

    return taken()


def _end(code: int, error: BaseException) -> NoReturn:
    """End a command that failed; one that changes files says whether it did."""
    if _changes_files():
        line = failed_line(error)
        if "--quiet" not in sys.argv:
            print(line, file=sys.stderr)
        if code == UsageError.exit_code and line != UNCHANGED:
            code = KcheckError.exit_code  # Only its answer could not be written.
    sys.exit(code)


def _tolerant(stream: Any) -> None:
    """Escape characters that the terminal's encoding lacks, instead of failing."""
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="backslashreplace")
