"""Defaults of a site: KCHECK_* variables, and a configuration file outside of every checked directory."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from kcheck.cli.commands import PATH_COMMAND
from kcheck.cli.environment import VARIABLES
from kcheck.errors import UsageError

GENERAL = (
    "kafka", "ibp", "message-format", "select", "ignore", "severity", "fail-on", "jobs", "depth", "nice", "color",
    "width",
)  # fmt: skip
"""The keys above every table, which are options with one meaning in all commands."""
NEVER = (
    "yes", "accept-loss", "allow", "incomplete-ok", "unfinished", "metadata", "output", "output-dir", "backup", "map",
    "html", "prometheus", "save-lost", "aside", "dead", "against", "help", "version", "exit-zero",
)  # fmt: skip
"""Options that must be typed for each run, as they accept a risk, or name paths."""


class Setting(NamedTuple):
    """A default for an option."""

    value: object
    source: str
    """The variable or file that sets it."""


_sources: dict[str, str] = {}
"""The variable or file that has set an option of the running command."""


def source_of(option: str) -> str | None:
    """Return the variable or file that has set an option, such as `kafka`.

    None if the command line has set it, or if it is not set.
    """
    return _sources.get(option)


def note_sources(sources: Mapping[str, str]) -> None:
    """Keep what has set the options of the command that runs."""
    _sources.clear()
    _sources.update(sources)


def defaults(command: str, options: Iterable[str]) -> dict[str, Setting]:
    """Return the settings for a command, by the names of its options without hyphens before them."""
    names = frozenset(options)
    settings: dict[str, Setting] = {}
    for path in _paths():
        settings |= {name: value for name, value in _of_file(path, command, names) if name in names or name == "width"}
    if os.environ.get("NO_COLOR") or os.environ.get("FORCE_COLOR"):
        settings.pop("color", None)
    if "width" in settings:
        os.environ.setdefault("KCHECK_WIDTH", str(settings.pop("width").value))
    for variable in VARIABLES:
        name = (variable.option or "")[2:]
        value = os.environ.get(variable.name)
        if variable.sets and value and name in names:
            settings[name] = Setting(value, variable.name)
    return settings


def _paths() -> list[str]:
    """Return the configuration files that exist; later ones win."""
    chosen = os.environ.get("KCHECK_CONFIG")
    if chosen is not None:
        if chosen and not os.path.isfile(chosen):
            raise UsageError(f"KCHECK_CONFIG={chosen}: no such file")
        return [chosen] if chosen else []
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    return [path for path in ("/etc/kcheck.toml", os.path.join(home, "kcheck", "config.toml")) if os.path.isfile(path)]


def _of_file(path: str, command: str, options: frozenset[str]) -> Iterator[tuple[str, Setting]]:
    """Yield the settings of a file for a command, its own table last."""
    import tomllib  # only if there is a file

    try:
        with open(path, "rb") as stream:
            content = stream.read()
        text = content.decode()
        tree = tomllib.loads(text)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise UsageError(f"{path}: {error}") from error
    words = ["path"] if command == PATH_COMMAND else command.split()
    own: object = tree
    for word in words:
        own = own.get(word, {}) if isinstance(own, dict) else {}
    for name, value in tree.items():
        if isinstance(value, dict):
            continue
        if name not in GENERAL:
            raise UsageError(f"{_place(path, text, name)}: unknown key {name}; use one of {', '.join(GENERAL)}")
        yield name, Setting(_checked(value, _place(path, text, name)), path)
    for name, value in own.items() if isinstance(own, dict) else ():
        if isinstance(value, dict):
            continue
        place = _place(path, text, name)
        if name in NEVER:
            raise UsageError(f"{place}: {name} cannot be set here; type --{name} with the command")
        if name not in options:
            raise UsageError(f"{place}: unknown key {name}; kcheck {command} has no option --{name}")
        yield name, Setting(_checked(value, place), path)


def _place(path: str, text: str, name: str) -> str:
    """Return the file and the line of a key."""
    match = re.search(rf"^\s*[\"']?{re.escape(name)}[\"']?\s*=", text, re.MULTILINE)
    return path if match is None else f"{path}:{text.count(chr(10), 0, match.end()) + 1}"


def _checked(value: object, place: str) -> object:
    """Return a value as an option takes it; UsageError if it is a date or a table."""
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return [str(part) for part in value]
    if not isinstance(value, str | int | float):
        raise UsageError(f"{place}: write a text, a number, true, false or a list of texts")
    return value
