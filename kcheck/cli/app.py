"""The `kcheck` command: command groups, exit codes, and the last line on stderr."""

import atexit
import contextlib
import gc
import importlib
import io
import os
import sys
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, NoReturn

# numpy's thread pool would spin for longer than most commands take.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Arrow's own pool takes a fifth more memory in a fleet scan and saves no time.
os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
# kcheck's values form no reference cycles; searching for some took a sixth of every start.
gc.set_threshold(1_000_000)
# At exit Python would search twice more.
atexit.register(gc.freeze)

import typer

from kcheck.cli.command import CommandGroup, commands_of
from kcheck.cli.commands import CHANGE_FILES, HIDDEN, PATH_COMMAND, SENTENCES, TWO_WORDS, first_screen
from kcheck.cli.report_output import UNCHANGED, failed_line, remember
from kcheck.errors import KcheckError, UsageError, no_such_file
from kcheck.screen.printable import printable

_VISIBLE = frozenset(SENTENCES) - {PATH_COMMAND}
_WrongUsage: type[Exception] = typer.BadParameter.__mro__[1]
"""The error of typer for arguments that no command takes; its module moves between releases."""


class _Commands(Mapping[str, Any]):
    """The commands by name; imports only the module of the command that runs."""

    def __getitem__(self, name: str) -> Any:
        """Return a command: the function named like its module, or `app` of a module with several commands."""
        if name not in SENTENCES:
            raise KeyError(name)
        word = name.replace("-", "_")
        module = importlib.import_module(f"kcheck.cli.{word}")
        commands = getattr(module, "app", None)
        if commands is not None:
            return typer.main.get_command(commands)
        return commands_of(name, getattr(module, word), hidden=name in HIDDEN)

    def __iter__(self) -> Iterator[str]:
        return iter(SENTENCES)

    def __len__(self) -> int:
        return len(SENTENCES)


class _Root(CommandGroup):
    """`kcheck`: groups the commands by the question that they answer."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.commands = _Commands()  # type: ignore[assignment]  # read only

    def get_help(self, ctx: Any) -> str:
        """Return the first screen, without importing a command."""
        del ctx
        return first_screen()

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Accept options before the path: `kcheck --kafka 2.8 PATH` is `kcheck PATH --kafka 2.8`."""
        own = {option for parameter in self.get_params(ctx) for option in parameter.opts}
        if args and args[0].startswith("-") and args[0] not in own and _VISIBLE.isdisjoint(args):
            args = [PATH_COMMAND, *args]
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Check a path that is given without a command; `recover quorum` is a command of two words."""
        name = next((name for name, words in TWO_WORDS.items() if args[:2] == words.split()), None)
        if name is not None and "--next" not in args:
            return name, self.commands[name], args[2:]
        if args and args[0] not in SENTENCES:
            from kcheck.cli.overview import names_path

            if names_path(args[0]):
                return PATH_COMMAND, self.commands[PATH_COMMAND], args
            if os.sep in args[0] or not args[0]:
                broker, _, path = args[0].partition("=")
                raise UsageError(no_such_file(path if broker.isdigit() else args[0]))
        return super().resolve_command(ctx, args)


app: typer.Typer = typer.Typer(
    name="kcheck",
    cls=_Root,
    rich_markup_mode=None,
    add_completion=False,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if not wanted:
        return
    from kcheck.cli.version import version

    version()
    raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("-V", "--version", callback=_version, is_eager=True, help="Show versions and exit.")
    ] = False,
) -> None:
    """Check Kafka log directories offline: what is wrong, what the broker will do, which records you would lose.

    Only apply and undo write to log dirs.
    """
    del version


def main() -> None:
    """Run the command line and exit."""
    sys.stdout = _buffered(sys.stdout)
    _tolerant(sys.stdout)
    _tolerant(sys.stderr)
    remember(UNCHANGED)
    with _signals():
        try:
            sys.exit(app(prog_name="kcheck", standalone_mode=False))
        except _WrongUsage as error:
            from kcheck.cli.usage_errors import line_of

            print(line_of(error), file=sys.stderr)
            _end(UsageError.exit_code, error)
        except typer.Abort as error:
            _end(1, error)
        except KcheckError as error:
            from kcheck.cli.usage_errors import in_lower_case

            print(f"kcheck: {printable(in_lower_case(str(error)))}", file=sys.stderr)
            _end(error.exit_code, error)
        except KeyboardInterrupt as error:
            _end(130, error)
        except Exception as error:
            code = _unforeseen(error)
            if os.environ.get("KCHECK_DEBUG"):
                raise
            _end(code, error)


def _unforeseen(error: Exception) -> int:
    """Print why a command stopped (pyarrow is missing, or kcheck has a bug), and return its exit code."""
    if isinstance(error, ModuleNotFoundError) and (error.name or "").partition(".")[0] == "pyarrow":
        print(
            "kcheck: Parquet and fleet need pyarrow, which is missing; for example: pip install pyarrow",
            file=sys.stderr,
        )
        return UsageError.exit_code
    print(f"kcheck: a bug in kcheck: {type(error).__name__}: {printable(error)}", file=sys.stderr)
    return KcheckError.exit_code


def _changes_files() -> bool:
    return sys.argv[1:2] != [] and sys.argv[1] in CHANGE_FILES


def _signals() -> contextlib.AbstractContextManager[None]:
    """Return a context that keeps a command that changes files from ending before its last line."""
    if not _changes_files():
        return contextlib.nullcontext()
    from kcheck.disk.signals import taken

    return taken()


def _end(code: int, error: BaseException) -> NoReturn:
    """End a failed command; for a command that changes files, print whether it did."""
    if _changes_files():
        line = failed_line(error)
        if not {"--quiet", "-q"} & {*sys.argv}:
            print(line, file=sys.stderr)
        if code == UsageError.exit_code and line != UNCHANGED:
            code = KcheckError.exit_code  # Only its answer could not be written.
    sys.exit(code)


def _buffered(stream: Any) -> Any:
    """Return a stream with a buffer, as PYTHONUNBUFFERED has none.

    A signal ends a long write early, and only a buffer writes the rest.
    """
    raw = getattr(stream, "buffer", None)
    if not isinstance(raw, io.RawIOBase):
        return stream
    return io.TextIOWrapper(io.BufferedWriter(raw), stream.encoding, line_buffering=True)


def _tolerant(stream: Any) -> None:
    """Escape characters that the terminal's encoding lacks, instead of failing."""
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="backslashreplace")
