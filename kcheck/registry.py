"""Finds the modules of a plug-in package such as rules or formats. A new module is a new plug-in, without a list."""

import importlib
import pkgutil
from functools import cache
from typing import Any


@cache
def discover(package: str, constant: str, begins: tuple[str, ...] = ("",)) -> tuple[Any, ...]:
    """Return `constant` of each public module of `package` with a name that begins with `begins`, sorted by name.

    A module is public if its name does not begin with an underscore. AttributeError names a module without the
    constant.
    """
    return tuple(plug(package, name, constant) for name in plug_names(package) if name.startswith(begins))


def plug(package: str, name: str, constant: str) -> Any:
    """Return `constant` of one module of `package`."""
    return getattr(importlib.import_module(f"{package}.{name}"), constant)


@cache
def plug_names(package: str) -> tuple[str, ...]:
    """Return the sorted names of the public modules of `package`; does not import them."""
    path = importlib.import_module(package).__path__
    return tuple(sorted(module.name for module in pkgutil.iter_modules(path) if not module.name.startswith("_")))
