"""The command `kcheck`: its groups, its exit codes, and its last word on stderr."""

import gc
import os
import sys
from typing import Annotated, Any, NoReturn

# numpy's thread pool would spin for longer than most commands take.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Values refer to each other in no circle; looking for some after each few hundred of them was a sixth of every start.
gc.set_threshold(100_000)

import typer
from typer.core import TyperGroup

from kcheck.cli import (
    apply,
    check,
    dump,
    end_offset,
    explain,
    fleet,
    inspect,
    look,
    predict,
    repair,
    rules,
    truncation,
    undo,
)
from kcheck.cli.options import changed_line, last_line
from kcheck.errors import ApplyError, KcheckError
from kcheck.renderers._printable import printable

_GROUPS = {
    "Look": ("inspect", "check", "dump", "rules", "explain"),
    "Plan": ("predict", "end-offset", "truncation", "repair"),
    "Act": ("apply", "undo"),
    "Fleet": ("fleet",),
}


class _Grouped(TyperGroup):
    """Shows the commands by what an operator wants: look, plan."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the groups without a line between them: the help is one screen."""
        del ctx
        formatter.write_paragraph()
        rows = [
            (f"{'' if number else f'{title}:':7}{name}", self.commands[name].get_short_help_str(limit=56))
            for title, names in _GROUPS.items()
            for number, name in enumerate(names)
        ]
        formatter.write_dl(rows)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Look at a path that stands where a verb would."""
        if args and args[0] not in self.commands and look.names_path(args[0]):
            return look.NAME, self.commands[look.NAME], args
        return super().resolve_command(ctx, args)


app = typer.Typer(
    name="kcheck",
    cls=_Grouped,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _version(wanted: bool) -> None:
    if not wanted:
        return
    from kcheck import __version__
    from kcheck.core.releases import TESTED

    print(f"kcheck {__version__}, Python {sys.version.split()[0]}, tested against Kafka {', '.join(TESTED)}")
    raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the versions and exit.")
    ] = False,
) -> None:
    """Check Kafka log directories offline: what is wrong, what the broker will do."""
    del version


app.command("inspect")(inspect.inspect)
app.command("check")(check.check)
app.command("dump")(dump.dump)
app.command("end-offset")(end_offset.end_offset)
app.command("predict")(predict.predict)
app.command("repair")(repair.repair)
app.command(look.NAME, hidden=True)(look.look)
app.command("truncation")(truncation.truncation)
app.command("apply")(apply.apply)
app.command("undo")(undo.undo)
app.add_typer(fleet.app, name="fleet")
app.command("rules")(rules.rules)
app.command("explain")(explain.explain)


def main() -> None:
    """Run the command line and exit."""
    _tolerant(sys.stdout)
    _tolerant(sys.stderr)
    try:
        app()
    except KcheckError as error:
        print(f"kcheck: {printable(error)}", file=sys.stderr)
        left = error if isinstance(error, ApplyError) and error.changed else None
        _end(error.exit_code, changed_line(left.changed, left.backup) if left else None)
    except KeyboardInterrupt:
        _end(130)
    except Exception as error:
        print(f"kcheck: a bug in kcheck: {type(error).__name__}: {printable(error)}", file=sys.stderr)
        if os.environ.get("KCHECK_DEBUG"):
            raise
        _end(3)


def _end(code: int, changed: str | None = None) -> NoReturn:
    if "--quiet" not in sys.argv:
        last_line(changed=changed)
    sys.exit(code)


def _tolerant(stream: Any) -> None:
    """Show what the terminal's encoding does not have as an escape, instead of failing."""
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="backslashreplace")
