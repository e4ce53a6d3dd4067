"""The environment variables, as help, man pages and the documentation print them."""

from collections.abc import Iterable
from typing import NamedTuple


class Variable(NamedTuple):
    """An environment variable that kcheck reads."""

    name: str
    option: str | None
    """The option that it sets; None if there is none."""
    words: str
    """Its meaning in one sentence."""


VARIABLES = (
    Variable("NO_COLOR", "--color", "Not empty: no color, as --color never. --color wins."),
    Variable("FORCE_COLOR", "--color", "Not empty: color on a pipe too, unless NO_COLOR is set."),
    Variable("TERM", "--color", "dumb: no color and no progress line."),
    Variable("KCHECK_WIDTH", "--format", "The width of text. Without it COLUMNS, the terminal, or no wrapping."),
    Variable("COLUMNS", "--format", "The width of text, after KCHECK_WIDTH."),
    Variable("KCHECK_DEBUG", None, "Not empty: show the traceback of a bug in kcheck."),
)


def variables_of(options: Iterable[str]) -> tuple[str, ...]:
    """Return the names of the variables that a command with these options reads."""
    own = set(options)
    return tuple(variable.name for variable in VARIABLES if variable.option is None or variable.option in own)


FILES = ""
"""What the configuration file sets."""
