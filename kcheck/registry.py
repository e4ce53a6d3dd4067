"""How a plural package finds its modules: one new module is one new plug, with no list to extend."""

import importlib
import pkgutil
from functools import cache


@cache
def discover(package: str, constant: str, begins: tuple[str, ...] = ("",)) -> tuple[object, ...]:
    """Return `constant` of every public module of `package` that `begins` so, in the order of the module names.

    Every module whose name does not begin with an underscore must set the constant; AttributeError tells which does
    not.
    """
    names = (name for name in plug_names(package) if name.startswith(begins))
    return tuple(getattr(importlib.import_module(f"{package}.{name}"), constant) for name in names)


@cache
def plug_names(package: str) -> tuple[str, ...]:
    """Return the names of the public modules of `package`, sorted, without importing them."""
    path = importlib.import_module(package).__path__
    return tuple(sorted(module.name for module in pkgutil.iter_modules(path) if not module.name.startswith("_")))
