"""The command of a call. The next command repeats parts of it."""

import os
from collections.abc import Iterator, Mapping
from inspect import BoundArguments, Parameter

from kcheck.model.release import Release
from kcheck.model.report import CommandLine, PartitionFilter

_OPTIONS = {"out": "--output-dir"}
"""Arguments whose option has another name, among the arguments that a next command repeats."""


def command_line(call: BoundArguments) -> CommandLine:
    """Return the arguments and options of the command; a default is no option."""
    arguments: list[str] = []
    options: list[tuple[str, str | None]] = []
    for name, value in call.arguments.items():
        part = call.signature.parameters[name]
        if part.kind is Parameter.VAR_POSITIONAL:
            arguments += map(os.fspath, value)
        elif part.default is Parameter.empty:
            arguments.append(os.fspath(value))
        else:
            options += _options(name, value)
    return CommandLine(tuple(arguments), tuple(options))


def _options(name: str, value: object) -> Iterator[tuple[str, str | None]]:
    option = _OPTIONS.get(name, f"--{name.replace('_', '-')}")
    match value:
        case None | "auto":
            return
        case bool():
            if value or name == "clean":
                yield option if value else "--unclean", None
        case PartitionFilter():
            yield from (("--topic", topic) for topic in value.topics)
            yield from (("--partition", partition) for partition in value.partitions)
        case Release():
            if value.evidence is None or value.evidence.given:
                yield option, value.name
        case list() | tuple():
            yield from ((option, _word(one)) for one in value)
        case str() | int() | os.PathLike():
            yield option, _word(value)


def _word(value: object) -> str:
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def read_once(arguments: Mapping[str, object]) -> dict[str, object]:
    """Return arguments that can be read twice."""
    return {name: tuple(value) if isinstance(value, Iterator) else value for name, value in arguments.items()}
