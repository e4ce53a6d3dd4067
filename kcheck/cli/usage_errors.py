"""The one line on stderr for arguments that a command does not take."""

import errno
import os
from typing import Any

from kcheck.cli.command import path_of
from kcheck.cli.commands import PATH_COMMAND, SENTENCES, TWO_WORDS
from kcheck.cli.examples import EXAMPLES
from kcheck.screen.printable import printable
from kcheck.words import near, some_of, within

_INSTEAD = {"-v": "-V shows the version, --all shows everything"}
"""The words to type for options of other tools."""


def line_of(error: Any) -> str:
    """Return the line for an error of typer; its complete text if it is the help of a command."""
    kind = type(error).__name__
    if kind == "NoArgsIsHelpError":
        return str(error.format_message())
    context = error.ctx
    path = path_of(context) if context is not None else ""
    typed = f"kcheck {TWO_WORDS.get(path, path)}".strip() if path != PATH_COMMAND else "kcheck PATH..."
    hint = f"for example: {EXAMPLES[path][0]}" if path in EXAMPLES else f"{typed} -h shows what to type"
    return f"kcheck: {printable(_words(kind, error, context, typed))}; {printable(_instead(kind, error, hint))}"


def _words(kind: str, error: Any, context: Any, typed: str) -> str:
    """Return the error and its argument."""
    message = str(error.format_message()).rstrip(".")
    part = getattr(error, "param", None)
    if kind == "NoSuchOption":
        return f"{error.option_name}: {typed} has no such option"
    if kind == "MissingParameter" and part is not None:
        return f"{_shown(part, context)} is missing"
    if kind == "BadParameter" and part is not None:
        words = error.message.rstrip(".").replace("is not a valid int", "is not an integer")
        return f"{_name(part)}: {words.replace('is not a valid float', 'is not a number')}"
    if kind == "BadOptionUsage":
        takes_none = "does not take" in message
        return f"{error.option_name}: {'takes no value' if takes_none else 'its value is missing'}"
    if message.startswith("No such command "):
        return f"{_typed(message)}: no such command or file"
    if "unexpected extra argument" in message:
        own = [_name(part) for part in context.command.params if part.param_type_name == "argument"]
        takes = f"takes one {own[0]}, so run kcheck once for each" if len(own) == 1 else "takes no such argument"
        return f"{message.partition('(s) (')[2].rstrip(')')}: {typed} {takes}"
    return within(message)


def _typed(message: str) -> str:
    """Return the name that a message quotes."""
    return message.removeprefix("No such command ")[1:].partition("'")[0]


def _instead(kind: str, error: Any, hint: str) -> str:
    """Return the words to type, a similar name if there is one."""
    message = str(error.format_message())
    if kind == "NoSuchOption":
        if error.option_name in _INSTEAD:
            return _INSTEAD[error.option_name]
        options = [name for part in error.ctx.command.params if not part.hidden for name in part.opts]
        similar = near(error.option_name, [name for name in options if name.startswith("--")])
    elif message.startswith("No such command "):
        group = error.ctx.command.commands
        similar = near(_typed(message), [name for name in group if name in SENTENCES or len(group) < 20])
    else:
        return hint
    return f"did you mean {some_of(similar)}?" if similar else hint


def _shown(part: Any, context: Any) -> str:
    metavar = part.make_metavar(context)
    return str(metavar) if part.param_type_name == "argument" else f"{_name(part)} {metavar}"


def _name(part: Any) -> str:
    return str(part.opts[0]) if part.param_type_name == "option" else str(part.metavar or part.name)


def in_lower_case(line: str) -> str:
    """Return an error in the common form, where the system's words at its end begin with a small letter."""
    rest, colon, reason = line.rpartition(": ")
    is_of_system = reason in map(os.strerror, errno.errorcode)
    return f"{rest}: {reason[0].lower()}{reason[1:]}" if colon and is_of_system else line
