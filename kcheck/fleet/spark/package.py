"""kcheck itself as a zip that executors import, and where it is kept."""

import hashlib
import io
import os
import sys
import zipfile
from collections.abc import Iterator, Mapping

import kcheck
from kcheck.errors import UsageError

_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The earliest time in a zip, so that the same files make the same zip."""


def cache(environment: Mapping[str, str]) -> str:
    """Return the folder of kcheck's files for Spark, below XDG_CACHE_HOME, or the cache of the user."""
    around = environment.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(around, "kcheck", "spark")


def package(folder: str) -> str:
    """Write kcheck as a zip into a folder and return its path; an existing zip has the same content."""
    if not os.path.isdir(home()):
        return home()  # it runs from a zip already
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in _files(os.path.join(home(), "kcheck")):
            with open(os.path.join(home(), "kcheck", name), "rb") as file:
                archive.writestr(zipfile.ZipInfo(f"kcheck/{name}", _EPOCH), file.read(), zipfile.ZIP_DEFLATED)
    data = sink.getvalue()
    path = os.path.join(folder, f"kcheck-{kcheck.__version__}-{hashlib.sha256(data).hexdigest()[:16]}.zip")
    keep(path, data)
    return path


def keep(path: str, data: bytes) -> None:
    """Write a file that is either complete or missing; UsageError if it cannot be written."""
    temporary = f"{path}.{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(temporary, "wb") as file:
            file.write(data)
        os.replace(temporary, path)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}; set XDG_CACHE_HOME") from error


def python() -> str:
    """Return this Python."""
    return sys.executable or "python3"


def home() -> str:
    """Return the path of kcheck for Python, which is a directory or a zip."""
    return os.path.dirname(os.path.abspath(next(iter(kcheck.__path__))))


def _files(top: str) -> Iterator[str]:
    for folder, below, names in os.walk(top):
        below[:] = sorted(name for name in below if name != "__pycache__")
        for name in sorted(names):
            yield os.path.relpath(os.path.join(folder, name), top).replace(os.sep, "/")
