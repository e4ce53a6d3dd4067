"""The width of a screen, and whether it has colors."""

from typing import NamedTuple

UNWRAPPED = 1 << 30
"""The width of text that is not wrapped."""


class Options(NamedTuple):
    """The layout options: `width` in columns, and `color` for a terminal.

    `every` shows the findings and rows that text leaves out. `infos` lists info findings; else text counts them.
    """

    width: int = 80
    color: bool = False
    every: bool = False
    infos: bool = False
