"""`kcheck help`: the help of a command, or a topic."""

import sys
from typing import Annotated

import typer

from kcheck.errors import UsageError

HelpWords = Annotated[
    list[str] | None,
    typer.Argument(metavar="COMMAND|TOPIC", help="A command, such as fleet scan, or a topic, such as exit-codes."),
]


def help(words: HelpWords = None) -> None:
    """Show the help of a command, or a topic; kcheck help topics lists the topics."""
    from kcheck.cli.commands import first_screen

    wanted = " ".join(words or ())
    text = first_screen() if not wanted else _page(wanted)
    if text is None:
        from kcheck.cli.commands import SENTENCES
        from kcheck.cli.topics import TOPICS
        from kcheck.words import near, some_of

        similar = near(wanted, [*SENTENCES, *TOPICS])
        instead = f"did you mean {some_of(similar)}?" if similar else "kcheck help topics lists the topics"
        raise UsageError(f"help {wanted}: no such command or topic; {instead}")
    _show(text)


def _page(wanted: str) -> str | None:
    """Return the text of a command or topic; None if there is neither."""
    from kcheck.cli.topics import topic

    return _of_command(wanted) or topic(wanted)


def _of_command(wanted: str) -> str | None:
    from typer.main import get_command

    from kcheck.cli.app import app
    from kcheck.cli.command_tree import described
    from kcheck.cli.commands import PATH_COMMAND
    from kcheck.cli.help_pages import page
    from kcheck.cli.renamed import renamed_command

    command = get_command(app)
    context = typer.Context(command, info_name="kcheck", **command.context_settings)
    words = [PATH_COMMAND] if wanted == "PATH" else wanted.split()
    for at, word in enumerate(words):
        name = renamed_command(" ".join(words[:at]), [word])[0][0]
        below = getattr(command, "commands", {})
        if name not in below:
            return None
        command = below[name]
        context = typer.Context(command, parent=context, info_name=name)
    return page(described(command, context), brief=False)


def _show(text: str) -> None:
    """Print a text; on a terminal that it does not fit, in a pager."""
    if sys.stdout.isatty() and sys.stdin.isatty():
        import pydoc
        from shutil import get_terminal_size

        if text.count("\n") >= get_terminal_size().lines:
            pydoc.pager(text + "\n")
            return
    print(text)
