"""The commands as values, from one definition, for help, man pages and shell completion."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import typer
from typer.main import get_command

from kcheck.cli.commands import PATH_COMMAND, SENTENCES, TWO_WORDS
from kcheck.cli.environment import variables_of
from kcheck.cli.examples import EXAMPLES, GUIDES, SEE_ALSO
from kcheck.cli.exit_codes import ANSWERS, rows, short_line

OWN = "Options"
"""The title of the options that only this command has."""
_TITLES = {
    "Simulated start": ("--clean", "--define", "--metadata"),
    "Topic names": ("--pseudonyms", "--share", "--translate"),
    "Reading": ("--depth", "--jobs", "--nice", "--since", "--until"),
    "Partitions": ("--topic", "--partition"),
    "Kafka release": ("--kafka", "--ibp", "--message-format", "--config", "--server-log"),
    "Findings": ("--select", "--ignore", "--severity", "--fail-on", "--all"),
    "Output": ("--format", "--output", "--color", "--quiet", "--progress", "--exit-zero", "--help"),
}
"""The groups of options that are no own options of a command; most are shared by several."""
SHORT = ("Partitions", "Kafka release", "Findings", "Output")
"""The groups that the short help shows in one line."""
_GROUP_OF = {name: title for title, names in _TITLES.items() for name in names}
_REQUIRED = re.compile(r" *\[(?:required|x>=0)(?:; (?:required|x>=0))*\]|; (?:required|x>=0)")


class Option(NamedTuple):
    """An option or argument, as the help shows it."""

    names: tuple[str, ...]
    """`-o` and `--output`; the name of an argument."""
    value: str
    """The metavar of its value, such as `FILE` or `text|json`; empty for a flag."""
    words: str
    """The text of the help, with the default."""
    shown: str
    """Its form in the help: `-o, --output FILE`."""
    is_repeatable: bool


class Command(NamedTuple):
    """A command, or a group of commands."""

    path: tuple[str, ...]
    """Its words: `kcheck`, `fleet`, `scan`."""
    usage: str
    """The form of its arguments."""
    short: str
    """Its help in one line."""
    words: str
    """Its complete help, in paragraphs."""
    arguments: tuple[Option, ...]
    groups: dict[str, tuple[Option, ...]]
    """The options by the title of their group; its own come first."""
    commands: tuple["Command", ...]

    @property
    def name(self) -> str:
        """The word that is typed for it."""
        return self.path[-1]

    @property
    def key(self) -> str:
        """Its path without `kcheck`."""
        return " ".join(self.path[1:])

    @property
    def typed(self) -> str:
        """The words to type; the command of a path has no name."""
        return "kcheck" if self.key == PATH_COMMAND else f"kcheck {TWO_WORDS.get(self.key, self.key)}".strip()

    @property
    def options(self) -> tuple[Option, ...]:
        """All options, in the order of the help."""
        return tuple(option for group in self.groups.values() for option in group)

    @property
    def examples(self) -> tuple[str, ...]:
        """Commands to type."""
        return EXAMPLES.get(self.key, ())

    @property
    def exit_line(self) -> str:
        """The exit codes in one sentence."""
        return short_line(self.key)

    @property
    def exit_codes(self) -> list[tuple[str, str]]:
        """The exit codes, each with its meaning."""
        return rows(self.key) if self.key in ANSWERS else []

    @property
    def variables(self) -> tuple[str, ...]:
        """The environment variables that the command reads."""
        return variables_of(name for option in self.options for name in option.names)

    @property
    def see_also(self) -> tuple[str, ...]:
        """The names of related commands."""
        return SEE_ALSO.get(self.key, ())

    @property
    def guide(self) -> str:
        """The command that shows the page about work with this command, as a line; empty without a page."""
        return f"Guide: kcheck help {GUIDES[self.key]}" if self.key in GUIDES else ""

    def walk(self) -> Iterator["Command"]:
        """Yield the command, and all below it."""
        yield self
        for command in self.commands:
            yield from command.walk()


def command_tree() -> tuple[Command, Command]:
    """Return `kcheck` with all its commands, and the command that a path without a command runs."""
    from kcheck.cli.app import app

    root = get_command(app)
    context = typer.Context(root, info_name="kcheck", **root.context_settings)
    by_path = root.commands[PATH_COMMAND]  # type: ignore[attr-defined]  # a group
    return described(root, context), described(by_path, typer.Context(by_path, parent=context, info_name=PATH_COMMAND))


def described(command: Any, context: Any) -> Command:
    """Return a command of typer as a value, with all commands below it."""
    parts = [part for part in command.get_params(context) if not getattr(part, "hidden", False)]
    options = [(part, _option(part, context)) for part in parts if part.param_type_name == "option"]
    titles = [OWN, *_TITLES]
    titled = {title: tuple(option for part, option in options if _title(part, options) == title) for title in titles}
    path = tuple(context.command_path.split())
    words = str(command.help)
    return Command(
        path=path,
        usage=" ".join(re.sub(r"[{}]", "", piece) for piece in command.collect_usage_pieces(context)),
        short=SENTENCES.get(" ".join(path[1:]), " ".join(words.partition("\n\n")[0].split())),
        words=words,
        arguments=tuple(_option(part, context) for part in parts if part.param_type_name == "argument"),
        groups={title: group for title, group in titled.items() if group},
        commands=tuple(
            described(one, typer.Context(one, parent=context, info_name=name))
            for name, one in getattr(command, "commands", {}).items()
            if not one.hidden
        ),
    )


def _title(part: Any, options: list[tuple[Any, Option]]) -> str:
    """Return the title of the group of an option; --all and --fail-on alone belong to no findings."""
    name = max(part.opts, key=len)
    if name in ("--all", "--fail-on") and not any("--select" in option.names for _, option in options):
        is_of_partitions = name == "--all" and any("--topic" in option.names for _, option in options)
        return "Partitions" if is_of_partitions else OWN
    return _GROUP_OF.get(name, OWN)


def _option(part: Any, context: Any) -> Option:
    words = _REQUIRED.sub("", (part.get_help_record(context) or ("", ""))[1]).replace("  [", " [")
    value = "" if getattr(part, "is_flag", False) else str(part.make_metavar(context))
    if part.param_type_name == "argument":
        return Option(names=(*part.opts,), value=value, words=words, shown=value, is_repeatable=part.nargs != 1)
    names = (*sorted(part.opts, key=len), *part.secondary_opts)
    return Option(
        names=names, value=value, words=words, shown=", ".join(names) + (f" {value}" if value else ""),
        is_repeatable=getattr(part, "multiple", False),
    )  # fmt: skip
