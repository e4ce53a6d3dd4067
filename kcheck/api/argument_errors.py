"""Errors in the words of a function: an argument, where the command names an option."""

import re
from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import ParamSpec, TypeVar

from kcheck.errors import UsageError

P = ParamSpec("P")
R = TypeVar("R")

_OPTION = re.compile(r"(?<![\w-])--?([a-z][a-z-]*)")
_RENAMED = {
    "o": "output", "from": "start", "to": "end", "output-dir": "out", "max-size": "size_max", "as": "as_kind",
    "changes": "history", "message-format": "message_format", "map": "mapped",
}  # fmt: skip
"""Options whose argument has another name."""


def of_arguments(function: Callable[P, R]) -> Callable[P, R]:
    """Return a public function whose errors name its arguments; what is no argument keeps the name of the option."""
    arguments = frozenset(signature(function).parameters)

    def named(option: re.Match[str]) -> str:
        name = _RENAMED.get(option[1], option[1].replace("-", "_"))
        return name if name in arguments else option[0]

    @wraps(function)
    def with_arguments(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except UsageError as error:
            words = _OPTION.sub(named, str(error))
            if words == str(error):
                raise
            raise UsageError(words) from None

    with_arguments.__module__ = "kcheck"
    return with_arguments
