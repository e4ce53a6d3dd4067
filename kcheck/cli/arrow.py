"""How Arrow is started in the process of a command."""

import sys


class _NoPandas:
    """Finds no pandas, wherever it is installed."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        """Refuse it, and leave all else to others."""
        del path, target
        if name == "pandas":
            raise ModuleNotFoundError(name, name=name)


def without_pandas() -> None:
    """Have pyarrow do without pandas, which its first array would import: that is 0.3 s and 44 MB of every process."""
    import pyarrow as pa

    sys.meta_path.insert(0, _NoPandas)
    pa.array([])  # It looks for it once.
    sys.meta_path.remove(_NoPandas)
