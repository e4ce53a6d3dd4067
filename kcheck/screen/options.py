"""The width of a screen, and whether it has colors."""

from typing import NamedTuple

UNWRAPPED = 1 << 30
"""The width of text that is not wrapped."""


class Options(NamedTuple):
    """The layout options: `width` in columns, and `color` for a terminal. `every` shows what text leaves out."""

    width: int = 80
    color: bool = False
    every: bool = False
