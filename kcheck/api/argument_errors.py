"""The public form of a function. Its errors name arguments, where the command names options."""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from inspect import signature
from typing import ParamSpec, TypeVar

from kcheck.api.commands import command_line, read_once
from kcheck.documents.answer import BrokerAnswer
from kcheck.errors import UsageError
from kcheck.model.report import PartitionFilter

P = ParamSpec("P")
R = TypeVar("R")

_OPTION = re.compile(r"(?<![\w-])--?([a-z][a-z-]*)")
_RENAMED = {
    "o": "output", "from": "start", "to": "end", "output-dir": "out", "max-size": "size_max", "as": "as_kind",
    "changes": "history", "message-format": "message_format", "map": "mapped", "topic": "partitions: topic",
    "partition": "partitions: partition",
}  # fmt: skip
"""Options whose argument has another name."""
_EXAMPLE = "kcheck.PartitionFilter(topics=('orders*',))"


def of_arguments(function: Callable[P, R]) -> Callable[P, R]:
    """Return a public function. Its errors name arguments, and its answer knows the command of the call.

    An option that is no argument keeps its name.
    """
    of_function = signature(function)
    arguments = frozenset(of_function.parameters)

    def named(option: re.Match[str]) -> str:
        name = _RENAMED.get(option[1], option[1].replace("-", "_"))
        return name if name.partition(":")[0] in arguments else option[0]

    @wraps(function)
    def with_arguments(*args: P.args, **kwargs: P.kwargs) -> R:
        call = of_function.bind(*args, **read_once(kwargs))
        _require_filter(call.arguments.get("partitions"))
        try:
            answer = function(*call.args, **call.kwargs)
        except UsageError as error:
            words = _OPTION.sub(named, str(error))
            if words == str(error):
                raise
            raise UsageError(words) from None
        return replace(answer, typed=command_line(call)) if isinstance(answer, BrokerAnswer) else answer

    with_arguments.__module__ = "kcheck"
    return with_arguments


def _require_filter(partitions: object) -> None:
    if partitions is None:
        return
    if not isinstance(partitions, PartitionFilter):
        raise UsageError(f"partitions: {partitions!r} is not a PartitionFilter; for example: {_EXAMPLE}")
    if isinstance(partitions.topics, str) or isinstance(partitions.partitions, str):
        raise UsageError(f"partitions: a filter takes tuples; for example: {_EXAMPLE}")
