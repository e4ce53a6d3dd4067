"""The interface of a renderer module."""

from collections.abc import Callable
from io import StringIO
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

    def rendered(self, report: Report) -> str:
        """Return a report as text: 80 columns, without color."""
        stream = StringIO()
        self.render(report, stream, Options())
        return stream.getvalue()
