"""The interface of a renderer module."""

from collections.abc import Callable
from typing import Any, NamedTuple

from kcheck.model.report import Report
from kcheck.screen.options import Options


class Renderer(NamedTuple):
    """An output format: its name for `--format`, and the function that writes a report.

    `one_table`: writes only answers that are one table. `verbs`: the commands it works with, empty for all. `binary`:
    writes bytes, to a file only.
    """

    name: str
    render: Callable[[Report, Any, Options], None]
    one_table: bool = False
    verbs: tuple[str, ...] = ()
    binary: bool = False
