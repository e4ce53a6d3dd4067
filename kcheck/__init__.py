"""kcheck reads the log directories of a Kafka broker offline: their content, their defects, what the broker will do.

`import kcheck; kcheck.inspect(path)`: the functions of `kcheck.api`, each imported when it is first used.
"""

from typing import TYPE_CHECKING

__version__ = "0.1.0"

__all__ = [
    "PartitionFilter",
    "check",
    "cluster",
    "dump",
    "elect",
    "end_offset",
    "formats",
    "inspect",
    "overview",
    "predict",
    "preflight",
    "release",
    "repair",
    "search",
    "simulate",
    "truncation",
    "verify",
]

if TYPE_CHECKING:
    from kcheck import formats
    from kcheck.api import (
        check,
        cluster,
        dump,
        elect,
        end_offset,
        inspect,
        overview,
        predict,
        preflight,
        release,
        repair,
        search,
        simulate,
        truncation,
        verify,
    )
    from kcheck.model.report import PartitionFilter


def __getattr__(name: str) -> object:
    """Import what is asked for: `import kcheck` alone loads nothing."""
    from importlib import import_module

    if name == "formats":
        return import_module("kcheck.formats")
    if name in __all__:
        return getattr(import_module("kcheck.api"), name)
    raise AttributeError(f"module 'kcheck' has no attribute {name!r}")
