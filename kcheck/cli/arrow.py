"""Starts Arrow in the process of a command."""

import sys


class _NoPandas:
    """An import hook that hides pandas."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        """Refuse pandas; leave other modules to the next finder."""
        del path, target
        if name == "pandas":
            raise ModuleNotFoundError(name, name=name)


def without_pandas() -> None:
    """Keep pyarrow from importing pandas with its first array, which costs each process 0.3 s and 44 MB."""
    import pyarrow as pa

    sys.meta_path.insert(0, _NoPandas)
    pa.array([])  # pyarrow looks for pandas only once.
    sys.meta_path.remove(_NoPandas)
