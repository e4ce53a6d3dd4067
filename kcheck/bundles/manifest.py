"""The manifest of a bundle, with the captured files and directories, and the form of their members."""

import re
import stat
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from kcheck.bundles.small_files import BadBundleError

MANIFEST = "manifest.json"
FORMAT = "kcheck.bundle/1"
LOGS = ".kcheck-logs"
"""The directory of the logs of brokers. No listing has it, so that log dirs keep their contents."""
BATCHES = "batches"
"""The encoding of a member that holds the batches of a `.log`."""
NAME_SIZE_MAX = 4096
"""No path in a bundle is longer."""
_FILE_SIZE_MAX = 1 << 63
_SHA256 = re.compile(r"[0-9a-f]{64}")
TYPES = {"file": stat.S_IFREG, "directory": stat.S_IFDIR, "link": stat.S_IFLNK, "other": stat.S_IFIFO}
"""The type bits of the mode of each kind of entry."""


class BundleEntry(NamedTuple):
    """A file or directory that was captured."""

    kind: str
    """file, directory, link, or other (devices, sockets and pipes)."""
    size: int
    """Its size in bytes."""
    member: str | None
    """The member of the zip that has its content; None if it has none."""
    encoding: str
    """The form of the content in the member (raw, or batches)."""
    error: tuple[int, str] | None
    """The system's error, if it could not be read."""
    records: str | None
    """The member with the verdict on its records; None without one."""
    sha256: str | None = None
    """The SHA-256 of the file itself; None if it is not in the bundle."""


def _rows(manifest: Mapping[str, Any]) -> Iterator[tuple[str, BundleEntry]]:
    rows, logs = manifest.get("entries"), manifest.get("logs", [])
    if not isinstance(rows, list) or not isinstance(logs, list):
        raise BadBundleError(f"its {MANIFEST} lists nothing")
    yield "", BundleEntry("directory", 0, None, "raw", None, None)
    for row in (*rows, *logs):
        if not isinstance(row, dict):
            raise BadBundleError("an entry of its manifest is no object")
        path, kind, size = row.get("path"), row.get("type"), row.get("size", 0)
        member, records, encoding = row.get("member"), row.get("records"), row.get("encoding", "raw")
        if not isinstance(path, str) or not _is_path(path):
            raise BadBundleError(f"an entry has the path {str(path)[:100]!r}")
        if not isinstance(kind, str) or kind not in TYPES or not _is_size(size) or encoding not in ("raw", BATCHES):
            raise BadBundleError(f"the entry of {path[:100]!r} is invalid")
        if not all(name is None or isinstance(name, str) for name in (member, records)):
            raise BadBundleError(f"the entry of {path[:100]!r} is invalid")
        sha256 = row.get("file_sha256")
        if sha256 is not None and not (isinstance(sha256, str) and _SHA256.fullmatch(sha256)):
            raise BadBundleError(f"the entry of {path[:100]!r} is invalid")
        yield path, BundleEntry(kind, size, member, encoding, _error(row.get("error")), records, sha256)


def entries_of(manifest: Mapping[str, Any]) -> Mapping[str, BundleEntry]:
    """Return the entries by path, the bundle itself as an empty one; BadBundleError if one is invalid."""
    entries: dict[str, BundleEntry] = {}
    for path, entry in _rows(manifest):
        if path in entries:
            raise BadBundleError(f"two entries have the path {path[:100]!r}")
        entries[path] = entry
    return entries


def _is_size(size: object) -> bool:
    return isinstance(size, int) and not isinstance(size, bool) and 0 <= size < _FILE_SIZE_MAX


def _is_path(path: str) -> bool:
    bad = "\0" in path or any(part in ("", ".", "..") for part in path.split("/"))
    return not bad and len(path) <= NAME_SIZE_MAX


def _error(row: object) -> tuple[int, str] | None:
    if row is None:
        return None
    number, words = (row.get("errno"), row.get("message")) if isinstance(row, dict) else (None, None)
    if not isinstance(number, int) or not isinstance(words, str) or not 0 < number < 1 << 16:
        raise BadBundleError("an error in its manifest is invalid")
    return number, words[:200]
