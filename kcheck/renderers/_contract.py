"""What a module of this package provides."""

from collections.abc import Callable
from typing import Any, NamedTuple

from kcheck.model.report import Report


class Options(NamedTuple):
    """How the stream is to be used: `width` in columns, `color` only where somebody looks at it."""

    width: int = 80
    color: bool = False


class Renderer(NamedTuple):
    """An output: its name for `--format`, and what writes a report.

    `one_table`: only one that names its table. `verbs`: only the answers of these, empty is every one. `binary`: the
    stream takes bytes, and is a file. `whole`: its file is read by others at any time, so it is replaced at once.
    """

    name: str
    render: Callable[[Report, Any, Options], None]
    one_table: bool = False
    verbs: tuple[str, ...] = ()
    binary: bool = False
    whole: bool = False
