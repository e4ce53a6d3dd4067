"""The environment variables, as help, man pages and the documentation print them."""

from collections.abc import Iterable
from typing import NamedTuple


class Variable(NamedTuple):
    """An environment variable that kcheck reads."""

    name: str
    option: str | None
    """The option that it sets; None without one."""
    words: str
    """Its meaning in one sentence."""
    sets: bool = False
    """True if its value is the option's value."""


VARIABLES = (
    Variable("KCHECK_KAFKA", "--kafka", "Sets --kafka, for a site with one release.", sets=True),
    Variable("KCHECK_SELECT", "--select", "Sets --select.", sets=True),
    Variable("KCHECK_IGNORE", "--ignore", "Sets --ignore.", sets=True),
    Variable("KCHECK_SEVERITY", "--severity", "Sets --severity.", sets=True),
    Variable("KCHECK_FAIL_ON", "--fail-on", "Sets --fail-on.", sets=True),
    Variable("KCHECK_JOBS", "--jobs", "Sets --jobs.", sets=True),
    Variable("KCHECK_COLOR", "--color", "Sets --color.", sets=True),
    Variable("NO_COLOR", "--color", "Not empty: no color, as --color never."),
    Variable("FORCE_COLOR", "--color", "Not empty: color on a pipe too, unless NO_COLOR is set."),
    Variable("TERM", "--color", "dumb: no color and no progress line."),
    Variable("KCHECK_WIDTH", "--format", "The width of text. Without it COLUMNS, the terminal, or no wrapping."),
    Variable("COLUMNS", "--format", "The width of text, after KCHECK_WIDTH."),
    Variable("KCHECK_CONFIG", None, "The configuration file; empty: none."),
    Variable("KCHECK_DEBUG", None, "Not empty: show the traceback of a bug in kcheck."),
    Variable("PAGER", "COMMAND|TOPIC", "Shows a long kcheck help on a terminal."),
)

FILES = """\
Configuration file

/etc/kcheck.toml, then $XDG_CONFIG_HOME/kcheck/config.toml (~/.config). Later
keys win. kcheck never reads one from the current or a checked directory.

  kafka = "3.6"
  fail-on = "warning"
  [fleet.scan]          # for one command
  depth = "headers"

The command line wins, then a variable, the user's file, /etc, the default. The
first line of an answer names what has set --kafka. Options that accept a risk
or name paths are never read from a file or a variable.
"""
"""The settings of the configuration file, as `kcheck help environment` shows them."""


def variables_of(options: Iterable[str]) -> tuple[str, ...]:
    """Return the names of the variables that a command with these options reads."""
    own = set(options)
    return tuple(variable.name for variable in VARIABLES if variable.option is None or variable.option in own)
